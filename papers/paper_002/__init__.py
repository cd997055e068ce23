"""The evaluation of paper 002: L-LMSU."""
