"""One file per step; Alembic reads them from here."""
