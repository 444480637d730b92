"""Context of a courier: its duty, clocks, and whom it tells."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from runtime.contract import Address, NewId, Now, Probe, no_probe
from runtime.delivery.rates import ticking
from runtime.domain.ids import new_id as fresh_id
from runtime.guard.door import OPEN_DOOR
from runtime.guard.findings import Gate
from runtime.store.protocol import Duty

POLL: Final = timedelta(seconds=1)
"""How soon to ask again for a duty, where nobody tells that it may be free."""


async def soon() -> None:
    await asyncio.sleep(POLL.total_seconds())


def by_usual_rules(text: str) -> str:
    """`text` without what the leak guard takes out where nothing else is set."""
    return OPEN_DOOR.clean(text, Gate.DELIVERY)


@dataclass(frozen=True, slots=True, kw_only=True)
class CourierContext:
    """Context of a courier in its process.

    `take` asks for the duty, and `vacancy` waits until it may be free again. `on_shown` hears of each address where
    something was shown, `on_dead` of each delivery that never will be: triggers may have begun work. `chance` spreads retries,
    from 0 to 1; `ticks` never jump, as `now` may. `clean` takes secrets out of words about errors, which may hold the address
    that was asked.
    """

    take: Callable[[str], Awaitable[Duty | None]]
    now: Now
    on_shown: Callable[[Address], None]
    lease_is_fresh: Callable[[], bool] = lambda: True
    vacancy: Callable[[], Awaitable[object]] = soon
    chance: Callable[[], float] = random.random
    new_id: NewId = fresh_id
    ticks: Callable[[], timedelta] = ticking
    probe: Probe = no_probe
    clean: Callable[[str], str] = by_usual_rules
    on_dead: Callable[[], None] = lambda: None
