"""Edits: only what is listed, only of the file, and nobody locked out or let in by accident."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.settings.editing.diffs import unified
from bot.settings.editing.documents import changed
from bot.settings.editing.edits import Edit, EditVerb, Fault, changes_of
from bot.settings.editing.guards import Editor, objections, widened
from bot.settings.settings import Settings, load
from runtime.errors import ConfigError

FILE = """\
[model]
name = "openai/gpt-4o-mini"

[[models]]
name = "own"
model = "openai/local"
api_base = "http://127.0.0.1:9000/v1"
api_key_env = "OWN_KEY"

[access]
owners = ["telegram:1", "telegram:2"]
approvers = ["telegram:1"]

[[policy]]
tool = "shell"
result = "deny"

[[mcp]]
name = "files"
command = "files-server"
env = { TOKEN = "hunter2hunter2" }

[[rooms]]
address = "web:*"
people = ["Ada"]
"""
ADA = Editor(
    frozenset({"Ada", "telegram:1"}),
    frozenset({"Ada", "telegram:1", "Bo", "telegram:2"}),
    frozenset({"Ada", "telegram:1"}),
)


def settings(folder: Path, text: str = FILE, **variables: str) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text(text)
    return load(file, environ=variables, demand=())


def faults(edit: Edit, of: Settings, text: str = FILE) -> list[Fault]:
    changes, found = changes_of(edit, text, of)
    if found:
        return found
    after = of.with_text(changed(text, changes))
    return objections(of, after, tomllib.loads(text), changes, ADA)


def more(edit: Edit, of: Settings) -> list[str]:
    changes, found = changes_of(edit, FILE, of)
    assert not found
    return widened(of, of.with_text(changed(FILE, changes)))


@pytest.mark.parametrize(
    ("name", "verb", "values"),
    [
        ("mcp", "add", {"name": "x", "command": "sh"}),
        ("mcp[1]", "set", {"command": "sh"}),
        ("mcp[1]", "set", {"env": {"LD_PRELOAD": "x"}}),
        ("mcp[1]", "remove", {}),
        ("interceptors", "add", {"name": "x", "command": ["sh"]}),
        ("hooks", "add", {"name": "x"}),
        ("accounts", "add", {"channel": "telegram", "name": "x", "token_env": "PATH"}),
        ("web", "set", {"port": 1}),
        ("web", "set", {"token": "x" * 20}),
        ("policy", "add", {"tool": "x", "result": "allow", "command": "sh"}),
        ("policy[1]", "set", {"tool.x": "y"}),
        ("policy[1].where", "set", {"x": {}}),
        ("policy[1", "set", {"tool": "x"}),
        ("policy[01]", "set", {"tool": "x"}),
        ("policy[9]", "set", {"tool": "x"}),
        ("policy[1]\n[web]", "set", {"port": 1}),
        ("pοlicy[1]", "set", {"tool": "x"}),  # noqa: RUF001 - a Greek letter
        ("models[1]", "set", {"api_base": "http://evil.example"}),
        ("models[1]", "remove", {}),
        ("models", "add", {"name": "x", "model": "openai/x", "api_base": "http://evil.example"}),
        ("rooms[1]", "set", {"prompt_file": "/etc/passwd"}),
        ("schedules", "add", {"name": "x", "when": "0 9 * * *", "to": ["web:main/x"], "template_file": "/etc/passwd"}),
        ("schedules", "add", {"name": "x", "data": [{"name": "a", "tool": "shell", "arguments": {}}]}),
        ("tools", "set", {"folder": "/tmp"}),
        ("auth.roles", "set", {"owner": ["*"]}),
        ("", "set", {"data_dir": "/tmp"}),
        ("skills.x", "set", {"secrets": ["HOME"]}),
        ("egress.rules", "add", {"result": "allow"}),
        ("access", "set", {"__class__": "x"}),
        ("budgets", "set", {"day": "5\n[web]\nport = 1"}),
        ("budgets", "set", {"day": "5 # x\n[[mcp]]"}),
        ("budgets", "set", {"day": float("inf")}),
        ("budgets", "set", {"day": 10**40}),
        ("policy[1]", "set", {"tool": "sh\u202ell"}),
        ("policy[1]", "set", {"tool": "a\nb"}),
        ("policy[1]", "set", {"tool": "\ud800"}),
        ("policy[1]", "set", {"where": {"a\u202e": {"prefix": ["x"]}}}),
        ("policy[1]", "set", {"where": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}}}}),
        ("model", "set", {"name": "huggingface/https://evil.example/v1"}),
        ("model", "set", {"name": "acme/theirs"}),
        ("models[1]", "set", {"model": "anthropic/claude"}),
        ("access", "set", {"owners": []}),
        ("access", "set", {"owners": ["telegram:2"]}),
        ("access", "set", {"blocked": ["ada"]}),
        ("access", "set", {"blocked": ["telegram:2"]}),
        ("access", "set", {"approvers": ["telegram:99"]}),
        ("rooms[1]", "set", {"blocked": ["Ada"]}),
    ],
)
def test_it_is_refused_in_words(name: str, verb: str, values: Mapping[str, Any], tmp_path: Path) -> None:
    found = faults(Edit(name, EditVerb(verb), values), settings(tmp_path))
    assert found
    assert all(fault.words for fault in found)


@pytest.mark.parametrize(
    ("name", "verb", "values"),
    [
        ("budgets", "set", {"day": "5.5"}),
        ("policy[1]", "set", {"where": '{command = {commands = ["ls"]}}'}),
        ("policy[1]", "set", {"reason": 'says "no" \\ #[[mcp]]'}),
        ("policy", "add", {"tool": "x", "result": "veto"}),
        ("policy[1]", "remove", {}),
        ("rooms", "add", {"address": "web:main/x", "prompt": "Be kind.\nAnd short. {{ date }}"}),
        ("model", "set", {"name": "anthropic/claude-sonnet-4-5", "temperature": "0.2", "stop": "a\nb"}),
        ("models[1]", "set", {"for": "coding"}),
        ("access", "set", {"blocked": "telegram:77\nMallory", "self_approval": "false"}),
        ("schedules", "add", {"name": "x", "when": "0 9 * * *", "to": "web:main/reports", "prompt": "Hello."}),
    ],
)
def test_it_is_taken(name: str, verb: str, values: Mapping[str, Any], tmp_path: Path) -> None:
    assert faults(Edit(name, EditVerb(verb), values), settings(tmp_path)) == []


OWN_KEY = """\
[model]
name = "openai/gpt-4o"
api_key_env = "OUR_KEY"

[[models]]
name = "gpt-cheap"
model = "groq/llama"

[[models]]
name = "gpt-own"
model = "openai/local"
api_base = "http://10.0.0.9/v1"

[[models]]
name = "theirs"
model = "openai/x"
api_base = "http://10.0.0.9/v1"
api_key_env = "THEIR_KEY"

[[models]]
name = "alias"
model = "theirs"
"""


@pytest.mark.parametrize(
    ("name", "verb", "values"),
    [
        ("model", "set", {"name": "gpt-cheap"}),
        ("model", "set", {"name": "gpt-own"}),
        ("models[3]", "set", {"model": "gpt-cheap"}),
        ("models[4]", "set", {"model": "groq/llama"}),
        ("models", "add", {"name": "more", "model": "theirs"}),
    ],
)
def test_no_key_goes_to_another_place_by_a_name_that_stands_for_another(
    name: str, verb: str, values: Mapping[str, Any], tmp_path: Path
) -> None:
    """A name begins like the vendor's, and stands for a model at another one, or at another address."""
    found = faults(Edit(name, EditVerb(verb), values), settings(tmp_path, OWN_KEY), OWN_KEY)
    harmless = [("models[4]", "groq/llama"), ("models", "theirs")]
    assert bool(found) == ((name, values.get("model")) not in harmless), found


def test_an_address_takes_no_usual_key_of_another_vendor(tmp_path: Path) -> None:
    text = '[model]\nname = "openai/a"\napi_base = "http://10.0.0.9/v1"\n\n[[models]]\nname = "gpt-x"\nmodel = "anthropic/claude"\n'
    assert faults(Edit("model", values={"name": "gpt-x"}), settings(tmp_path, text), text)
    assert not faults(Edit("model", values={"name": "openai/b"}), settings(tmp_path, text), text)


def test_a_diff_shows_what_changes_beside_a_secret_on_its_line() -> None:
    before = 'model = { name = "openai/a", api_key = "a-long-secret-value" }\n'
    shown = unified("x", before, before.replace("openai/a", "openai/b"), str)
    assert "openai/a" in shown
    assert "openai/b" in shown
    assert "a-long-secret" not in shown


def test_faults_of_the_reader_are_those_of_a_start(tmp_path: Path) -> None:
    changes, _ = changes_of(Edit("policy[1]", values={"result": "maybe", "quorum": "0"}), FILE, settings(tmp_path))
    with pytest.raises(ConfigError, match=r"(?s)policy\[1\].result: got .*policy\[1\].quorum: got "):
        settings(tmp_path).with_text(changed(FILE, changes))


def test_what_a_variable_a_flag_or_another_file_says_is_refused(tmp_path: Path) -> None:
    given = settings(tmp_path, SIGNALBOX_BUDGETS__DAY="3", SIGNALBOX_POLICY='[{tool = "x", result = "ask"}]')
    assert "SIGNALBOX_BUDGETS__DAY" in faults(Edit("budgets", values={"day": "5"}), given)[0].words
    assert "SIGNALBOX_POLICY" in faults(Edit("policy[1]", values={"tool": "y"}), given)[0].words
    assert "SIGNALBOX_POLICY" in faults(Edit("policy", EditVerb.ADD, {"tool": "y", "result": "ask"}), given)[0].words
    flagged = load(tmp_path / "signalbox.toml", {"budgets.day": 2.0}, environ={}, demand=())
    assert "command line" in faults(Edit("budgets", values={"day": "5"}), flagged)[0].words
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "ops.toml").write_text('prompt = "Hello."\n')
    assert "ops.toml" in faults(Edit("agents[1]", values={"prompt": "Hi."}), settings(tmp_path))[0].words


def test_what_stands_there_already_is_no_change(tmp_path: Path) -> None:
    values = {"default": "pair", "owners": "telegram:1\ntelegram:2", "self_approval": "true", "rooms": ""}
    assert changes_of(Edit("access", values=values), FILE, settings(tmp_path)) == ([], [])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("access", {"owners": ["telegram:1", "telegram:2", "telegram:3"]}),
        ("access", {"approvers": ["telegram:1", "telegram:3"]}),
        ("access", {"approvers": None}),
        ("access", {"default": "allow"}),
        ("access", {"bots": ["telegram:9"]}),
        ("access", {"rooms": "open"}),
        ("rooms[1]", {"people": None}),
        ("policy[1]", {"result": "allow"}),
        ("policy[1]", {"tool": "other"}),
        ("operators", {"room": "web:main/x"}),
    ],
)
def test_it_widens_and_wants_a_second_yes(name: str, values: Mapping[str, Any], tmp_path: Path) -> None:
    assert more(Edit(name, values=values), settings(tmp_path))


def test_what_narrows_wants_no_second_yes(tmp_path: Path) -> None:
    assert more(Edit("access", values={"blocked": ["telegram:5"], "self_approval": False}), settings(tmp_path)) == []
    assert more(Edit("policy", EditVerb.ADD, {"tool": "fetch", "result": "deny"}), settings(tmp_path)) == []
    assert more(Edit("budgets", values={"day": 1}), settings(tmp_path)) == []


def test_a_diff_shows_no_secret_and_no_hidden_sign() -> None:
    before = (
        FILE
        + '\n[web]\ntoken = """\nlong-secret-long-secret\nof-two-lines\n"""\n# token = "an-old-secret-value"\nport = 1\n'
    )
    before += 'accounts = [{ channel = "x", token = "within-a-table" }]\n[budgets]\nagent_tokens_hour = 5\n'
    after = before.replace("port = 1", "port = 2").replace("_hour = 5", "_hour = 6").replace("Ada", "A\u202eda")
    shown = unified("x", before, after, str)
    for secret in ("long-secret", "of-two", "an-old-secret", "within-a-table", "hunter2", "\u202e"):
        assert secret not in shown
    assert "-port = 1\n+port = 2" in shown
    assert "+agent_tokens_hour = 6" in shown
    assert "U+202E" in shown
