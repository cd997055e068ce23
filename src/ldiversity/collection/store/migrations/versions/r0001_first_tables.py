"""The first tables: surveys, spent tokens, reports, invitations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "surveys",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("closed", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_surveys"),
        sa.UniqueConstraint("id", name="uq_surveys_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "spent",
        sa.Column("survey", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("survey", "hash", name="pk_spent"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "reports",
        sa.Column("survey", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("part", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("survey", "part", "key", name="pk_reports"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "invitations",
        sa.Column("survey", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.Column("blinded", sa.LargeBinary, nullable=True),
        sa.PrimaryKeyConstraint("survey", "hash", name="pk_invitations"),
        sqlite_with_rowid=False,
    )
