"""Base of the store's objects, one for each aggregate."""

from __future__ import annotations

from runtime.contract import NewId, Now
from runtime.policy.budgets import Budgets
from runtime.store.observer import UNOBSERVED, Observer
from runtime.store.sql.driver import Driver


class Base:
    """Transactions of one aggregate over an engine. `observer` is told what they did; `budgets` are those of this moment."""

    def __init__(
        self, driver: Driver, new_id: NewId, observer: Observer = UNOBSERVED, budgets: Budgets | None = None
    ) -> None:
        self._driver = driver
        self._new_id = new_id
        self._observer = observer
        self._budgets = budgets or Budgets()
        self.now: Now = driver.now
