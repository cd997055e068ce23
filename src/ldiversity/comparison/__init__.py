"""Several methods on one table: which one to publish."""
