"""``rankset serve``: a server of a rule, what it remembers, and a new rule from labels that came back.

storage        what is kept, in SQLite or PostgreSQL: Store, Prediction, Feedback, and recalibrate (a package)

The server:

server         runs the application with uvicorn: socket, signals (SIGHUP loads the rule anew)
protocol       connections with limits that uvicorn has not
application    app: the ASGI application; assembly puts its parts together
guard          App: who may ask, limits, counting, errors as answers
access         the token, sessions of browsers, names of hosts
endpoints      what each path answers; openapi and pages describe and show it
bodies         reads bodies; json_bodies, npy_bodies and rows_in turn them into rows
client_words   errors of Python in the words of clients
predictions    rows that were asked, and their sets
service        what all requests share; loaded has the rule, metrics what is counted, events the open live pages
looks          whether the store can be written, without waiting for one that hangs
ledger         rows and labels go into the store and to the monitor in one order, with times of clock
learner        the thread that teaches the monitor; following asks the store
monitor        numbers over time, totals and alarms; live_numbers shows them
"""

from typing import TYPE_CHECKING, Any

from rankset.errors import import_with_extra
from rankset.serving.application import app
from rankset.serving.request_limits import Limits
from rankset.serving.storage.rows import Feedback, Labelled, Prediction

__all__ = ["FedBack", "Feedback", "Labelled", "Limits", "Prediction", "Store", "app", "recalibrate"]

ON_DEMAND = {"FedBack": "fed_back", "Store": "store", "recalibrate": "recalibration"}
"""Modules of ``storage`` with names that need SQLAlchemy."""

if TYPE_CHECKING:
    from rankset.serving.storage.fed_back import FedBack as FedBack
    from rankset.serving.storage.recalibration import recalibrate as recalibrate
    from rankset.serving.storage.store import Store as Store
else:

    def __getattr__(name: str) -> Any:
        if name not in ON_DEMAND:
            raise AttributeError(f"module 'rankset.serving' has no attribute {name!r}")
        module = import_with_extra(f"rankset.serving.storage.{ON_DEMAND[name]}", f"rankset.serving.{name}")
        globals()[name] = getattr(module, name)
        return globals()[name]
