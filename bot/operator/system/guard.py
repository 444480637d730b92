"""Scans of stored texts by the leak guard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from bot.wiring.safety.scan import GuardScan
from runtime.http.errors import Refusal

COUNTS: Final = ("rows", "redacted", "left")
SCANNED: Final = "{rows} rows looked at, {redacted} redacted, {left} left as they were"


@by_role
class ScansApi(PartialApi):
    """A scan of stored texts by the leak guard, page by page."""

    async def scan_texts(self, fields: Mapping[str, Any]) -> View:
        """Look through the next page of a table: `table`, `after` (a key, null for the first), and `redact`."""
        return await GuardScan(self._store.texts, self._context.scan_door).asked(fields)

    async def note_scan(self, counts: Mapping[str, Any]) -> View:
        """Record that a whole scan redacted rows: `rows`, `redacted` and `left`."""
        numbers = {name: counts.get(name) for name in COUNTS}
        if not all(type(one) is int and one >= 0 for one in numbers.values()):
            raise Refusal(400, f"Write numbers for {', '.join(COUNTS)}.")
        detail = SCANNED.format(**numbers)
        await self._store.cluster.note_fact("leak guard scan", self.actor.name, "", detail)
        return {"noted": detail}
