"""`docs/when.md` says what is so: its tables are tried."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from runtime.calendar import At, instants, plan

PAGE = (Path(__file__).parents[3] / "docs" / "when.md").read_text(encoding="utf-8")
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def table(head: str) -> list[list[str]]:
    """The rows below a line of heads."""
    rows = PAGE.partition(f"| {head} |\n")[2].partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip().strip("`") for cell in re.split(r"\|", row)[1:-1]] for row in rows]


@pytest.mark.parametrize(("text", "meant"), table("what you write | what it is"))
def test_a_phrase_is_what_the_page_says(text: str, meant: str) -> None:
    planned = plan(text, zone="Europe/Berlin", now=NOW)
    assert isinstance(planned.when, At) if meant.startswith("once") else str(planned) == meant


@pytest.mark.parametrize(("text", "begins", "wanted"), table("when | from (UTC) | instants (UTC)"))
def test_set_clocks_do_what_the_page_says(text: str, begins: str, wanted: str) -> None:
    after = datetime.fromisoformat(begins).replace(tzinfo=UTC)
    planned = plan(text, zone="Europe/Berlin", now=after)
    count = len(wanted.split(", "))
    found = instants(planned, after, anchor=after, most=count)
    assert ", ".join(f"{at:%Y-%m-%dT%H:%M}" for at in found) == wanted


def test_the_command_prints_what_the_page_shows() -> None:
    shown = PAGE.partition("```console\n")[2].partition("```")[0].splitlines()
    words = re.findall(r'"[^"]*"|\S+', shown[0])[2:]  # without the prompt and the program's name
    told = CliRunner().invoke(cli, [word.strip('"') for word in words])
    assert told.stderr.splitlines() + told.stdout.splitlines() == shown[1:]
