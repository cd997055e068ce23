"""The tables of a collector: everything that is kept, and nothing else."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Boolean, Column, Integer, LargeBinary, MetaData, SmallInteger, String, Table

__all__ = ["invitations", "metadata", "reports", "spent", "surveys"]

metadata: Final = MetaData(naming_convention={"pk": "pk_%(table_name)s", "uq": "uq_%(table_name)s_%(column_0_name)s"})

surveys: Final = Table(
    "surveys",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", String(64), nullable=False, unique=True),
    Column("document", LargeBinary, nullable=False),
    Column("closed", Boolean, nullable=False),
    sqlite_with_rowid=False,
)
"""The signed documents. Other tables name a survey by its number, which is short."""

spent: Final = Table(
    "spent",
    metadata,
    Column("survey", Integer, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, primary_key=True),
    sqlite_with_rowid=False,
)
"""Hashes of the tokens that were spent, so that each counts once. No column links them to reports."""

reports: Final = Table(
    "reports",
    metadata,
    Column("survey", Integer, primary_key=True, autoincrement=False),
    Column("part", SmallInteger, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
"""Bodies under random keys of 128 bits. The key is the order of the table, so the order of arrival is not."""

invitations: Final = Table(
    "invitations",
    metadata,
    Column("survey", Integer, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, primary_key=True),
    Column("blinded", LargeBinary, nullable=True),
    sqlite_with_rowid=False,
)
"""Hashes of invitations; for blind tokens also the hash of the one blinded message that was signed for each."""
