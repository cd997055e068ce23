"""What a publication costs: loss of detail, errors of queries and of distributions."""
