"""Each setting is either editable or shown with a reason, and nothing that names a program or a place is editable."""

from __future__ import annotations

import pytest

from bot.reference.settings import document
from bot.settings.editing.classes import EDITABLE, NEVER_NAMED, ONLY_SHOWN, Why, is_editable, unclassified, why_shown
from bot.settings.editing.fields import FieldKind, all_fields


def test_each_setting_is_editable_or_shown_with_a_reason() -> None:
    assert [field.path for field in unclassified()] == [], (
        "put it into EDITED or ONLY_SHOWN of bot/settings/editing/classes.py"
    )


def test_each_row_of_the_lists_is_a_setting() -> None:
    paths = all_fields().keys()
    assert set(paths) >= EDITABLE
    assert [name for name in ONLY_SHOWN if name not in paths and not any(path.startswith(name) for path in paths)] == []


def test_each_setting_of_the_reference_is_a_field() -> None:
    names = {line.split("`")[1] for line in document().splitlines() if line.startswith("| `")}
    assert names - {path.rpartition(".")[2] for path in all_fields()} <= {
        *("commands", "prefix", "glob", "regex", "min", "max", "in", "host", "inside"),  # within `policy[].where`
        *("models", "agents", "accounts", "rooms", "hooks", "event_sinks", "schedules", "workflows", "triggers"),
        *("heartbeats", "policy", "guard_rules", "interceptors", "mcp", "a2a", "logins", "git", "knowledge"),
        *("databases", "data", "rules"),
    }


def test_nothing_that_names_a_program_a_place_or_a_secret_is_editable() -> None:
    assert [path for path in EDITABLE if NEVER_NAMED.search(path.rpartition(".")[2])] == []
    assert [path for path in EDITABLE if all_fields()[path].kind is FieldKind.SECRET] == []


@pytest.mark.parametrize(
    "path",
    [
        *("data_dir", "database_url", "web.host", "web.port", "web.token_env", "model.api_base", "model.api_key_env"),
        *("mcp[].command", "mcp[].env", "mcp[].url", "interceptors[].command", "tools.folder", "tools.shell.sandbox"),
        *("tools.shell.uid", "skills.folders", "skills.NAME.secrets", "egress.allow", "egress.rules[].host"),
        *("auth.issuer", "auth.roles.owner", "programs.decide_over_mcp", "hooks[].secret", "accounts[].token_env"),
        *("rooms[].prompt_file", "schedules[].template_file", "schedules[].data[].tool", "heartbeats[].tool"),
        *("secrets.file", "metrics.port", "telemetry.endpoint", "databases[].url", "git[].url", "guard.secrets"),
        *("agents[].tools", "agents[].effects", "retention.audit_days"),
    ],
)
def test_it_is_only_shown_with_words(path: str) -> None:
    assert path in all_fields()
    assert not is_editable(path)
    assert why_shown(path) in list(Why)


def test_an_unknown_setting_is_never_editable() -> None:
    assert not is_editable("policy[].command")
    assert not is_editable("budgets.day ")
    assert why_shown("something.new")
