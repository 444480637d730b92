"""`signalbox ask` of a running process: bounds, and lines of JSON for programs."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.chat import _ask
from bot.cli.root import cli
from bot.node.lock import Control
from bot.operator.client import connected
from bot.server.process import serving
from bot.settings.settings import Settings, load
from bot.terminal.asking import Lines, Wanted, wanted_of, words_of
from runtime.errors import BotError, ConfigError
from runtime.http.errors import Refusal

PATIENCE = timedelta(seconds=20)


@asynccontextmanager
async def _house(folder: Path) -> AsyncIterator[tuple[Settings, Control]]:
    site = folder / "projects" / "site"
    site.mkdir(parents=True)
    (site / "notes.txt").write_text("heron\n")
    file = folder / "signalbox.toml"
    file.write_text(
        f'[web]\nport = 0\n[files]\nlent = ["{folder}/projects"]\n'
        '[[agents]]\nname = "ops"\nprompt = "Be brief."\ntools = ["list_files"]\n[[policy]]\ntool = "write_file"\nresult = "deny"\n'
    )
    settings = load(file, environ={"HOME": str(folder)})
    if os.geteuid() == 0:  # tools run as another user then, whose folder it must be
        os.chown(site, settings.tools.shell.uid, -1)
    async with serving(settings, with_link=False) as ready:
        yield settings, ready.control


async def _told(
    settings: Settings, capsys: pytest.CaptureFixture[str], text: str, wanted: Wanted, room: str = ""
) -> tuple[int, list[dict[str, Any]]]:
    capsys.readouterr()
    lines = Lines(on=True)
    code = await _ask(settings, text, room, PATIENCE, wanted, lines)
    lines.result(code)
    out = capsys.readouterr().out.splitlines()
    return code, [json.loads(line) for line in out if line.startswith("{")]  # the log of tests goes there, too


def _kinds(lines: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(line["type"] for line in lines))


async def test_a_question_is_told_as_lines_within_its_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One process for all of it: a start costs more than the questions."""
    site = str(tmp_path / "projects" / "site")
    async with _house(tmp_path) as (settings, control):
        code, lines = await _told(settings, capsys, "read notes.txt", Wanted(workspace=site))
        assert (code, _kinds(lines)) == (0, ["begun", "event", "message", "result"])
        assert {line["v"] for line in lines} == {1}
        numbers = [line["number"] for line in lines if line["type"] == "event"]
        assert numbers == sorted(set(numbers))
        assert "heron" in lines[-1]["text"]
        assert (lines[-1]["outcome"], lines[-1]["run"] != "") == ("answered", True)
        room = lines[0]["room"]

        code, lines = await _told(settings, capsys, "read notes.txt", Wanted(), room)  # what was begun so stays so
        assert "heron" in lines[-1]["text"]

        code, lines = await _told(settings, capsys, "read notes.txt", Wanted(workspace=site, tools=["list_*"]))
        assert "heron" not in lines[-1]["text"]
        assert "read_file" not in lines[0]["tools"]

        code, lines = await _told(settings, capsys, "write x to y.txt", Wanted(workspace=site, tools=["*_file"]))
        assert not (tmp_path / "projects" / "site" / "y.txt").exists()  # what the policy denies stays denied

        code, lines = await _told(settings, capsys, "run: ls", Wanted())
        assert (code, _kinds(lines)[-2:], lines[-1]["outcome"]) == (3, ["question", "result"], "waits")
        assert lines[-2]["tool"] == "shell"

        code, lines = await _told(settings, capsys, "read notes.txt", Wanted(agent="ops"))
        assert "read_file" in lines[-1]["text"]  # it would need that one

        await _refusals(control)
        before = _lendings(tmp_path)
        async with connected(control) as client:
            await client.bound("boundedabcdefabcdef", {"tools": ["list_*"]})
            with pytest.raises(Refusal, match="other bounds"):
                await client.bound("boundedabcdefabcdef", {"workspace": site})
            assert _lendings(tmp_path) == before, "a refused request lends nothing"
            lent = await client.audit("folder lent")
        assert {row["detail"] for row in lent} == {site}


def _lendings(folder: Path) -> list[Path]:
    return sorted(folder.rglob(".lent/*"))


async def _refusals(control: Control) -> None:
    async with connected(control) as client:
        for fields, words in (
            ({"agent": "bob"}, "There is no agent bob. There are: main, ops."),
            ({"model": "gpt"}, "There is no model gpt. There are: demo."),
            ({"tools": ["shel", "web_*"]}, "No tool fits shel"),
            ({"tools": "shell"}, "`tools` is a list"),
            ({"agent": "ops", "tools": ["shell"]}, "ops has: "),
            ({"workspace": "/nowhere"}, "/nowhere: there is no such folder."),
            ({"workspace": "/etc"}, "isn't below a folder that files.lent allows"),
        ):
            with pytest.raises(Refusal) as told:
                await client.bound("bounded0123456789ab", fields)
            assert words in str(told.value)
        with pytest.raises(Refusal, match="new conversation"):
            await client.bound("cli0123456789ab", {"tools": ["shell"]})
        with pytest.raises(Refusal, match="There is no agent bob"):
            await client.say("cli0123456789ab", "hello", "0123456789", "bob")


async def test_a_conversation_whose_bounds_are_gone_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with _house(tmp_path) as (settings, _):
        code, lines = await _told(settings, capsys, "ls", Wanted(), "bounded000000000000")
    assert (code, lines[-1]["outcome"]) == (1, "failed")
    assert "bounds of this conversation are gone" in lines[-1]["text"]


def test_a_question_comes_from_one_place(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("what\nnow?")
    assert words_of(None, str(tmp_path / "q.txt")) == "what\nnow?"
    for text, file, words in (
        (None, None, "There is no question"),
        ("a", "b", "both given"),
        (None, str(tmp_path / "none"), "can't be read"),
        (None, str(tmp_path), "can't be read"),
    ):
        with pytest.raises(ConfigError, match=words):
            words_of(text, file)
    (tmp_path / "q.txt").write_text(" \n")
    with pytest.raises(ConfigError, match="is empty"):
        words_of(None, str(tmp_path / "q.txt"))


def test_bounds_are_for_new_conversations() -> None:
    for made in ({"model": "m"}, {"tools": ["x"]}, {"workspace": Path("y")}):
        given: dict[str, Any] = {"agent": "", "model": "", "tools": [], "workspace": None, **made}
        with pytest.raises(ConfigError, match="Leave out --room"):
            wanted_of(**given, room="abcdef")
    assert wanted_of("ops", "", (), None, "abcdef") == Wanted(agent="ops")
    with pytest.raises(ConfigError, match="--room talk1: expected 6 to 32"):
        wanted_of("", "", (), None, "talk1")


def test_wrong_use_ends_with_a_result_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(cli, ["ask", "--json"], env={"HOME": str(tmp_path)})
    assert ended.exit_code == 2
    told = json.loads(ended.stdout)
    assert (told["type"], told["outcome"], told["code"]) == ("result", "refused", 2)
    assert issubclass(ConfigError, BotError)
