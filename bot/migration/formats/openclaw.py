"""OpenClaw's folder: `openclaw.json`, its workspace, and the shared state in SQLite.

Source: a folder of OpenClaw 2026.9.6 and the pages gateway/configuration-reference, concepts/agent-workspace and
automation/cron-jobs of its docs, read 2026-11.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from bot.migration.formats.clocks import instant, of_cron, of_instant, of_milliseconds, since_epoch
from bot.migration.formats.notes import directives
from bot.migration.formats.shared import (
    add_account,
    add_notes,
    add_person,
    add_profile,
    add_prompt,
    add_skills,
    destination,
    leave_channel,
    leave_files,
    timed,
)
from bot.migration.formats.values import CAMEL_TOKENS, account_name, on, room_id, secret, table, tables, text, words
from bot.migration.found import Found, FoundAccount, FoundJob, FoundModel, FoundRoom, Item
from bot.migration.home import Home
from runtime.text.glyphs import visible

OPENCLAW_SETTINGS: Final = "openclaw.json"
STATE: Final = "state/openclaw.sqlite"
OLD_JOBS: Final = "cron/jobs.json"
DEFAULT: Final = "default"
ROOM_TABLES: Final = {"telegram": "groups", "slack": "channels"}
OF_THE_PROGRAM: Final = "it is about OpenClaw's own ways"


def read(home: Home, now: datetime) -> Found:
    """All of it. Errors: Damaged."""
    given = home.values(OPENCLAW_SETTINGS)
    found = Found("OpenClaw", text(table(given.get("meta")).get("lastTouchedVersion")))
    defaults = table(table(given.get("agents")).get("defaults"))
    found.zone = text(defaults.get("userTimezone"))
    _channels(found, table(given.get("channels")))
    _models(found, given, defaults)
    _agents(home, found, given)
    workspace = _workspace(home, found, defaults)
    if workspace:
        add_prompt(home, found, workspace, "SOUL.md", "IDENTITY.md", "AGENTS.md")
        dated = [f"{workspace}/memory/{one}" for one in home.names(f"{workspace}/memory") if one.endswith(".md")]
        add_notes(home, found, f"{workspace}/MEMORY.md", *reversed(dated))
        add_profile(home, found, f"{workspace}/USER.md", directives)
        leave_files(home, found, workspace, BOOTSTRAP=OF_THE_PROGRAM, HEARTBEAT=OF_THE_PROGRAM, BOOT=OF_THE_PROGRAM)
        leave_files(home, found, workspace, TOOLS=OF_THE_PROGRAM)
        add_skills(home, found, f"{workspace}/skills")
    add_skills(home, found, "skills")
    _state(home, found, now)
    return found


# ------------------------------------------------------------------------------------------------------------ channels


def _channels(found: Found, channels: Mapping[str, Any]) -> None:
    for channel, given in channels.items():
        root = table(given)
        if channel in CAMEL_TOKENS:
            for name, account in _accounts(root):
                _account(found, channel, name, {**root, **account})
        elif on(root.get("enabled"), usual=bool(root)) and channel != "defaults":
            leave_channel(found, channel)


def _accounts(root: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The account of the channel itself, unless it has none, and those that are named."""
    named = {str(name): table(one) for name, one in table(root.get("accounts")).items()}
    if DEFAULT not in named and any(root.get(key) for key in ("botToken", "token", "appToken")):
        yield DEFAULT, {}
    yield from named.items()


def _account(found: Found, channel: str, name: str, given: Mapping[str, Any]) -> None:
    taken = {one.name for one in found.accounts}
    called = account_name(text(given.get("name")) or (channel if name == DEFAULT else name), taken)
    secrets = {ours: secret(given.get(theirs)) for ours, theirs in CAMEL_TOKENS[channel].items()}
    account = FoundAccount(channel, called, on(given.get("enabled"), usual=True), secrets)
    add_account(found, account, tuple(secrets))
    for person in dict.fromkeys([*words(given.get("allowFrom")), *words(table(given.get("dm")).get("allowFrom"))]):
        add_person(found, channel, person)
    if account in found.accounts:
        _rooms(found, channel, called, table(given.get(ROOM_TABLES.get(channel, ""))))


def _rooms(found: Found, channel: str, account: str, given: Mapping[str, Any]) -> None:
    for room, rule in given.items():
        rules = table(rule)
        if "requireMention" not in rules:
            continue
        attention = "mention" if on(rules["requireMention"], usual=True) else "open"
        if room == "*" or room_id(channel, str(room)):
            found.rooms.append(FoundRoom(channel, account, "*" if room == "*" else room_id(channel, room), attention))
        else:
            found.leave(Item.ROOMS, f"{channel}:{visible(str(room))}", "that is no id of a room")


# -------------------------------------------------------------------------------------------------------------- agents


def _models(found: Found, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    model = defaults.get("model")
    named = (
        [text(model)]
        if isinstance(model, str)
        else [text(table(model).get("primary")), *words(table(model).get("fallbacks"))]
    )
    providers = table(table(given.get("models")).get("providers"))
    for name in filter(None, named):
        provider = table(providers.get(name.partition("/")[0]))
        found.models.append(FoundModel(name, secret(provider.get("apiKey")), text(provider.get("baseUrl"))))
    for name in table(defaults.get("models")):
        if name not in named:
            fix = "If you want it here: a table of [[models]] in your settings."
            found.leave(
                Item.MODELS, visible(str(name)), "people could choose it there; it answered nobody unasked", fix
            )


def _agents(home: Home, found: Found, given: Mapping[str, Any]) -> None:
    agents = table(given.get("agents"))
    names = [*table(agents.get("entries")), *(text(one.get("id")) for one in tables(agents.get("list")))]
    for name in names:
        if name and name != "main":
            fix = f"signalbox agents new {account_name(str(name), set())}, then copy its SOUL.md into its prompt."
            found.leave(Item.PROMPT, f"agent {visible(str(name))}", "the main agent alone is taken over", fix)


def _workspace(home: Home, found: Found, defaults: Mapping[str, Any]) -> str:
    """The workspace's path in the home; one that is elsewhere is left."""
    named = PurePosixPath(text(defaults.get("workspace")) or "workspace")
    inside = [path for path in (named.name, "workspace") if path and home.names(path)]
    if inside:
        return inside[0]
    if text(defaults.get("workspace")):
        found.leave(
            *(Item.PROMPT, "workspace", f"it isn't in this folder ({visible(str(named))})"),
            f"Copy it to {home.root}/workspace, and run this again.",
        )
    return ""


# --------------------------------------------------------------------------------------------------------------- state


def _state(home: Home, found: Found, now: datetime) -> None:
    if home.has(STATE):
        with home.database(STATE) as database:
            for row in _rows(database, "channel_pairing_allow_entries", "channel_key", "entry"):
                add_person(found, str(row["channel_key"]).partition(":")[0], str(row["entry"]))
            jobs = [
                _job_of(home, row["job_json"]) for row in _rows(database, "cron_jobs", "job_json", order="sort_order")
            ]
    elif home.has(OLD_JOBS):
        jobs = list(tables(home.values(OLD_JOBS).get("jobs")))
    else:
        return
    for job in jobs:
        _job(found, job, now)


def _rows(database: sqlite3.Connection, name: str, *columns: str, order: str = "") -> list[sqlite3.Row]:
    """Rows of a table; none where an older or newer version has no such table."""
    there = {row["name"] for row in database.execute("SELECT name FROM pragma_table_info(?)", (name,))}
    if not {*columns} <= there:
        return []
    last = f" ORDER BY {order}" if order in there else ""
    wanted = ", ".join(columns)
    return database.execute(f"SELECT {wanted} FROM {name}{last} LIMIT 10000").fetchall()  # noqa: S608 - names of ours


def _job_of(home: Home, given: object) -> Mapping[str, Any]:
    try:
        return table(json.loads(str(given)))
    except (json.JSONDecodeError, RecursionError):
        raise home.damaged(STATE, "a row of cron_jobs holds no JSON") from None


def _job(found: Found, job: Mapping[str, Any], now: datetime) -> None:
    name = " ".join(visible(text(job.get("name"))).split()) or "unnamed"
    payload, delivery = table(job.get("payload")), table(job.get("delivery"))
    if text(job.get("declarationKey")):
        return  # the program's own upkeep
    if not on(job.get("enabled"), usual=True):
        found.leave(Item.SCHEDULES, name, "it is off there")
    elif payload.get("kind") not in ("agentTurn", "systemEvent"):
        found.leave(Item.SCHEDULES, name, "it runs a command, not an agent", "A workflow or a heartbeat can do that.")
    elif delivery.get("mode") != "announce":
        found.leave(Item.SCHEDULES, name, "its result is shown nowhere", "Name a room for it: signalbox schedules add")
    else:
        _timed(found, job, name, payload, delivery, now)


def _timed(
    found: Found,
    job: Mapping[str, Any],
    name: str,
    payload: Mapping[str, Any],
    delivery: Mapping[str, Any],
    now: datetime,
) -> None:
    schedule = table(job.get("schedule"))
    zone = text(schedule.get("tz")) or found.zone or "UTC"

    def words_of() -> str:
        match schedule.get("kind"):
            case "cron":
                return of_cron(text(schedule.get("expr")))
            case "every":
                return of_milliseconds(schedule.get("everyMs"))
            case _:
                at = schedule.get("at")
                return of_instant(
                    instant(text(at), zone) if isinstance(at, str) else since_epoch(schedule.get("atMs")), zone, now
                )

    prompt = text(payload.get("message")) or text(payload.get("text"))
    to = destination(
        found, name, text(delivery.get("channel")), str(delivery.get("to") or ""), text(delivery.get("accountId"))
    )
    if to and prompt and (when := timed(found, name, words_of)):
        found.jobs.append(FoundJob(name, when, zone, prompt, to))
