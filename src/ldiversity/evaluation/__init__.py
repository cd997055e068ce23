"""What a release is worth and what it gives away: audit, attacks, measures, comparison."""
