"""nanobot's folder: `config.json`, `pairing.json`, and its workspace with the jobs.

Source: a folder of nanobot-ai 0.3.5 and its modules config/schema.py, cron/types.py and pairing/store.py, read 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from bot.migration.formats.clocks import of_cron, of_instant, of_milliseconds, since_epoch
from bot.migration.formats.notes import sentences, without_introduction
from bot.migration.formats.shared import (
    add_account,
    add_person,
    add_profile,
    add_prompt,
    add_skills,
    destination,
    leave_channel,
    leave_files,
    timed,
)
from bot.migration.formats.values import CAMEL_TOKENS, on, secret, table, tables, text, words
from bot.migration.found import Found, FoundAccount, FoundJob, FoundModel, Item
from bot.migration.home import Home
from runtime.text.glyphs import visible

NANOBOT_SETTINGS: Final = "config.json"
PAIRINGS: Final = "pairing.json"
NOT_CHANNELS: Final = frozenset({"websocket"})
"""Its own page."""


def read(home: Home, now: datetime) -> Found:
    """All of it. Errors: Damaged."""
    given = home.values(NANOBOT_SETTINGS)
    found, defaults = Found("nanobot"), table(table(given.get("agents")).get("defaults"))
    found.zone = text(defaults.get("timezone"))
    _channels(found, table(given.get("channels")))
    if home.has(PAIRINGS):
        for channel, people in table(home.values(PAIRINGS).get("approved")).items():
            for person in words(people):
                add_person(found, channel, person)
    _models(found, given, defaults)
    workspace = PurePosixPath(text(defaults.get("workspace"))).name or "workspace"
    workspace = workspace if home.names(workspace) else "workspace"
    add_prompt(home, found, workspace, "SOUL.md", "AGENTS.md")
    for path in (f"{workspace}/memory/MEMORY.md", f"{workspace}/USER.md"):
        add_profile(home, found, path, lambda text, path: sentences(without_introduction(text), path))
    history = f"{workspace}/memory/history.jsonl"
    if home.has(history):
        found.leave(Item.MEMORY, history, "it is a record of what was said, not of what to remember")
    leave_files(home, found, workspace, HEARTBEAT="it is about nanobot's own ways")
    add_skills(home, found, f"{workspace}/skills")
    for path in (f"{workspace}/cron/jobs.json", "cron/jobs.json"):
        for job in tables(home.values(path).get("jobs")) if home.has(path) else ():
            _job(found, job, now)
    return found


def _channels(found: Found, channels: Mapping[str, Any]) -> None:
    for channel, given in channels.items():
        one = table(given)
        if not on(one.get("enabled")) or channel in NOT_CHANNELS:
            continue
        if channel not in CAMEL_TOKENS:
            leave_channel(found, channel)
            continue
        secrets = {
            ours: secret(one.get(theirs)) or secret(one.get(ours)) for ours, theirs in CAMEL_TOKENS[channel].items()
        }
        attention = "open" if one.get("groupPolicy") == "open" else ""
        add_account(found, FoundAccount(channel, channel, True, secrets, attention=attention), tuple(secrets))
        for person in words(one.get("allowFrom")):
            add_person(found, channel, person)


def _models(found: Found, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    presets = table(given.get("modelPresets"))
    chosen = table(presets.get(text(defaults.get("modelPreset")))) or defaults
    wanted = [chosen]
    others = defaults.get("fallbackModels")
    wanted += [
        table(presets.get(one)) if isinstance(one, str) else table(one)
        for one in (others if isinstance(others, list) else ())
    ]
    for row in wanted:
        model, provider = text(row.get("model")), text(row.get("provider"))
        if not model:
            continue
        name = model if provider in ("", "auto") or model.startswith(f"{provider}/") else f"{provider}/{model}"
        keys = table(table(given.get("providers")).get(name.partition("/")[0]))
        found.models.append(FoundModel(name, secret(keys.get("apiKey")), text(keys.get("apiBase"))))


def _job(found: Found, job: Mapping[str, Any], now: datetime) -> None:
    name = " ".join(visible(text(job.get("name"))).split()) or "unnamed"
    payload, schedule = table(job.get("payload")), table(job.get("schedule"))
    if payload.get("kind", "agent_turn") != "agent_turn":
        return  # the program's own upkeep
    if not on(job.get("enabled"), usual=True):
        found.leave(Item.SCHEDULES, name, "it is off there")
        return
    zone = text(schedule.get("tz")) or found.zone or "UTC"

    def words_of() -> str:
        match schedule.get("kind"):
            case "cron":
                return of_cron(text(schedule.get("expr")))
            case "every":
                return of_milliseconds(schedule.get("everyMs"))
            case _:
                return of_instant(since_epoch(schedule.get("atMs")), zone, now)

    channel = text(payload.get("originChannel")) or text(payload.get("channel"))
    room = text(payload.get("originChatId")) or text(payload.get("to"))
    to, prompt = destination(found, name, channel, room), text(payload.get("message"))
    if to and prompt and (when := timed(found, name, words_of)):
        found.jobs.append(FoundJob(name, when, zone, prompt, to))
