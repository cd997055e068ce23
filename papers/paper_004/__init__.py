"""The evaluation of paper 004: (l, d)-semantic diversity."""
