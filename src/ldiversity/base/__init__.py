"""What every room stands on: checks, randomness, numbers as texts, limits."""
