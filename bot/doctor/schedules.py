"""Checks of what is planned: is it paused or failing, and are the accounts there that its reports go to. It is read, never written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.accounts.naming import naming
from bot.doctor.rows import Rows, rows_of
from bot.doctor.subject import Subject, fine, warning
from bot.node.lock import Control
from bot.operator.client import connected
from bot.settings.cross_checks import WEB_ACCOUNT
from bot.settings.settings import Settings
from runtime.contract import Address, Finding
from runtime.errors import BotError

SCHEDULE_COLUMNS: Final = "id, name, state, reason, failures, by_file, addresses"
PLANNED: Final = (
    f"SELECT {SCHEDULE_COLUMNS} FROM schedules WHERE state IN ('active', 'paused') ORDER BY name, id LIMIT 1000"  # noqa: S608 - ours
)
ACCOUNTS: Final = "SELECT channel, identity, name FROM accounts"


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule, with its rooms as settings write them."""

    id: str
    name: str
    state: str
    reason: str
    failures: int
    by_file: bool
    to: Sequence[str]


async def check_schedules(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    if subject.control:
        rows = await _asked(subject.control)
        return [*findings(settings, rows), *_unplanned(settings, rows)]
    rows = _rows(*await rows_of(settings, PLANNED, ACCOUNTS))
    return list(findings(settings, rows))


# ------------------------------------------------------------------------------------------------------------ judging


def findings(settings: Settings, rows: Sequence[Row]) -> Iterator[Finding]:
    here = {WEB_ACCOUNT, *(f"{one.channel}:{one.name}" for one in settings.accounts if one.enabled)}
    planned = [row for row in rows if row.state != "ended"]
    told = [finding for row in planned for finding in _of(row, here)]
    yield from told
    if planned and not told:
        yield fine("schedules", f"{len(planned)} planned, none paused or failing")


def _of(row: Row, here: set[str]) -> Iterator[Finding]:
    ident, said = f"schedules.{row.id}", f'"{row.name}"'
    if row.failures and row.state == "paused":
        fix = f"fix the problem it names, then: signalbox schedules resume {row.id}"
        yield warning(ident, f"{said} is paused: {row.reason}", "It won't run until somebody resumes it.", fix)
    elif row.failures:
        what = f"{said} failed {row.failures} times in a row"
        yield warning(
            ident, what, "After five failures it is paused.", f"see why: signalbox schedules history {row.id}"
        )
    elif row.state == "paused":
        yield fine(ident, f"{said} is paused: {row.reason or 'nobody said why'}")
    for account in sorted({_account(room) for room in row.to} - here):
        what = f"{said} reports to {account}, which isn't an account here"
        why = "Its reports for that room wait in the outbox."
        fix = f"add the account, or name another room: signalbox schedules change {row.id} --to ADDRESS"
        yield warning(f"{ident}.{account}", what, why, fix if not row.by_file else f"name another room in {said}")


def _account(room: str) -> str:
    address = Address.parse(room)
    return f"{address.channel}:{address.account}"


def _unplanned(settings: Settings, rows: Sequence[Row]) -> Iterator[Finding]:
    """Schedules of the settings that the running process could not plan."""
    planned = {row.name for row in rows if row.by_file}
    for table in settings.planned:
        if table.name not in planned:
            what = f'"{table.name}" is in the settings but not planned'
            yield warning(f"schedules.{table.name}", what, "It won't run.", "to see why: signalbox reload")


# ------------------------------------------------------------------------------------------------------------ reading


async def _asked(control: Control) -> Sequence[Row]:
    try:
        async with connected(control) as client:
            return [_of_view(view) for view in await client.schedules()]
    except BotError:  # told by the check of the process
        return []


def _of_view(view: Mapping[str, Any]) -> Row:
    return Row(*(view[name] for name in ("id", "name", "state", "reason", "failures", "by_file", "to")))


def _rows(planned: Rows, accounts: Rows) -> list[Row]:
    named = naming((channel, identity, name) for channel, identity, name in accounts)
    return [
        Row(ident, name, state, reason, failures, bool(by_file), [named(Address.parse(one)) for one in json.loads(to)])
        for ident, name, state, reason, failures, by_file, to in planned
    ]
