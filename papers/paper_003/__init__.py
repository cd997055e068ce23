"""The evaluation of paper 003: BSGI."""
