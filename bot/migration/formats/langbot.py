"""LangBot's folder: its database, with bots, pipelines and models.

Source: a folder of langbot 4.11.2 and its modules pkg/entity/persistence/, read 2026-11. It has no memories, and no work
by the clock.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from bot.migration.formats.shared import add_account, add_person, leave_channel
from bot.migration.formats.values import account_name, on, secret, table, tables, text, words
from bot.migration.found import Found, FoundAccount, FoundModel, Item
from bot.migration.home import Home
from runtime.text.glyphs import visible

LANGBOT_DATABASES: Final = ("data/langbot.db", "langbot.db")
TOKEN_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "telegram": {"token": "token"},
    "slack": {"bot_token": "bot_token", "app_token": "app_token"},
    "discord": {"token": "token"},
}
VENDORS: Final[Mapping[str, str]] = {
    "openai-chat-completions": "openai",
    "anthropic-messages": "anthropic",
    "deepseek-chat-completions": "deepseek",
    "gemini-chat-completions": "gemini",
    "groq-chat-completions": "groq",
    "mistral-chat-completions": "mistral",
    "moonshot-chat-completions": "moonshot",
    "ollama-chat": "ollama",
    "openrouter-chat-completions": "openrouter",
    "xai-chat-completions": "xai",
}
"""Its requesters, by the vendor's word in a model's name here."""
OWN_ADDRESSES: Final[Mapping[str, str]] = {"openai": "https://api.openai.com/v1"}


def read(home: Home, now: datetime) -> Found:
    """All of it. Errors: Damaged."""
    place = next(path for path in LANGBOT_DATABASES if home.has(path))
    with home.database(place) as database:
        if not _columns(database, "bots"):
            raise home.damaged(place, "there is no table of bots in it")
        found = Found("LangBot")
        bots = [_decoded(row) for row in database.execute("SELECT * FROM bots ORDER BY name, uuid LIMIT 1000")]
        accounts = {str(bot.get("uuid")): bot for bot in bots}
        for bot in bots:
            _bot(found, bot)
        for row in _rows(database, "bot_admins"):
            bot = accounts.get(str(row.get("bot_uuid")), {})
            if row.get("launcher_type") == "person" and bot:
                add_person(found, str(bot.get("adapter")), str(row.get("launcher_id")), was_admin=True)
        _pipelines(found, list(_rows(database, "legacy_pipelines")), bots)
        _models(found, list(_rows(database, "llm_models")), list(_rows(database, "model_providers")))
    found.leave(Item.OTHER, "plugins", "they are programs for LangBot alone")
    return found


def _columns(database: sqlite3.Connection, name: str) -> set[str]:
    return {row["name"] for row in database.execute("SELECT name FROM pragma_table_info(?)", (name,))}


def _rows(database: sqlite3.Connection, name: str) -> Iterator[Mapping[str, Any]]:
    if _columns(database, name):
        for row in database.execute(f"SELECT * FROM {name} LIMIT 1000"):  # noqa: S608 - names of ours
            yield _decoded(row)


def _decoded(row: sqlite3.Row) -> Mapping[str, Any]:
    """A row, with its JSON columns read; what is none stays a text."""
    return {key: _json(row[key]) for key in row.keys()}  # noqa: SIM118 - a Row iterates over its values


def _json(value: object) -> object:
    if isinstance(value, str) and value[:1] in "[{":
        try:
            return json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            return value
    return value


def _bot(found: Found, bot: Mapping[str, Any]) -> None:
    channel, given = str(bot.get("adapter")), table(bot.get("adapter_config"))
    called = text(bot.get("name")) or channel
    if channel not in TOKEN_FIELDS:
        leave_channel(found, channel, called)
        return
    taken = {one.name for one in found.accounts}
    secrets = {ours: secret(given.get(theirs)) for ours, theirs in TOKEN_FIELDS[channel].items()}
    needed, options = tuple(secrets), {}
    if channel == "slack" and not on(given.get("socket_mode")):
        secrets = {"bot_token": secret(given.get("bot_token")), "signing_secret": secret(given.get("signing_secret"))}
        needed, options = tuple(secrets), {"mode": "http"}
    add_account(
        found, FoundAccount(channel, account_name(called, taken), on(bot.get("enable")), secrets, options), needed
    )


def _pipelines(found: Found, pipelines: list[Mapping[str, Any]], bots: list[Mapping[str, Any]]) -> None:
    """The words and the allow-list of the pipeline that answers by default; others are left."""
    by_default = sorted(pipelines, key=lambda one: not on(one.get("is_default")))
    for number, pipeline in enumerate(by_default):
        name = visible(text(pipeline.get("name")) or "unnamed")
        if number:
            found.leave(Item.PROMPT, f"pipeline {name}", "the default pipeline alone is taken over")
            continue
        config = table(pipeline.get("config"))
        if prompt := "\n\n".join(_prompts(table(config.get("ai")))):
            found.prompt[f"pipeline {name}"] = prompt
        access = table(table(config.get("trigger")).get("access-control"))
        if access.get("mode") == "whitelist":
            _allowed(found, words(access.get("whitelist")), sorted({str(bot.get("adapter")) for bot in bots}))


def _prompts(ai: Mapping[str, Any]) -> Iterator[str]:
    """System prompts of the local agent: under its own name, or under the id of its plugin since 4.11."""
    for runner in (table(ai.get("local-agent")), *map(table, table(ai.get("runner_config")).values())):
        for one in tables(runner.get("prompt")):
            if one.get("role") == "system" and text(one.get("content")):
                yield text(one["content"])


def _allowed(found: Found, entries: list[str], adapters: list[str]) -> None:
    """Entries are `person_ID` and `group_ID`, for all bots of the pipeline."""
    channels = [one for one in adapters if one in TOKEN_FIELDS]
    for entry in entries:
        kind, _, ident = entry.partition("_")
        if kind != "person" or len(channels) != 1:
            why = "a room's own allow-list" if kind != "person" else "it doesn't say on which platform"
            found.leave(Item.PEOPLE, visible(entry), why, "signalbox people add NAME --identity CHANNEL:ID")
        else:
            add_person(found, channels[0], ident)


def _models(found: Found, models: list[Mapping[str, Any]], providers: list[Mapping[str, Any]]) -> None:
    by_uuid = {str(one.get("uuid")): one for one in providers}
    for model in models:
        provider = by_uuid.get(str(model.get("provider_uuid")), {})
        requester, name = text(provider.get("requester")), text(model.get("name"))
        vendor = VENDORS.get(requester)
        if vendor is None or not name:
            found.leave(Item.MODELS, visible(name), f"there is no vendor for {visible(requester) or 'it'} here")
            continue
        base = text(provider.get("base_url")).rstrip("/")
        keys = words(provider.get("api_keys"))
        own = "" if vendor != "openai" or base == OWN_ADDRESSES["openai"] else base
        found.models.append(FoundModel(f"{vendor}/{name}", secret(keys[0]) if keys else "", own))
