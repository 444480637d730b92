"""Wishes to be forgotten: who asked for it in the page, and didn't take it back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.operator.context import OperatorContext

ASKED_KIND: Final = "forgetting asked"
WITHDRAWN_KIND: Final = "forgetting withdrawn"
ASKED_LOOKED_AT: Final = 200
"""Rows of the audit in which a wish to be forgotten is looked for."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Newest wishes and withdrawals, each with the identity that it came from; the newest first."""

    asked: Sequence[tuple[str, datetime]]
    withdrawn: Sequence[tuple[str, datetime]]

    def standing(self, identities: Collection[str]) -> datetime | None:
        """Time of somebody's newest wish, unless they took it back since.

        >>> noon = datetime(2026, 3, 1, 12)
        >>> Wishes([("web:1", noon)], [("web:2", noon)]).standing(["web:1"]) == noon
        True
        >>> Wishes([("web:1", noon)], [("web:1", noon)]).standing(["web:1"])
        """
        wish = next((at for who, at in self.asked if who in identities), None)
        back = next((at for who, at in self.withdrawn if who in identities), None)
        return wish if wish is not None and (back is None or wish > back) else None


async def wishes_of(context: OperatorContext) -> Wishes:
    """Newest wishes of everybody."""
    asked, withdrawn = [
        [(row.actor, row.at) for row in await context.store.audit.newest_audit(kind, limit=ASKED_LOOKED_AT)]
        for kind in (ASKED_KIND, WITHDRAWN_KIND)
    ]
    return Wishes(asked, withdrawn)
