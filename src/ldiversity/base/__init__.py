"""What every room builds on: checks, randomness, number formats, limits, progress, registries."""
