"""Commands as people write them, and the words of their answers."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.chat import commands
from runtime.chat.commands import Going, Spent, Sum, Work, kept
from runtime.chat.pairing import ALPHABET, LENGTH, fresh_code, invitation, locked, tidy, wrong
from runtime.contract import COMMANDS, Commanded, FileRef, Role, Said, Stopped
from runtime.domain.ids import first_at, made_at, new_id
from runtime.domain.runs import RunState
from runtime.markup.moments import roughly

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("mark", ["/", "!"])
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "stop"])
def test_each_command_may_be_written(mark: str, name: str) -> None:
    assert commands.spoken(Said(f"{mark}{name}")) == Commanded(name)
    assert commands.spoken(Said(f"  {mark}{name.upper()}\n")) == Commanded(name)


def test_a_written_stop_is_a_stop() -> None:
    assert commands.spoken(Said("/stop")) == Stopped()


@pytest.mark.parametrize("text", ["/pair ABCD2345", "!PAIR  ABCD2345 "])
def test_a_code_is_entered_with_its_command(text: str) -> None:
    assert commands.spoken(Said(text)) == Commanded("pair", "ABCD2345")


def test_a_code_is_told_with_words_that_every_platform_lets_through() -> None:
    """Slack keeps what begins with a slash for itself."""
    (told,) = re.findall(r"`([^`]+)`", invitation("ABCD2345", asked=False))
    assert told.startswith("!")
    assert commands.spoken(Said(told)) == Commanded("pair", "ABCD2345")
    assert "`/" not in commands.PAIR_WHERE


def test_a_code_may_come_with_a_name() -> None:
    assert commands.spoken(Said("/pair ABCD2345 Ada Lovelace")) == Commanded("pair", "ABCD2345 Ada Lovelace")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/mode", Commanded("mode")),
        ("!Mode trusted until 18:00", Commanded("mode", "trusted until 18:00")),
        ("/away until Monday", Commanded("away", "until Monday")),
        ("!back", Commanded("back")),
    ],
)
def test_modes_and_absences_may_be_written(text: str, command: Commanded) -> None:
    assert commands.spoken(Said(text)) == command


@pytest.mark.parametrize("text", ["/timezone Europe/Berlin", " !TimeZone\tEurope/Berlin\n"])
def test_a_zone_is_named_with_its_command(text: str) -> None:
    assert commands.spoken(Said(text)) == Commanded("timezone", "Europe/Berlin")


@pytest.mark.parametrize(
    "text",
    [
        "/timezone a\nb",
        "/schedules x",
        "/help me",
        "/etc/hosts",
        "/x",
        "/notes.txt",
        "say /help",
        "!important",
        "/",
        "",
        "//stop",
        "/stop!",
    ],
)
def test_anything_else_is_said(text: str) -> None:
    said = Said(text)
    assert commands.spoken(said) is said


@pytest.mark.parametrize("name", ["unknown", "timezones", "pair", "Dance-now"])
def test_a_word_alone_behind_a_slash_is_meant_as_a_command(name: str) -> None:
    assert commands.spoken(Said(f" /{name}\n")) == Commanded(name.lower())


def test_words_with_a_file_are_said() -> None:
    said = Said("/new", (FileRef("a", "a", 1),))
    assert commands.spoken(said) is said


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    said = Said(text)
    found = commands.spoken(said)
    assert found is said or text.strip()[0] in "/!" or commands.is_stop(text)


@pytest.mark.parametrize("text", ["stop", " Stop!\n", "HALT", "cancel…", "стоп", "停止。", "abbrechen"])
def test_a_stop_word_alone_ends_ones_own_work(text: str) -> None:
    assert commands.spoken(Said(text)) == Stopped(own=True)


@pytest.mark.parametrize("text", ["stop it", "don't stop", "please cancel my order", "¿stop?x", "halting", "."])
def test_a_sentence_with_a_stop_word_is_said(text: str) -> None:
    said = Said(text)
    assert commands.spoken(said) is said


def test_the_docs_list_every_stop_word() -> None:
    told = Path("docs/access.md").read_text(encoding="utf-8")
    assert [word for words in commands.STOP_WORDS.values() for word in words if word not in told] == []


@pytest.mark.parametrize("name", ["/Status", "status", "!STATUS", " status "])
def test_a_platforms_command_is_known_however_it_is_written(name: str) -> None:
    assert commands.name_of(Commanded(name)) == "status"


def test_a_command_is_stored_without_what_follows_it() -> None:
    assert commands.kept(Commanded("pair", "ABCD2345")) == "/pair"


def test_looking_is_for_viewers_and_acting_for_users() -> None:
    assert {name for name, role in commands.NEEDED.items() if role is Role.USER} == {
        "new",
        "stop",
        "compact",
        "timezone",
        "away",
        "back",
        "task",
        "forget",
        "workflow",
        "goal",
    }
    assert set(commands.NEEDED) == set(COMMANDS)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 seconds"),
        (0, "0 seconds"),
        (1, "1 second"),
        (60, "1 minute"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (3600, "1 hour"),
        (7199, "119 minutes"),
        (86_400, "1 day"),
        (90_000, "25 hours"),
        (172_800, "2 days"),
    ],
)
def test_durations_are_told_roughly(seconds: int, words: str) -> None:
    assert roughly(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize(
    ("micros", "dollars"),
    [(0, "$0.00"), (7, "$0.0000"), (1_234, "$0.0012"), (1_000_000, "$1.00"), (1_234_567_890, "$1,234.57")],
)
def test_money_is_told_in_dollars(micros: int, dollars: str) -> None:
    assert f"1 tokens in, 2 out, {dollars}" in commands.spent(Spent(today=Sum(1, 2, micros)), Spent())


def test_status_tells_what_was_decided_and_waits_for_its_turn() -> None:
    going = Going([Work(RunState.READY, "", NOW, 1), Work(RunState.RUNNING, "Ada", NOW, 1)])
    told = commands.going_on(going, NOW + timedelta(seconds=61))
    assert "- a request has its answers and continues next\n" in told
    assert told.endswith("- working on Ada's request (61 seconds so far, 1 model call)")


def test_the_first_id_of_a_moment_is_before_all_that_are_made_after_it() -> None:
    now = datetime.now(UTC)
    first = first_at(now)
    assert first <= new_id()
    made = made_at(first)
    assert made is not None
    assert abs(made - now) < timedelta(milliseconds=1)
    assert first_at(now + timedelta(days=1)) > new_id()


def test_codes_differ_and_are_read_as_people_type_them() -> None:
    codes = {fresh_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(len(code) == LENGTH and set(code) <= set(ALPHABET) for code in codes)
    assert tidy(" abcd-2345 ") == "ABCD2345"


def test_what_is_left_is_told_in_whole_sentences() -> None:
    assert wrong(1).endswith("You have one more try.")
    assert wrong(3).endswith("You have 3 more tries.")
    assert locked(timedelta(seconds=20)).endswith("Try again in 1 minute.")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (Commanded("mode", "trusted  2h"), "/mode trusted 2h"),
        (Commanded("goal", "say  7\n\nturns: 2"), "/goal say 7\nturns: 2"),
        (Commanded("mode"), "/mode"),
        (Commanded("pair", "ABCD-EFGH"), "/pair"),
        (Commanded("start", "a-secret"), "/help"),
    ],
)
def test_a_command_is_stored_with_its_argument_unless_that_may_be_a_code(command: Commanded, text: str) -> None:
    assert kept(command) == text
