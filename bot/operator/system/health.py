"""Health of this process for operators: its last log lines, what the doctor finds, and what a support bundle holds."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from bot.node.version import VERSION
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.system.bundle import (
    Scrubber,
    findings_told,
    lines_told,
    metrics_told,
    nodes_told,
    settings_told,
    words_of_settings,
)
from bot.operator.system.examination import Examination, Examined
from bot.operator.views import View, at
from bot.telemetry.ring import LEVELS, LogFilter, LogLine, LogRing
from runtime.contract import Level
from runtime.http.errors import Refusal
from runtime.store.cluster.support import NodeRow

LOG_LINES_MOST: Final = 500
BUNDLE_LINES: Final = 1_000
ROOM_RUNS: Final = 500
NOTHING_RUNS: Final = "Only a running Signalbox keeps the last lines of its log: `signalbox run`."
NO_DOCTOR: Final = "The doctor can't be run from here. On the machine: signalbox doctor"
UNDER_WAY: Final = "The doctor is looking. This takes up to two minutes."


@by_role
class HealthApi(PartialApi):
    """The log, the doctor and support."""

    async def logs(
        self, after: int = 0, limit: int = 200, level: str = "", text: str = "", trace: str = "", room: str = ""
    ) -> View:
        """The newest lines of this node's log that fit, oldest first. `trace` is an id that a line carries; `room` those of its runs."""
        ring = self._ring
        if level and level not in LEVELS:
            raise Refusal(400, f'"{level}" isn\'t one of: {", ".join(LEVELS)}.')
        wanted = LogFilter(level, text.strip(), await self._about(trace.strip(), room))
        newest = ring.newest  # read first: a line that comes meanwhile is told next time
        begin = after if after <= newest else 0  # the process was started anew since
        lines = ring.after(begin, wanted, min(limit, LOG_LINES_MOST))
        return {
            "node": self._context.health.node(),
            "nodes": [node_view(one) for one in await self._store.support.nodes() if one.state == "live"],
            "lines": [self._line(one) for one in lines if one.number <= newest],
            "next": newest,
            "newest": newest,
        }

    async def doctor(self) -> View:
        """Findings of the doctor when it looked last, and whether it is looking now."""
        look = self._examination
        return _examined(look.last, is_running=look.is_running)

    async def examine(self) -> View:
        """Have the doctor look now. It changes nothing, and asks no model."""
        look = self._examination
        found = await look.look()
        told = "The doctor has looked." if found else "Somebody has asked already: the doctor is looking."
        return _examined(found or look.last, is_running=found is None) | {"told": told}

    async def support(self) -> View:
        """Parts of a support bundle: facts, and no text, name, address or secret of anybody."""
        shown, sources = self._context.health.settings()
        support = self._store.support
        nodes = await support.nodes()
        hosts = {one.label.partition("/")[0] for one in nodes}
        scrub = Scrubber([*await support.names(), *words_of_settings(shown, sources), *hosts, platform.node()])
        ring, look = self._context.health.ring, self._context.health.examination
        last = look().last if look else None
        return {
            "about": {
                "version": VERSION,
                "python": platform.python_version(),
                "system": f"{platform.system()} {platform.release()} {platform.machine()}",
                "implementation": sys.implementation.name,
                "revision": await support.revision(),
                "made_at": at(self._context.now()),
            },
            "settings": settings_told(shown, sources),
            "nodes": nodes_told([node_view(one) for one in nodes]),
            "tables": await support.row_counts(),
            "accounts": [
                {"account": f"account {number}", "state": one.standing.connection.value, "since": at(one.since)}
                for number, one in enumerate(self._context.states(), 1)
            ],
            "doctor": {
                "at": at(last.at) if last else None,
                "findings": findings_told(last.findings, scrub) if last else [],
            },
            "log": await asyncio.to_thread(_last_lines, ring(), scrub) if ring else [],
            "metrics": metrics_told(await self._context.health.metrics(), scrub),
        }

    async def _about(self, trace: str, room: str) -> Sequence[str]:
        """Ids of which a line must carry one."""
        if not room.strip():
            return (trace,) if trace else ()
        meant = await self._room_meant(room)
        rows = await self._store.operations.runs(limit=ROOM_RUNS, room=meant)
        return [row.id for row in rows if row.id.startswith(trace)] or ["nothing began there"]

    def _line(self, line: LogLine) -> View:
        shown = asdict(line)
        return {**shown, "event": self._context.mask(line.event)}

    @property
    def _ring(self) -> LogRing:
        if self._context.health.ring is None:
            raise Refusal(409, NOTHING_RUNS)
        return self._context.health.ring()

    @property
    def _examination(self) -> Examination:
        if self._context.health.examination is None:
            raise Refusal(409, NO_DOCTOR)
        return self._context.health.examination()


def _last_lines(ring: LogRing, scrub: Scrubber) -> list[dict[str, str]]:
    """For the bundle: thousands of lines, each read and looked through, while the process goes on."""
    return lines_told(ring.after(0, LogFilter(), BUNDLE_LINES), scrub)


def node_view(one: NodeRow) -> View:
    return {
        "id": one.id,
        "label": one.label,
        "state": one.state,
        "joined_at": at(one.joined_at),
        "expires_at": at(one.expires_at),
    }


def _examined(last: Examined | None, *, is_running: bool) -> View:
    if last is None:
        return {
            "at": None,
            "findings": [],
            "trouble": UNDER_WAY if is_running else "",
            "running": is_running,
            "healthy": None,
        }
    worst = any(one.get("level") == Level.ERROR.value for one in last.findings)
    return {
        "at": at(last.at),
        "findings": list(last.findings),
        "trouble": last.trouble,
        "running": is_running,
        "healthy": not worst and not last.trouble,
    }
