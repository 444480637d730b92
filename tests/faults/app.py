"""The real program with a channel of ours and a probe that kills it. The product itself knows of neither.

    python -m tests.faults.app --data DIR [--fake KIND=URL] [--kill POINT --hit N] [--set name=JSON ...]

Prints where it listens once it is ready. Waits are short, so that a restart is settled within a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from adapters.telegram import plugin
from adapters.telegram.settings import TelegramSettings
from adapters.telegram.settling import search
from bot.cli.run import _heed_signals, _once_over
from bot.server.app import build
from bot.server.process import serving
from bot.settings.settings import Settings, load
from bot.telemetry import logs
from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.board import append
from bot.wiring.engine import shell_of
from bot.wiring.models.made import model_of
from runtime.agent.duties import expiry
from runtime.contract import (
    AdapterContext,
    ChannelAdapter,
    Json,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    Tool,
    ToolContext,
    ToolSpec,
)
from runtime.store.approvals import undos
from tools.catalogue import first_tools

T = TypeVar("T")

TOKEN: Final = "a-token-of-the-tests"
EFFECTS: Final = "effects"
"""The journal in the data folder with a line for each call of a tool that began."""

SHORT_WAITS: Final[Mapping[str, object]] = {
    "web.port": 0,
    "web.token": TOKEN,
    "access.owners": ["fake:ada"],
    "nodes.lease_seconds": 1,
    "outbox.settle_first_seconds": 0.6,
    "outbox.settle_second_seconds": 1.0,
    "outbox.backoff_first_seconds": 0.1,
    "outbox.backoff_most_seconds": 0.5,
    "outbox.send_timeout_seconds": 5,
    "run.max_crashes": 1000,  # here it is the test that kills, and never what a run does
    "tools.shell.sandbox": "external",  # what is tested is when tools run, not where
    "log.level": "warning",
    "log.format": "json",
}

MESSAGE_MAX_CHARS: Final = 400
"""A card fits into one message: of those that end alike nobody could tell which is whose where messages carry no key."""


STEPS: Final = {name: timedelta(seconds=0.02) for name in ("probe_all", "probe_chat", "probe_group")}


class KillAt:
    """A probe: at the `hit`-th time of `point` the process is gone, with no chance to tidy up.

    With a file that says so, times count only while it is there; the kill takes it away.
    """

    def __init__(self, point: str, hit: int, armed: Path | None = None) -> None:
        self._point = point
        self._left = hit
        self._armed = armed

    def __call__(self, point: str) -> None:
        if point == self._point and (self._armed is None or self._armed.exists()):
            self._left -= 1
            if self._left == 0:
                if self._armed:
                    self._armed.unlink()
                os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Counted:
    """A Tool that writes down each call before it begins."""

    tool: Tool
    journal: Path

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        line = {"tool": self.spec.name, "effect": self.spec.effect, "arguments": dict(arguments), "at": time.time()}
        append(self.journal, line)
        return await self.tool.call(arguments, context)

    def caution(self) -> str:
        return self.tool.caution()


@dataclass(slots=True)
class Slow:
    """A Model that takes its time, so that many replies are under way at once."""

    model: Model
    wait: timedelta
    name: str = "slow"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        await asyncio.sleep(self.wait.total_seconds())
        return await self.model.reply(request, on_text)


def settings_of(data: Path, changes: Mapping[str, object]) -> Settings:
    return load(None, {**SHORT_WAITS, "data_dir": str(data), **changes}, environ={}, folder=data)


def fakes(given: AdapterContext, *, places: Sequence[str]) -> Sequence[ChannelAdapter]:
    """An adapter for each KIND=URL."""
    split = (place.partition("=") for place in places)
    return [
        FakeAdapter(base_url=url, kind=kind, now=given.now, pause=timedelta(seconds=0.05), limit=MESSAGE_MAX_CHARS)
        for kind, _, url in split
    ]


def hurry(second_look: float) -> None:
    """Telegram is looked at in steps of seconds, as it demands of everybody; here they are hundredths of one.

    And a request comes no later than the second look, which is after `second_look` seconds here.
    """
    made = plugin.settings_of
    setattr(search, "LATE", timedelta(seconds=second_look))  # noqa: B010 - a constant, in production

    def made_in_a_hurry(account: plugin.TelegramAccount) -> TelegramSettings:
        settings = made(account)
        return replace(settings, waits=replace(settings.waits, **STEPS))

    setattr(plugin, "settings_of", made_in_a_hurry)  # noqa: B010 - a function, in production


def same(thing: T) -> T:
    return thing


async def serve(
    given: argparse.Namespace,
    *,
    model: Callable[[Model], Model] = same,
    tool: Callable[[Tool], Tool] = same,
    probe: Callable[[str], None] | None = None,
) -> None:
    """Run until asked to leave; `model` and `tool` wrap what it works with. `probe` is one in place of the deadly one."""
    settings = settings_of(given.data, dict(given.set))
    logs.configure(settings.log.level, settings.log.format, settings.secret_values())
    if given.hurry:
        hurry(settings.outbox.settle_second_seconds)
    if given.undo_cut:
        setattr(undos, "CUT_AFTER", timedelta(seconds=given.undo_cut))  # noqa: B010 - a constant, in production
    if given.look_every:
        setattr(expiry, "EXPIRY_INTERVAL", timedelta(seconds=given.look_every))  # noqa: B010 - a constant, in production
    tools = first_tools(shell_of(settings)).items()
    make = partial(
        build,
        adapters=partial(fakes, places=given.fake),
        probe=probe or KillAt(given.kill, given.hit, given.armed),
        model=model(Slow(model_of(settings), timedelta(seconds=given.think))),
        tools={name: tool(Counted(one, given.data / EFFECTS)) for name, one in tools},
    )
    asked = asyncio.Event()
    _heed_signals(asked, settings.nodes.shutdown)
    async with serving(settings, make=make) as ready, asyncio.TaskGroup() as group:
        sys.stdout.write(f"{ready.control.url}\n")
        sys.stdout.flush()
        over = group.create_task(_once_over(ready.over, asked))
        await asked.wait()
        over.cancel()


def setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    return name, json.loads(value)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Signalbox with a fake channel and a deadly probe.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fake", action="append", default=[], metavar="KIND=URL")
    parser.add_argument("--hurry", action="store_true", help="shorten waits that no setting shortens")
    parser.add_argument("--kill", default="", metavar="POINT")
    parser.add_argument("--hit", type=int, default=1)
    parser.add_argument("--undo-cut", type=float, metavar="SECONDS", help="after which an undo was cut off")
    parser.add_argument("--look-every", type=float, metavar="SECONDS", help="look so often at questions that wait")
    parser.add_argument("--armed", type=Path, metavar="FILE", help="count only while there is this file")
    parser.add_argument("--think", type=float, default=0.0, metavar="SECONDS", help="how long the model takes")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=JSON")
    return parser


if __name__ == "__main__":
    asyncio.run(serve(arguments().parse_args()))
