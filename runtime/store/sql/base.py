"""What every group of transactions stands on."""

from __future__ import annotations

from datetime import datetime

from runtime.contract import NewId
from runtime.store.sql.driver import Driver


class Base:
    def __init__(self, driver: Driver, new_id: NewId) -> None:
        self._driver = driver
        self._new_id = new_id

    def now(self) -> datetime:
        return self._driver.now()
