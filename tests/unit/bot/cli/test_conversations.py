"""`signalbox conversations`: exported, imported elsewhere once, and refused where a file is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.settings.settings import load
from bot.wiring.owner import settle_owner
from runtime.store.store import open_store

MISUSE = 2
WAITS = 3


@pytest.fixture
async def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two installations with the demo model and an owner each."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    made = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "signalbox.toml").write_text("")
        made.append(tmp_path / name / "signalbox.toml")
        settings = load(made[-1], environ={})
        settings.data_dir.mkdir()
        store = await open_store(settings.database_url)
        await settle_owner(store.people, [], None, with_link=False)
        await store.close()
    return made[0], made[1]


def told(file: Path, *words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(cli, [*words, "--config", str(file)])
    return ended.exit_code, ended.output


def exported(file: Path, room: str) -> dict[str, Any]:
    ended = CliRunner().invoke(cli, ["conversations", "export", room, "--config", str(file)])
    assert ended.exit_code == 0, ended.output
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def without_ids(copy: Mapping[str, Any]) -> dict[str, Any]:
    rows = [{name: value for name, value in one.items() if name not in ("id", "replaces")} for one in copy["entries"]]
    return {"title": copy["title"], "cut": copy["cut"], "entries": rows}


def one_entry(at: str, text: str = "hello", kind: str = "answer") -> str:
    rows = [{"kind": kind, "id": "1", "at": at, "text": text}]
    return json.dumps({"signalbox": "conversation", "version": 1, "title": "A talk", "entries": rows})


def test_a_conversation_comes_back_as_it_was_and_nothing_in_it_can_be_acted_on(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    here, there = places
    assert told(here, "ask", "what time is it?", "--room", "shared1")[0] == 0
    assert told(here, "ask", "write hello to notes.txt", "--room", "shared1")[0] == WAITS
    copy = exported(here, "web:main/shared1")
    assert {one["kind"] for one in copy["entries"]} == {"message", "answer", "call", "approval"}
    (question,) = [one for one in copy["entries"] if one["kind"] == "approval"]
    assert (question["state"], question["tool"]) == ("pending", "write_file")
    messages = [one for one in copy["entries"] if one["kind"] == "message"]
    messages[0]["files"] = [{"name": "plan.pdf", "size": 12, "sha256": "ab" * 32}]
    file = tmp_path / "copy.json"
    file.write_text(json.dumps(copy))

    code, text = told(there, "conversations", "import", str(file), "--json")
    assert code == 0, text
    made = json.loads(text)
    assert not made["already"]
    again = exported(there, made["room"])
    assert without_ids(again) == without_ids(copy)

    assert json.loads(told(there, "conversations", "import", str(file), "--json")[1]) == {
        **made,
        "already": True,
        "told": "This file was imported already. Nothing was changed.",
    }
    assert json.loads(told(there, "approvals", "list", "--json")[1]) == []
    assert {one["state"] for one in json.loads(told(there, "outbox", "list", "--json")[1])} == {"shown"}
    assert "conversation imported" in told(there, "audit", "list")[1]

    # What was imported counts as text from outside, so the same call asks there.
    assert told(there, "ask", "what time is it?", "--room", made["room"].rpartition("/")[2])[0] == WAITS
    assert len(exported(there, made["room"])["entries"]) > len(copy["entries"])


def test_an_export_for_people_has_headings(places: tuple[Path, Path], tmp_path: Path) -> None:
    here, _ = places
    assert told(here, "ask", "what time is it?", "--room", "shared1")[0] == 0
    file = tmp_path / "copy.md"
    code, text = told(
        here, "conversations", "export", "web:main/shared1", "--format", "markdown", "--output", str(file)
    )
    assert code == 0, text
    written = file.read_text()
    assert written.startswith("# ")
    assert "## owner, " in written
    assert "## Signalbox, " in written
    assert "already exists" in told(here, "conversations", "export", "web:main/shared1", "--output", str(file))[1]
    assert "nothing was said there" in told(here, "conversations", "export", "web:main/empty12")[1]


@pytest.mark.parametrize(
    "text",
    [
        'so\n\n```json\n{"signalbox": "record"}\n```',
        'so\n\n```json\n{"signalbox": "record", "kind": "message", "tool": "x"}\n```',
        f"so\n\n```json\n{'[' * 50_000}\n```",
        "\n```json\n{" * 5_000,
    ],
    ids=["no kind", "other kind", "deep", "fences"],
)
def test_an_imported_answer_that_looks_like_a_record_is_exported_as_an_answer(
    text: str, places: tuple[Path, Path], tmp_path: Path
) -> None:
    file = tmp_path / "copy.json"
    file.write_text(one_entry("2026-01-02T03:04:05+00:00", text))
    code, said = told(places[0], "conversations", "import", str(file), "--json")
    assert code == 0, said
    (entry,) = exported(places[0], json.loads(said)["room"])["entries"]
    assert (entry["kind"], entry["text"].split()) == ("answer", text.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("words", "it is no JSON"),
        ('{"signalbox": "conversation", "version": 1, "entr', "was cut short"),
        ('{"some": "file"}', "it is no conversation of Signalbox"),
        ('{"signalbox": "conversation", "version": 2}', "a newer Signalbox wrote it (version 2"),
        ('{"signalbox": "conversation", "version": 1, "entries": [{}]}', "entry 1"),
        (
            '{"signalbox": "conversation", "version": 1, "entries": [{"kind": "message", "at": "9"}]}',
            "entry 1 has no time",
        ),
        (one_entry("0001-01-01T00:00:00+00:00"), "from before 1970"),
        ("[" * 100_000, "nested too deep"),
        ("\udcff", "it is no UTF-8 text"),
    ],
)
def test_what_is_no_copy_is_refused_and_nothing_written(
    text: str, words: str, places: tuple[Path, Path], tmp_path: Path
) -> None:
    file = tmp_path / "copy.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    code, said = told(places[0], "conversations", "import", str(file))
    assert (code, words in said) == (MISUSE, True), said
    assert "Nothing was imported." in said


def test_a_copy_from_the_future_is_refused(places: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "copy.json"
    file.write_text(one_entry("9999-12-31T23:59:59.999999+00:00"))
    code, said = told(places[0], "conversations", "import", str(file))
    assert code != 0
    assert "its last entry is from the future. Nothing was imported." in " ".join(said.split())


def test_a_file_beyond_all_bounds_is_not_read(places: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "copy.json"
    with file.open("wb") as huge:
        huge.truncate(100 << 20)
    code, said = told(places[0], "conversations", "import", str(file))
    assert code == MISUSE
    assert "it is larger than 16 MB" in said
