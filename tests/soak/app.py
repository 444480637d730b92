"""The real program with a clerk for a model, tools that keep a journal, all fake channels, and perhaps a planted bug.

python -m tests.soak.app --data DIR --deeds FILE [--fake KIND=URL ...] [--kill POINT --hit N] [--plant NAME]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import bindparam, select

from bot.cli.run import _heed_signals
from bot.server.app import App, build
from bot.server.process import serving
from bot.settings.settings import Settings
from bot.telemetry import logs
from bot.testing.channel.adapter import FakeAdapter
from runtime.agent import loop
from runtime.context import builder
from runtime.contract import AdapterContext, Address, ChannelAdapter
from runtime.store.operations.history import HistoryStore
from runtime.store.schema import deliveries, parts
from runtime.store.sql.driver import Driver, Op
from tests.faults import app as faults
from tests.soak.clerk import Clerk
from tests.soak.deeds import deeds
from tests.soak.flows import with_flows
from tests.soak.moods import with_a_stand_in
from tests.soak.plants import PLANTS
from tests.soak.renewal import Renewing

RECEIPTS: Final = (
    select(parts.c.receipt)
    .join(deliveries, deliveries.c.id == parts.c.delivery_id)
    .where(deliveries.c.address == bindparam("room"), parts.c.receipt.is_not(None))
)


LONG_TURNS: Final = 24
"""A conversation of so many turns is summarised, so that each campaign has summaries to be killed at."""

MESSAGE_MAX_CHARS: Final = 400
"""A card fits into one message: of those that end alike nobody could tell which is whose where messages carry no key."""


def adapters(given: AdapterContext, *, places: Sequence[str]) -> Sequence[ChannelAdapter]:
    """An account for each KIND=URL. Those that probe know the ids that have a receipt: they look above them."""
    driver = cast("HistoryStore", given.history)._driver
    split = (place.partition("=") for place in places)
    return [
        FakeAdapter(
            base_url=url,
            kind=kind,
            account=kind,
            identity=f"bot-{kind}",
            now=given.now,
            known_ids=partial(receipts, driver),
            pause=timedelta(seconds=0.05),
            limit=MESSAGE_MAX_CHARS,
        )
        for kind, _, url in split
    ]


async def receipts(driver: Driver, room: Address) -> Iterable[str]:
    def found() -> Op[list[str]]:
        rows = yield RECEIPTS, {"room": str(room)}
        return [receipt for (receipt,) in rows]

    return await driver.read(found)


async def serve(given: argparse.Namespace) -> None:
    settings = with_flows(faults.settings_of(given.data, dict(given.set)))
    logs.configure(settings.log.level, settings.log.format, settings.secret_values())

    async def make(settings: Settings) -> App:
        probe = faults.KillAt(given.kill, given.hit)
        app = await build(
            settings,
            adapters=partial(adapters, places=given.fake),
            probe=probe,
            model=with_a_stand_in(Clerk(timedelta(seconds=given.think)), probe),
            tools=deeds(given.deeds),
        )
        for plant in given.plant:
            PLANTS[plant](app)
        return app

    setattr(builder, "LONG_TURNS", LONG_TURNS)  # noqa: B010 - a constant, in production
    setattr(loop, "Condenser", Renewing)  # noqa: B010 - begins conversations anew more often than any window would
    asked = asyncio.Event()
    _heed_signals(asked, settings.nodes.shutdown)
    async with serving(settings, make=make) as ready:
        sys.stdout.write(f"{ready.control.url}\n")
        sys.stdout.flush()
        await asked.wait()


def arguments(given: Sequence[str] | None = None) -> Any:
    parser = faults.arguments()
    parser.add_argument("--deeds", type=Path, required=True, help="the journal of the tools")
    parser.add_argument("--plant", choices=list(PLANTS), action="append", default=[], help="a bug to be found")
    return parser.parse_args(given)


if __name__ == "__main__":
    asyncio.run(serve(arguments()))
