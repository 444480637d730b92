"""Settings that an owner may change in the page, and the reason for which every other one is only shown.

The list of what may be changed names each setting by itself: a new setting is refused until somebody puts it here, and a
test asks for a row of each. What names a program, a path, a sandbox, a user, an exception of egress, a database, an
address that is listened on or a place of keys never stands in it: `NEVER_NAMED` holds the words by which such settings
are called, and the same test looks for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from bot.settings.editing.fields import SettingField, all_fields
from runtime.text.words import marked, say


class Why(StrEnum):
    """Reasons for which a setting is only shown."""

    PROGRAM = marked("It names a program, or says how programs run here.")
    PLACE = marked("It names a file or a folder on this machine.")
    NETWORK = marked("It opens a way into the network, or names an address that is asked.")
    DATABASE = marked("It says where everything is kept.")
    LISTENING = marked("It says where this page and other doors are reached.")
    DOOR = marked("It decides who gets in by another way than this page.")
    KEY = marked("It is a secret, or says where one is kept.")
    GUARD = marked("It protects what must not leak, and what is kept as proof.")
    UNATTENDED = marked("It calls tools or begins work without anybody asking.")
    CAPABILITY = marked("It decides what an agent is able to do at all.")
    OPERATION = marked("It is for the people who run the machine: it bounds memory, disk or time.")


EDITED: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("language",),
    "budgets": (
        *("day", "month", "person_day", "room_day", "agent_day", "agent_tokens_hour", "agent_calls_hour"),
        *("warn_at", "over", "unpriced", "hold"),
    ),
    "model": (
        *("name", "context_tokens", "input_price", "output_price", "temperature", "top_p", "max_tokens", "reasoning"),
        *("seed", "stop", "stream", "images", "timeout_seconds", "fallbacks"),
    ),
    "models[]": (
        *("name", "model", "for", "least_complexity", "context_tokens", "input_price", "output_price", "temperature"),
        *("top_p", "max_tokens", "reasoning", "seed", "stop"),
    ),
    "embeddings": ("name", "input_price", "timeout_seconds"),
    "images": ("name", "price", "timeout_seconds"),
    "transcription": ("name", "price", "timeout_seconds"),
    "speech": ("name", "voice", "format", "max_chars", "price", "timeout_seconds"),
    "agents[]": ("prompt", "model", "budget_day", "tokens_per_hour", "tool_calls_per_minute"),
    "access": ("default", "owners", "approvers", "self_approval", "rooms", "blocked", "bots", "bots_in_a_row"),
    "feedback": ("readers",),
    "rooms[]": (
        *("address", "attention", "people", "blocked", "busy", "prompt", "tools", "secrets", "personal", "language"),
    ),
    "sessions": ("busy", "freshness_hours", "rest_hours", "restore"),
    "operators": ("room", "after_seconds"),
    "schedules[]": (
        *("name", "when", "zone", "prompt", "template", "report", "workflow", "agent", "options", "to", "starts"),
        *("ends", "misfire", "catch_up", "window_minutes", "jitter_seconds", "thread", "quiet", "max_cost"),
    ),
    "planning": ("zone", "per_person", "per_room", "least_interval_minutes"),
    "policy[]": (
        *("tool", "effect", "agent", "room", "person", "arguments", "where", "result", "tainted", "limit", "reason"),
        *("name", "to", "approvers", "quorum", "four_eyes", "expires_hours", "remind_hours", "reason_required"),
        *("edit", "grants"),
    ),
    "approvals": ("to", "remind_hours", "escalate_hours", "escalate_to", "expires_hours"),
}
"""Settings that owners may change in the page, by table."""

ONLY_SHOWN: Final[Mapping[str, Why]] = {
    "data_dir": Why.PLACE,
    "workspace_dir": Why.PLACE,
    "database_url": Why.DATABASE,
    "database_url_env": Why.DATABASE,
    "database_listen_url": Why.DATABASE,
    "database_listen_url_env": Why.DATABASE,
    "web.": Why.LISTENING,
    "model.api_base": Why.NETWORK,
    "model.api_key": Why.KEY,
    "model.api_key_env": Why.KEY,
    "model.api_keys": Why.KEY,
    "model.api_key_envs": Why.KEY,
    "model.login": Why.KEY,
    "model.organization": Why.KEY,
    "model.preload": Why.OPERATION,
    "model.lean": Why.OPERATION,
    "models[].api_base": Why.NETWORK,
    "models[].api_key": Why.KEY,
    "models[].api_key_env": Why.KEY,
    "models[].api_keys": Why.KEY,
    "models[].api_key_envs": Why.KEY,
    "models[].login": Why.KEY,
    "models[].organization": Why.KEY,
    "embeddings.api_base": Why.NETWORK,
    "embeddings.api_key": Why.KEY,
    "embeddings.api_key_env": Why.KEY,
    "images.api_base": Why.NETWORK,
    "images.api_key": Why.KEY,
    "images.api_key_env": Why.KEY,
    "transcription.api_base": Why.NETWORK,
    "transcription.api_key": Why.KEY,
    "transcription.api_key_env": Why.KEY,
    "speech.api_base": Why.NETWORK,
    "speech.api_key": Why.KEY,
    "speech.api_key_env": Why.KEY,
    "agents[].name": Why.CAPABILITY,
    "agents[].prompt_file": Why.PLACE,
    "agents[].tools": Why.CAPABILITY,
    "agents[].effects": Why.CAPABILITY,
    "agents[].memory": Why.CAPABILITY,
    "agents[].skills": Why.CAPABILITY,
    "agents[].rooms": Why.CAPABILITY,
    "agents[].people": Why.CAPABILITY,
    "agents[].roles": Why.CAPABILITY,
    "agents[].accounts": Why.CAPABILITY,
    "agents[].channels": Why.CAPABILITY,
    "agents[].mentions": Why.CAPABILITY,
    "agents[].delegates_to": Why.CAPABILITY,
    "agents[].children": Why.CAPABILITY,
    "agents[].depth": Why.CAPABILITY,
    "agents[].harness": Why.CAPABILITY,
    "agents[].executor": Why.PROGRAM,
    "agents[].program.": Why.PROGRAM,
    "agents[].answers": Why.PROGRAM,
    "auth.": Why.DOOR,
    "accounts[].": Why.KEY,
    "rooms[].prompt_file": Why.PLACE,
    "hooks[].": Why.DOOR,
    "event_sinks[].": Why.NETWORK,
    "schedules[].template_file": Why.PLACE,
    "schedules[].data[].": Why.UNATTENDED,
    "workflows[].": Why.UNATTENDED,
    "programs.": Why.DOOR,
    "goals.": Why.OPERATION,
    "triggers[].": Why.UNATTENDED,
    "heartbeats[].": Why.UNATTENDED,
    "guard.": Why.GUARD,
    "guard_rules[].": Why.GUARD,
    "interceptors[].": Why.PROGRAM,
    "sessions.file_mib": Why.OPERATION,
    "sessions.message_files_mib": Why.OPERATION,
    "sessions.file_seconds": Why.OPERATION,
    "run.prompt_file": Why.PLACE,
    "run.max_iterations": Why.OPERATION,
    "run.max_crashes": Why.OPERATION,
    "run.hand_overs": Why.OPERATION,
    "run.approval_hours": Why.OPERATION,
    "run.guard.": Why.OPERATION,
    "memory.": Why.CAPABILITY,
    "tools.": Why.PROGRAM,
    "mcp[].": Why.PROGRAM,
    "a2a[].": Why.NETWORK,
    "logins[].": Why.KEY,
    "git[].": Why.NETWORK,
    "knowledge[].": Why.PLACE,
    "skills.": Why.PROGRAM,
    "databases[].": Why.DATABASE,
    "egress.": Why.NETWORK,
    "files.": Why.OPERATION,
    "outbox.": Why.OPERATION,
    "nodes.": Why.OPERATION,
    "retention.": Why.GUARD,
    "secrets.": Why.KEY,
    "log.": Why.OPERATION,
    "metrics.": Why.LISTENING,
    "telemetry.": Why.NETWORK,
    "push.": Why.NETWORK,
}
"""Settings that are only shown, with the reason; a name that ends with a dot stands for a whole table."""

NEVER_NAMED: Final = re.compile(
    r"(^|_)(command|args|env|envs|file|folder|folders|path|cwd|uid|sandbox|network|host|hosts|port|url|api_base|api_base_url|"
    r"token|secret|key|keys|login|package|executor|installed|endpoint|issuer|database|data_dir)$"
)
"""Words that end the names of what never may be changed here."""

EDITABLE: Final = frozenset(f"{table}.{name}".removeprefix(".") for table, names in EDITED.items() for name in names)
REPEATED: Final = frozenset({"models", "rooms", "schedules", "policy"})
"""Lists of tables of which whole tables come and go; those of others are only changed."""
ORDERED: Final = frozenset({"rooms", "policy"})
"""Lists of which the first table that fits decides."""


def is_editable(path: str) -> bool:
    return path in EDITABLE


def why_shown(path: str) -> str:
    """The reason for which a setting is only shown; empty for one that may be changed. A setting without one is unknown."""
    if path in EDITABLE:
        return ""
    whole = (
        reason for name, reason in ONLY_SHOWN.items() if path == name or (name.endswith(".") and path.startswith(name))
    )
    return say(next(whole, Why.OPERATION))


def unclassified() -> list[SettingField]:
    """Settings that stand in neither list, or in both: nobody has thought about them yet."""
    return [field for field in all_fields().values() if _rows_of(field.path) != 1]


def _rows_of(path: str) -> int:
    shown = [name for name in ONLY_SHOWN if path == name or (name.endswith(".") and path.startswith(name))]
    return len(shown) + (path in EDITABLE)
