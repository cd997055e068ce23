"""The evaluation of paper 001: the predecessor of paper 004."""
