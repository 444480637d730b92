"""The store, counted: every transaction as it is, and what it returned added to the meters once it is committed.

So nothing more is asked of the database, and whatever part of the program makes a change, it is counted here.
"""

from __future__ import annotations

from bot.metrics.counting.membership import CountedRegistry
from bot.metrics.counting.planned import CountedInstants
from bot.metrics.counting.way_out import CountedOutbox
from bot.metrics.counting.work import CountedWork
from runtime.store.store import SqlStore


class CountedStore(CountedInstants, CountedWork, CountedOutbox, CountedRegistry, SqlStore):
    """A second `SqlStore` over the driver of the first."""
