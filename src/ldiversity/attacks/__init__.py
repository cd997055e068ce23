"""Attacks on releases, each with stated knowledge, scored against the claim and against guessing."""
