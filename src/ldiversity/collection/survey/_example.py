"""A survey to begin with, as its collector writes it."""

from __future__ import annotations

from typing import Final

__all__ = ["EXAMPLE"]

EXAMPLE: Final = '''\
# A survey whose answers are hidden on the device: the collector never sees a true one.
# Change every line, then run `ldiversity collect new survey.toml` again: it checks the survey and signs it.
# Everybody can read all of this. People see title, collector, contact, purpose and consent before they answer.

title = "Health and income"
collector = "Department of Statistics, Example University"
contact = "survey@example.org"
purpose = """
We want to know how illnesses and incomes are distributed.

We publish counts only."""
consent = "I am at least 18 years old, and I take part of my own free will."
language = "en"
closes = 2030-12-31    # the last day on which answers are taken; leave it out if there is none

# true: the answers of a person stay together, so that it can be estimated how they go together.
# false: each question is answered in a report of its own, and nobody can tell which reports are of one person.
linked = true

# "device": anybody who has the address, one answer from each device.
# "invitation": only with a code that you hand out; `ldiversity collect invite` makes them.
# "blind": as with invitations, but you cannot tell which code an answer was given with.
tokens = "device"

[results]
public = true      # people who answered can see the results
minimum = 100      # nothing is shown of fewer answers
step = 50          # results change after so many more answers, never after each one
goal = 0.02        # you want shares to be off by at most so much: .02 is two in a hundred

# What is sent as it is, but coarse. The less, the better: together these may single people out.
[[quasi]]
name = "age"
ask = "How old are you?"
low = 18                    # younger people cannot answer; leave it out for an open range
cuts = [30, 45, 60, 75]     # the first ages of the further ranges: 18-29, 30-44, ..., 75 or more

[[quasi]]
name = "sex"
ask = "What is your sex?"
values = ["female", "male", "other"]

# What is hidden. A device adds l - 1 other answers to the true one, and sends these l.
# The greater l is, the better it hides and the more answers you need. If l divides the number of values, answers that
# change tell least.
[[questions]]
name = "illness"
ask = "Which of these illnesses did you have in the last twelve months? If there were several, take the worst."
values = [
  "none of these", "flu", "bronchitis", "pneumonia",
  "gastritis", "stomach ulcer", "depression", "anxiety disorder",
  "diabetes", "heart disease", "cancer", "another one",
]
l = 3

# With d, the answers of a set are at least d apart, so that they do not all say nearly the same. The distance may be
# "ordered" (places in the list), "cyclic" (places around a circle, as for weekdays and months), "numeric:<unit>",
# "tree:<file>", "semilattice:<file>" or "matrix:<file>". In place of a distance,
# groups = {lung = ["flu", "bronchitis"], ...} takes each member of a set from another group.
[[questions]]
name = "income"
ask = "What is the yearly income of your household, before tax?"
values = [
  "below 10,000", "10,000-19,999", "20,000-29,999", "30,000-39,999",
  "40,000-49,999", "50,000-74,999", "75,000-99,999", "100,000 or more",
]
ordered = true
distance = "ordered"
l = 3
d = 2
'''
"""A commented survey. It is valid as it is."""
