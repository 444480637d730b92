"""`signalbox approvals`: answers to what the agent asks are given by the words on its buttons."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.bot.cli.test_cli import house, running, signalbox

__all__ = ["house"]


def room_of(house: Path, question: str) -> str:
    return str(json.loads(signalbox(house, "approvals", "show", question, "--json").stdout)["address"]).rpartition("/")[
        2
    ]


def asked(house: Path, words: str) -> str:
    signalbox(house, "ask", words)
    [row] = json.loads(signalbox(house, "approvals", "list", "--json").stdout)
    return str(row["id"])


def test_a_question_to_a_person_is_answered_by_the_words_on_its_buttons(house: Path) -> None:
    question = asked(house, "ask me which colour? red or green")
    shown = signalbox(house, "approvals", "show", question).stdout
    assert "Answers" in shown
    assert shown.endswith("\nwhich colour? (red / green)\n")
    assert '"to"' not in shown
    assert "which colour? (red / green)" in signalbox(house, "approvals", "list").stdout
    assert "first (red), second (green), text (Answer…)" in shown
    refused = "signalbox: This question takes first (red), second (green), text (Answer…).\n"
    for words in (("approve", question), ("deny", question), ("answer", question, "blue")):
        ended = signalbox(house, "approvals", *words)
        assert (ended.returncode, ended.stderr) == (1, refused), words
    ended = signalbox(house, "approvals", "edit", question, "--arguments", "{}")
    assert (ended.returncode, ended.stderr) == (1, refused)
    assert signalbox(house, "approvals", "answer", question, "Green").stdout == "ask_person: answered.\n"
    assert "Answers" not in signalbox(house, "approvals", "show", question).stdout
    explained = signalbox(house, "policy", "explain", question)
    assert (explained.returncode, "No rule is involved" in explained.stderr) == (2, True)
    late = signalbox(house, "approvals", "answer", question, "red")
    assert (late.returncode, "already settled" in late.stderr) == (1, True)


def test_a_list_shows_the_beginning_of_a_long_call_and_show_all_of_it(house: Path) -> None:
    question = asked(house, f"write {'word ' * 500}end to long.txt")
    listed = signalbox(house, "approvals", "list").stdout
    assert ("word word" in listed, "word end" in listed, "…" in listed) == (True, False, True)
    assert "word end" in signalbox(house, "approvals", "show", question).stdout
    assert signalbox(house, "approvals", "deny", question).stderr == "", "the running process acts on it"
    assert "denied" in signalbox(house, "approvals", "show", "--last").stdout, "decided, and still the newest"


def test_a_call_takes_its_own_words_and_tells_them(house: Path) -> None:
    question = asked(house, "write hello to a.txt")
    assert "Answers" not in signalbox(house, "approvals", "show", question).stdout
    ended = signalbox(house, "approvals", "answer", question, "perhaps")
    assert ended.returncode == 1
    assert ended.stderr.startswith("signalbox: This question takes approve (Approve), deny (Deny)")
    signalbox(house, "ask", "ask me which colour? red or green")
    assert signalbox(house, "policy", "explain", "--last").stdout.startswith("write_file in ")
    assert signalbox(house, "approvals", "answer", question, "Approve").stdout == "write_file: approved.\n"


def test_what_is_decided_while_nothing_runs_says_when_it_takes_effect(tmp_path: Path) -> None:
    question = asked(tmp_path, "write hello to a.txt")
    ended = signalbox(tmp_path, "approvals", "approve", question)
    assert (ended.returncode, ended.stdout) == (0, "write_file: approved.\n")
    first, second = ended.stderr.splitlines()
    assert first.startswith("No Signalbox is running: this is stored")
    assert first.endswith(" run")
    assert second.endswith(f" trace {question}")
    assert not [*tmp_path.glob("var/workspaces/*/a.txt")], "nothing was carried out yet"
    with running(tmp_path):
        told = signalbox(tmp_path, "ask", "--room", room_of(tmp_path, question), "read a.txt")
        assert "hello" in told.stdout
