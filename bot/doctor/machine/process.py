"""The process that has this data folder, and what it says about itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import aiohttp

from bot.doctor.subject import REACH, Subject, fault, fine, warning
from bot.node.lock import Control
from bot.node.version import VERSION
from bot.node.watchdog import last_end
from bot.operator.client import connected
from runtime.contract import Finding
from runtime.errors import BotError

LATELY: Final = timedelta(days=1)


async def check_process(subject: Subject) -> Sequence[Finding]:
    return [*_ended_lately(subject.settings.data_dir), *await _state(subject)]


async def _state(subject: Subject) -> Sequence[Finding]:
    if subject.control is not None:
        return [finding async for finding in _asked(subject.control)]
    if subject.pid is None:
        return [fine("process.state", "none is running with this data_dir")]
    why = "Commands can't reach a process that is starting or stopping."
    what = f"process {subject.pid or '?'} holds the folder and cannot be reached"
    return [warning("process.state", what, why, "wait a moment, then check again: signalbox doctor")]


async def _asked(control: Control) -> AsyncIterator[Finding]:
    why = "A process that isn't ready accepts nothing."
    try:
        reasons, stuck = await _reasons(control), await _stuck(control)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        what = f"process {control.pid} does not answer ({str(error) or 'no reply in time'})"
        yield fault("process.state", what, why, "restart it; it may be killed at any time: nothing is lost")
        return
    if stuck:
        yield fault("process.stuck", stuck, why, "wait: it will exit, and its supervisor will restart it")
    yield fine("process.state", f"process {control.pid} runs")
    for name, text in reasons.items():
        yield fault(f"process.ready.{name}", text, why, "fix the problem it names; the log has more")
    if not reasons:
        yield fine("process.ready", f"process {control.pid} is ready")
    yield await _version(control)


async def _reasons(control: Control) -> dict[str, str]:
    timeout = aiohttp.ClientTimeout(total=REACH.total_seconds())
    async with aiohttp.ClientSession(timeout=timeout) as session, session.get(f"{control.url}/readyz") as answer:
        return dict(json.loads(await answer.read()).get("reasons", {}))


async def _stuck(control: Control) -> str:
    timeout = aiohttp.ClientTimeout(total=REACH.total_seconds())
    async with aiohttp.ClientSession(timeout=timeout) as session, session.get(f"{control.url}/healthz") as answer:
        return str(json.loads(await answer.read()).get("reason", ""))


def _ended_lately(place: Path) -> Sequence[Finding]:
    """Processes that a watchdog had to end within the last day."""
    ended = last_end(place)
    if ended is None or datetime.now(UTC) - ended.at > LATELY:
        return []
    why = "This shouldn't happen. Nothing is lost, but it's a bug in Signalbox."
    what = f"a process had to be ended at {ended.at:%Y-%m-%d %H:%M} UTC: {ended.reason}"
    return [warning("process.watchdog", what, why, "report it, with the log of that minute")]


async def _version(control: Control) -> Finding:
    why = "Commands and process should be the same version."
    try:
        async with connected(control) as client:
            runs = str((await client.overview())["info"].get("version", "?"))
    except BotError as error:
        return warning("process.version", str(error), why, "check again: signalbox doctor")
    if runs == VERSION:
        return fine("process.version", f"{runs}, as this command")
    return warning("process.version", f"it is {runs}; this command is {VERSION}", why, "restart it")
