"""What a table gives away: every model in one pass, risks, and a verdict in plain words."""
