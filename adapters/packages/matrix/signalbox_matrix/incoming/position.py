"""The position up to which an account was read: the homeserver keeps it for the process that reads next.

It moves only after everything before it was taken in, and lags: what is read twice is known by its event's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any, Final

import structlog

from signalbox_matrix.api import Api
from signalbox_matrix.errors import MatrixError, Refused
from signalbox_matrix.settings import Waits

log = structlog.get_logger("matrix")

Raw = Mapping[str, Any]

POSITION_KEY: Final = "signalbox.position"
"""Type of the account data that holds it."""


class Position:
    def __init__(self, *, api: Api, account: str, waits: Waits) -> None:
        self._api = api
        self._account = account
        self._waits = waits
        self._saved = ""
        self._saved_at = 0.0

    async def load(self, me: str) -> str:
        """Position of the last process; empty for the first. Errors: MatrixError."""
        try:
            told = await self._api.kept(me, POSITION_KEY)
        except Refused as error:
            if error.code != "M_NOT_FOUND":
                raise
            return ""
        self._saved = str(told.get("next_batch") or "")
        return self._saved

    async def save(self, me: str, position: str, *, at_once: bool = False) -> None:
        """Note it, now and then. Best effort, but for the very first: without one nothing would be known to be missing."""
        due = monotonic() - self._saved_at >= self._waits.save.total_seconds()
        if position == self._saved or not (due or at_once):
            return
        try:
            await self._api.keep(me, POSITION_KEY, {"next_batch": position})
        except MatrixError as error:
            if not self._saved:
                raise
            log.info("the position was not kept", account=self._account, reason=str(error))
            return
        self._saved, self._saved_at = position, monotonic()
