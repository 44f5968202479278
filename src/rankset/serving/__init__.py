"""What ``rankset serve`` remembers: predictions, labels that came back, and a new rule from them.

store          Store: predictions and labels, in SQLite or PostgreSQL
rows           Prediction, Feedback and Labelled, and how they are written as bytes
tables         the tables
about          what a store is for: its format, and the rule whose rows it holds
database       what a store needs of its database: sqlite and postgres
writer         the one thread that writes; what has come since the last commit is committed together
reading        rows in their order, read in parts
limits         how old and how large a store may be, and which rows are dropped first
"""

from rankset.serving.rows import Feedback, Labelled, Prediction
from rankset.serving.store import Store

__all__ = ["Feedback", "Labelled", "Prediction", "Store"]
