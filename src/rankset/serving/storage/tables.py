"""The tables of a store: rows that were predicted, labels that came back, and what the store is for."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

FORMAT = 2
"""Format number of the tables."""
NUMBER = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData()
predictions = Table(
    "rankset_predictions",
    metadata,
    Column("number", NUMBER, primary_key=True),  # order of arrival; a number is never given twice
    Column("id", Text, nullable=False, unique=True),
    Column("time", Double, nullable=False, index=True),
    Column("outputs", LargeBinary, nullable=False),  # little-endian numbers of the type in dtype
    Column("dtype", Text, nullable=False),
    Column("group", Text),
    Column("codes", LargeBinary, nullable=False),  # little-endian int32
    Column("alpha", Double, nullable=False),
    Column("largest", Double),
    Column("accepted", Boolean),
    Column("turn", Integer, nullable=False),  # which of the rules that were served, in their order
    sqlite_autoincrement=True,
)
feedback = Table(
    "rankset_feedback",
    metadata,
    Column("number", NUMBER, primary_key=True),  # order of arrival
    Column("row", NUMBER, ForeignKey(predictions.c.number, ondelete="CASCADE"), nullable=False, unique=True),
    Column("label", Integer, nullable=False),
    Column("time", Double, nullable=False),
    sqlite_autoincrement=True,
)
about = Table(
    "rankset_about",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
