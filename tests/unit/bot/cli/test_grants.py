"""`signalbox grants`: what people allowed for later is listed, shown and ended."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.unit.bot.cli.test_cli import house, signalbox

__all__ = ["house"]


def granted(house: Path) -> tuple[str, str]:
    """A call that was allowed for its conversation: the ids of its question and of the grant."""
    ended = signalbox(house, "ask", "write hello to granted.txt")
    [question] = re.findall(r"approvals approve (\w+)", ended.stderr)
    assert signalbox(house, "approvals", "answer", question, "conversation").stdout == "write_file: approved.\n"
    [row] = json.loads(signalbox(house, "grants", "list", "--json").stdout)
    return question, row["id"]


def test_the_newest_question_is_answered_without_its_id(house: Path) -> None:
    signalbox(house, "ask", "write hello to newest.txt")
    wrong = signalbox(house, "approvals", "answer", "--last")
    assert wrong.returncode == 2
    assert "Name the question by its id (or --last), and give your answer." in " ".join(wrong.stderr.split())
    both = signalbox(house, "approvals", "answer", "--last", "someid", "approve")
    assert "Name one question, or take the newest with --last." in both.stderr
    done = signalbox(house, "approvals", "answer", "--last", "approve")
    assert (done.returncode, done.stdout) == (0, "write_file: approved.\n")


def test_one_is_listed_shown_explained_and_ended(house: Path) -> None:
    question, grant = granted(house)
    listed = signalbox(house, "grants", "list").stdout
    assert "active" in listed
    assert "write_file" in listed
    shown = signalbox(house, "grants", "show", "--last").stdout
    assert grant in shown
    assert shown.endswith("content = hello\npath = granted.txt\n")
    explained = signalbox(house, "policy", "explain", question).stdout
    assert (
        f"Its answer made a grant (active): content = hello; path = granted.txt, one conversation. "
        f"See signalbox grants show {grant}" in explained
    )
    ended = signalbox(house, "grants", "revoke", grant[:10])
    assert (ended.returncode, ended.stdout) == (
        0,
        "Ended. write_file needs approval again: content = hello; path = granted.txt\n",
    )
    again = signalbox(house, "grants", "revoke", grant)
    assert (again.returncode, again.stderr) == (1, f"signalbox: The grant {grant} has already ended.\n")
    empty = "There are no grants.\n"
    assert signalbox(house, "grants", "list").stdout == empty
    assert "revoked" in signalbox(house, "grants", "list", "--all").stdout


def test_one_that_is_not_there_is_told(house: Path) -> None:
    ended = signalbox(house, "grants", "show", "nothing")
    assert ended.returncode == 1
    assert ended.stderr.startswith("signalbox: There is no grant nothing. Give its id")
