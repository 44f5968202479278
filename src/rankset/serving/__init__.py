"""What ``rankset serve`` remembers: predictions, labels that came back, and a new rule from them.

store          Store: predictions and labels, in SQLite or PostgreSQL
rows           Prediction, Feedback and Labelled, and how they are written as bytes
recalibration  recalibrate: a new rule from labels that came back
fed_back       FedBack: the rows of it, and how many have no label
tables         the tables of a store
about          what a store is for: its format, and the rule whose rows it holds
database       what a store needs of its database: sqlite and postgres
writer         the one thread that writes; what has come since the last commit is committed together
labelling      labels of one call: new, repeated or unknown
reading        rows in their order, read in parts
limits         how old and how large a store may be, and which rows are dropped first
"""

from typing import TYPE_CHECKING, Any

from rankset.errors import import_with_extra
from rankset.serving.rows import Feedback, Labelled, Prediction

__all__ = ["FedBack", "Feedback", "Labelled", "Prediction", "Store", "recalibrate"]

ON_DEMAND = {"FedBack": "fed_back", "Store": "store", "recalibrate": "recalibration"}
"""Modules of names that need SQLAlchemy."""

if TYPE_CHECKING:
    from rankset.serving.fed_back import FedBack as FedBack
    from rankset.serving.recalibration import recalibrate as recalibrate
    from rankset.serving.store import Store as Store
else:

    def __getattr__(name: str) -> Any:
        if name not in ON_DEMAND:
            raise AttributeError(f"module 'rankset.serving' has no attribute {name!r}")
        module = import_with_extra(f"rankset.serving.{ON_DEMAND[name]}", f"rankset.serving.{name}")
        globals()[name] = getattr(module, name)
        return globals()[name]
