"""Hermes Agent's folder: `config.yaml`, `.env`, memories, jobs and pairings.

Source: a folder of hermes-agent 0.19.0 and its modules cron/jobs.py, gateway/authz_mixin.py, gateway/pairing.py and
tools/memory_tool.py, read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from bot.migration.formats.clocks import NoTime, instant, of_cron, of_instant, of_interval
from bot.migration.formats.shared import (
    add_account,
    add_person,
    add_prompt,
    add_skills,
    destination,
    leave_channel,
    timed,
)
from bot.migration.formats.values import on, secret, table, tables, text
from bot.migration.found import Found, FoundAccount, FoundJob, FoundMemory, FoundModel, Item
from bot.migration.home import Home
from bot.secrets.model_keys import names as key_names
from runtime.text.glyphs import visible

HERMES_SETTINGS: Final = "config.yaml"
VARIABLES: Final = ".env"
JOBS: Final = "cron/jobs.json"
MEMORY_FILES: Final = ("memories/MEMORY.md", "memories/USER.md")
BETWEEN: Final = "\n§\n"
"""Stands between two entries of a memory file."""
PAIRINGS: Final = ("platforms/pairing", "pairing")
APPROVED: Final = "-approved.json"
TOKEN_VARIABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "telegram": {"token": "TELEGRAM_BOT_TOKEN"},
    "slack": {"bot_token": "SLACK_BOT_TOKEN", "app_token": "SLACK_APP_TOKEN"},
    "discord": {"token": "DISCORD_BOT_TOKEN"},
}
TOKENS: Final = ("_BOT_TOKEN", "_TOKEN", "_API_TOKEN", "_ACCESS_TOKEN")
OTHERS: Final = ("WHATSAPP", "SIGNAL", "EMAIL", "SMS", "MATRIX", "MATTERMOST", "FEISHU", "DINGTALK", "WECOM", "QQ")
"""Platforms that it has and Signalbox has not, as its variables begin."""


def read(home: Home, now: datetime) -> Found:
    """All of it. Errors: Damaged."""
    given = home.yaml(HERMES_SETTINGS)
    variables = {**_of_settings(given), **_variables(home.optional(VARIABLES, most=1 << 20))}
    found = Found("Hermes Agent", zone=text(given.get("timezone")))
    _channels(found, variables)
    _paired(home, found)
    _models(found, given, variables)
    add_prompt(home, found, "", "SOUL.md", "AGENTS.md")
    for path in MEMORY_FILES:
        entries = (" ".join(one.split()) for one in home.optional(path).split(BETWEEN))
        found.memories += [FoundMemory(one, path) for one in entries if one]
    add_skills(home, found, "skills", depth=3)
    for job in tables(home.values(JOBS).get("jobs")) if home.has(JOBS) else ():
        _job(found, job, now)
    return found


def _of_settings(given: Mapping[str, Any]) -> dict[str, str]:
    """Variables that `hermes config set` put into the settings."""
    return {str(key): str(value) for key, value in given.items() if str(key).isupper() and isinstance(value, str | int)}


def _variables(lines: str) -> dict[str, str]:
    return dict(_pairs(lines))


def _pairs(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.splitlines():
        name, sign, value = line.strip().removeprefix("export ").partition("=")
        if sign and not name.startswith("#"):
            plain = value.strip()
            quoted = len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'"
            yield name.strip(), plain[1:-1] if quoted else plain


def _channels(found: Found, variables: Mapping[str, str]) -> None:
    for channel, needed in TOKEN_VARIABLES.items():
        prefix = channel.upper()
        secrets = {ours: secret(variables.get(theirs, "")) for ours, theirs in needed.items()}
        if any(secrets.values()):
            add_account(found, FoundAccount(channel, channel, True, secrets), tuple(secrets))
        for person in filter(None, map(str.strip, variables.get(f"{prefix}_ALLOWED_USERS", "").split(","))):
            add_person(found, channel, person)
        if on_word(variables.get(f"{prefix}_ALLOW_ALL_USERS", "")):
            add_person(found, channel, "*")
    for prefix in OTHERS:
        if any(variables.get(f"{prefix}{end}") for end in TOKENS) or on_word(variables.get(f"{prefix}_ENABLED", "")):
            leave_channel(found, prefix.lower())


def on_word(value: str) -> bool:
    return value.strip().lower() in ("1", "true", "yes", "on")


def _paired(home: Home, found: Found) -> None:
    for folder in PAIRINGS:
        for name in home.names(folder):
            if name.endswith(APPROVED):
                for person, about in home.values(f"{folder}/{name}").items():
                    called = " ".join(visible(text(table(about).get("user_name"))).split())
                    add_person(found, name.removesuffix(APPROVED), str(person), called)


def _models(found: Found, given: Mapping[str, Any], variables: Mapping[str, str]) -> None:
    model = given.get("model")
    named = text(model) or text(table(model).get("default"))
    provider = text(table(model).get("provider"))
    if not named:
        return
    if provider in ("openrouter",) and not named.startswith("openrouter/"):
        named = f"openrouter/{named}"
    base = text(table(model).get("base_url"))
    if provider == "custom" and base and not named.startswith("openai/"):
        named = f"openai/{named}"
    key = next((secret(variables[name]) for name in key_names(named) if variables.get(name)), "")
    found.models.append(FoundModel(named, key, base))


def _job(found: Found, job: Mapping[str, Any], now: datetime) -> None:
    name = " ".join(visible(text(job.get("name"))).split()) or "unnamed"
    schedule, deliver = table(job.get("schedule")), text(job.get("deliver"))
    if not on(job.get("enabled"), usual=True):
        found.leave(Item.SCHEDULES, name, "it is off there")
        return
    if text(job.get("script")):
        found.leave(Item.SCHEDULES, name, "it runs a script", "A workflow or a heartbeat can do that.")
        return
    zone = found.zone or "UTC"

    def words_of() -> str:
        match schedule.get("kind"):
            case "cron":
                return of_cron(text(schedule.get("expr")))
            case "interval":
                minutes = schedule.get("minutes")
                if not isinstance(minutes, int) or not 0 < minutes < 10**6:
                    raise NoTime("its time can't be read")
                return of_interval(timedelta(minutes=minutes))
            case _:
                return of_instant(instant(text(schedule.get("run_at")), zone), zone, now)

    origin = table(job.get("origin"))
    channel, _, room = deliver.partition(":")
    if deliver == "origin":
        channel, room = text(origin.get("platform")), str(origin.get("chat_id") or "")
    to, prompt = destination(found, name, channel, room), text(job.get("prompt"))
    if to and prompt and (when := timed(found, name, words_of)):
        found.jobs.append(FoundJob(name, when, zone, prompt, to))
