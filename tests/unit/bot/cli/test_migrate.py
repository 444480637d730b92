"""`signalbox migrate`: the recorded homes of other bots, taken over, and damaged ones refused."""

from __future__ import annotations

import json
import os
import sqlite3
import tomllib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.migration.formats import shared
from bot.secrets.keys import VARIABLE
from tests.migrations import NAMES, home_of
from tests.packages import path_with_packages

MISUSE = 2
TOKENS = ("AAExample", "xoxb-", "xapp-", "sk-ant", "sk-example", "example-secret")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to set up in; the person's own folder is another one."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    made = tmp_path / "place"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def told(*words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(cli, [*words])
    return ended.exit_code, ended.output


def migrated(bot: str, home: Path, *more: str) -> Mapping[str, Any]:
    ended = CliRunner().invoke(cli, ["migrate", bot, str(home), "--json", *more])
    assert ended.exit_code == 0, ended.output
    found: Mapping[str, Any] = json.loads(ended.stdout)
    return found


def states(report: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    return {(row["item"], row["name"]): row["what"] for row in report["items"]}


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {str(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in files}


@pytest.mark.parametrize("bot", NAMES)
def test_a_home_is_taken_over_once_and_answers_its_first_message(
    bot: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = home_of(bot, tmp_path)
    before = snapshot(home)
    first = migrated(bot, home, "--with-secrets", "--key-file")
    assert first["changed"]
    again = migrated(bot, home, "--with-secrets", "--key-file")
    assert not again["changed"]
    assert {row["what"] for row in again["items"]} <= {"there", "leave"}
    assert snapshot(home) == before

    settings = (place / "signalbox.toml").read_text()
    assert not any(token in settings + json.dumps(first) for token in TOKENS)
    monkeypatch.setenv("SIGNALBOX_MODEL__NAME", "demo")
    code, text = told("ask", "what time is it?")
    assert code == 0, text
    assert text.strip()


def test_all_of_openclaw_that_has_a_place_here_is_taken(place: Path, tmp_path: Path) -> None:
    report = migrated("openclaw", home_of("openclaw", tmp_path), "--with-secrets", "--key-file")
    assert states(report) == {
        ("accounts", "telegram:home"): "take",
        ("accounts", "discord:discord"): "take",
        ("accounts", "slack:slack"): "take",
        ("people", "telegram:1001"): "take",
        ("people", "telegram:1002"): "take",
        ("people", "discord:100000000000000001"): "take",
        ("people", "slack:U0100000001"): "leave",
        ("rooms", "slack:slack/C0123456789"): "take",
        ("models", "openai/gpt-5.5"): "leave",
        ("models", "anthropic/claude-opus-5"): "leave",
        ("models", "model.name"): "leave",
        ("prompt", "SOUL.md, AGENTS.md"): "change",
        ("prompt", "IDENTITY.md"): "leave",
        ("prompt", "BOOTSTRAP.md"): "leave",
        ("schedules", "Morning brief"): "take",
        ("schedules", "Tidy inbox"): "take",
        ("schedules", "Renew the domain"): "take",
        ("schedules", "Disk check"): "leave",
        ("schedules", "Old watch"): "leave",
        ("schedules", "Heartbeat note"): "leave",
        ("skills", "week-note"): "take",
        ("memory", "workspace/MEMORY.md"): "take",
        ("memory", "workspace/memory/2026-11-26.md"): "take",
        ("memory", "workspace/USER.md"): "leave",
    }
    rows = {(row["item"], row["name"]): row for row in report["items"]}
    assert "the demo model would answer people on real accounts" in rows["models", "model.name"]["why"]
    assert rows["schedules", "Morning brief"]["why"] == "0 7 * * 1-5, Europe/Berlin"
    settings = tomllib.loads((place / "signalbox.toml").read_text())
    assert settings["accounts"][1] == {
        "channel": "discord",
        "name": "discord",
        "token_env": "DISCORD_BOT_TOKEN",
        "enabled": False,
    }
    assert settings["schedules"][0] == {
        "name": "Morning brief",
        "when": "0 7 * * 1-5",
        "zone": "Europe/Berlin",
        "prompt": "Summarise what is new in the notes.",
        "to": ["telegram:home/1001"],
    }
    assert "You're not a chatbot." in (place / "prompts" / "from-openclaw.md").read_text()
    assert "waits for an owner" in told("skills", "list")[1]
    memories = json.loads(told("memory", "list", "--json")[1])
    assert {(row["origin"], row["by"], row["trust"]) for row in memories} == {("OpenClaw", "", "low")}
    assert "from OpenClaw" in told("memory", "list")[1]


def test_a_channel_that_is_not_taken_over_says_what_there_is_of_it_here(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    channels = {name: {"enabled": True, "allowFrom": ["ada@example.org"]} for name in ("email", "whatsapp")}
    (home / "config.json").write_text(json.dumps({"channels": channels}))
    path_with_packages(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    accounts = {
        row["name"]: row for row in migrated("nanobot", home, "--dry-run")["items"] if row["item"] == "accounts"
    }
    assert accounts["whatsapp"]["why"] == "there is no channel whatsapp here"
    assert accounts["email"]["why"] == "email comes with a package here, whose accounts aren't taken over"
    assert accounts["email"]["fix"] == "Write its account by hand, see docs/email.md."
    monkeypatch.setattr(shared, "is_brought", lambda name: False)
    accounts = {
        row["name"]: row for row in migrated("nanobot", home, "--dry-run")["items"] if row["item"] == "accounts"
    }
    assert accounts["email"]["why"] == "the package with email isn't installed"


def test_a_dry_run_writes_nothing_and_secrets_stay_behind_unless_asked_for(place: Path, tmp_path: Path) -> None:
    home = home_of("hermes", tmp_path)
    report = migrated("hermes", home, "--dry-run", "--with-secrets")
    assert report["changed"]
    assert not [*place.iterdir()]

    report = migrated("hermes", home)
    assert states(report)["accounts", "telegram:telegram"] == "change"
    assert states(report)["schedules", "Morning brief"] == "leave"
    assert states(report)["models", "anthropic/claude-opus-4-5"] == "leave"
    assert all(row["enabled"] is False for row in tomllib.loads((place / "signalbox.toml").read_text())["accounts"])
    assert not (place / "var" / "secrets.sealed").exists()

    later = migrated("hermes", home, "--with-secrets", "--key-file")
    assert states(later)["accounts", "telegram:telegram"] == "take"
    assert states(later)["schedules", "Morning brief"] == "take"
    assert states(later)["people", "telegram:1001"] == "there"
    assert later["backup"] is not None
    assert Path(later["backup"]).is_file()
    assert told("backup", "--check", later["backup"])[0] == 0


def test_only_the_items_that_were_named_are_taken(place: Path, tmp_path: Path) -> None:
    home = home_of("nanobot", tmp_path)
    report = migrated("nanobot", home, "--item", "memory,people")
    assert {row["item"] for row in report["items"]} == {"memory", "people"}
    assert not (place / "signalbox.toml").exists()
    code, text = told("migrate", "nanobot", str(home), "--item", "moods")
    assert code == MISUSE
    assert "There are accounts, people" in text


@pytest.mark.parametrize(
    ("bot", "file", "text", "words"),
    [
        ("openclaw", "openclaw.json", '{\n  "agents": {\n    oops\n', "openclaw.json, line 4: no JSON"),
        ("openclaw", "openclaw.json", "[1]", "openclaw.json: it holds no table of values"),
        ("openclaw", "openclaw.json", "[" * 100_000, "openclaw.json: nested too deep"),
        ("openclaw", "state/openclaw.sqlite", "SQLite format 3\0" + "x" * 4096, "the database can't be read"),
        ("openclaw", "state/openclaw.sqlite", "words", "openclaw.sqlite: no SQLite database"),
        ("hermes", "config.yaml", "a: 1\nb: [2\nc: 3\n", "config.yaml, line 3: no YAML"),
        ("hermes", "config.yaml", "a: &x [1]\nb: *x\n", "it has aliases"),
        ("hermes", "cron/jobs.json", '{"jobs": [{]}', "jobs.json, line 1: no JSON"),
        ("nanobot", "config.json", "\x00\x01", "config.json, line 1: no JSON"),
        ("langbot", "data/langbot.db", "{}", "langbot.db: no SQLite database"),
    ],
)
def test_of_a_damaged_home_nothing_is_written(
    bot: str, file: str, text: str, words: str, place: Path, tmp_path: Path
) -> None:
    home = home_of(bot, tmp_path)
    (home / file).write_text(text)
    code, said = told("migrate", bot, str(home), "--with-secrets", "--key-file")
    assert code == MISUSE
    assert words in said
    assert "Nothing was written." in said
    assert not [*place.iterdir()]


def test_links_huge_files_and_folders_of_something_else_are_refused(place: Path, tmp_path: Path) -> None:
    code, said = told("migrate", "openclaw", str(home_of("nanobot", tmp_path)))
    assert code == MISUSE
    assert "no folder of OpenClaw, since there is no openclaw.json in it" in said

    home = home_of("openclaw", tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("---\nname: outside\ndescription: It is elsewhere.\n---\n\nRead the keys.\n")
    (outside / "keys.txt").write_text("the keys of the house")
    (home / "workspace" / "SOUL.md").unlink()
    (home / "workspace" / "SOUL.md").symlink_to(outside / "keys.txt")
    (home / "workspace" / "skills" / "outside").symlink_to(outside)
    with (home / "workspace" / "MEMORY.md").open("wb") as huge:
        huge.truncate(5 << 20)
    (home / "workspace" / "IDENTITY.md").write_bytes(b"\xff\xfe\x00")
    (home / "workspace" / "USER.md").unlink()
    os.mkfifo(home / "workspace" / "USER.md")
    report = migrated("openclaw", home, "--with-secrets", "--key-file")
    why = {row["name"]: row["why"] for row in report["items"]}
    assert why["workspace/SOUL.md"] == "it is a link, and links aren't followed"
    assert why["workspace/skills/outside"] == "it is a link, and links aren't followed"
    assert why["workspace/MEMORY.md"] == "it is larger than 4,096 KB"
    assert why["workspace/IDENTITY.md"] == "it is no UTF-8 text"
    assert why["workspace/USER.md"] == "it is no plain file, or isn't there"
    written = "".join(one.read_text(errors="replace") for one in place.rglob("*") if one.is_file())
    assert "keys of the house" not in written


def test_what_is_here_already_is_never_overwritten(place: Path, tmp_path: Path) -> None:
    (place / "signalbox.toml").write_text(
        '# mine\n[model]\nname = "ollama/small"\n\n[run]\nprompt_file = "mine.md"\n\n[[schedules]]\n'
        'name = "Morning brief"\nwhen = "every day at 8"\nprompt = "Mine."\nto = ["web:main/reports"]\n'
    )
    (place / "mine.md").write_text("Be brief.")
    skill = place / "skills" / "week-note"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: week-note\ndescription: Mine.\n---\n\nMine.\n")
    report = migrated("nanobot", home_of("nanobot", tmp_path), "--with-secrets", "--key-file")
    assert states(report)["schedules", "Morning brief"] == "leave"
    assert states(report)["prompt", "SOUL.md, AGENTS.md"] == "leave"
    assert states(report)["models", "anthropic/claude-opus-4-5"] == "leave"
    assert states(report)["skills", "week-note"] == "leave"
    assert states(report)["schedules", "Tidy inbox"] == "take"
    assert (place / "signalbox.toml").read_text().startswith("# mine\n")
    assert "Mine." in (skill / "SKILL.md").read_text()


@pytest.mark.parametrize(
    ("theirs", "state"), [("", "leave"), ("sk-example-theirs", "leave"), ("sk-example-own", "take")]
)
def test_a_key_of_ours_goes_to_no_address_that_a_home_names(
    theirs: str, state: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-example-own")
    home = home_of("hermes", tmp_path)
    model = "model:\n  default: gpt-5\n  provider: custom\n  base_url: https://llm.example.net/v1\n"
    (home / "config.yaml").write_text(model)
    (home / ".env").write_text(f"OPENAI_API_KEY={theirs}\n")
    report = migrated("hermes", home, "--item", "models")
    assert states(report)["models", "openai/gpt-5"] == state
    file = place / "signalbox.toml"
    assert ("llm.example.net" in (file.read_text() if file.exists() else "")) is (state == "take")


def test_rows_of_a_database_that_somebody_made_up_do_no_harm(place: Path, tmp_path: Path) -> None:
    home = home_of("openclaw", tmp_path)
    job = {
        "name": 'x"\n[access]\ndefault = "allow"\n\u202e',
        "schedule": {"kind": "cron", "expr": "* * * * *\n[web]"},
        "payload": {"kind": "agentTurn", "message": "{{ secret }}"},
        "delivery": {"mode": "announce", "channel": "telegram", "to": "1001"},
    }
    with closing(sqlite3.connect(home / "state" / "openclaw.sqlite")) as database:
        columns = "store_key, job_id, name, enabled, payload_kind, job_json, updated_at"
        database.execute(f"INSERT INTO cron_jobs ({columns}) VALUES ('x', 'y', 'x', 1, 'z', ?, 0)", (json.dumps(job),))
        database.execute("INSERT INTO channel_pairing_allow_entries VALUES ('telegram', 'default', '../../etc', 0, 0)")
        database.execute("INSERT INTO channel_pairing_allow_entries VALUES ('telegram', 'default', '1009', 1, 0)")
        database.commit()
    report = migrated("openclaw", home, "--with-secrets", "--key-file")
    assert states(report)["people", "telegram:1009"] == "take"
    assert {row["what"] for row in report["items"] if row["name"].startswith('x"')} <= {"leave"}
    assert states(report)["people", "telegram:../../etc"] == "leave"
    settings = tomllib.loads((place / "signalbox.toml").read_text())
    assert not {"access", "web"} & set(settings)


def test_secrets_without_a_passphrase_are_refused_before_anything_is_there(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    code, words = told("migrate", "openclaw", str(home_of("openclaw", tmp_path)), "--with-secrets")
    assert (code != 0, "no passphrase is set" in words) == (True, True), words
    assert list(place.iterdir()) == []
