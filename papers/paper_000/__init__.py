"""The evaluation of paper 000: randomized addition of sensitive values."""
