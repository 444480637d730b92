"""Grants: the calls that each allows, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Effect, ToolSpec
from runtime.policy.grant_patterns import Anything, Exactly, Like, Pattern, Words, exactly, read_pattern, suggested
from runtime.policy.grants import Asked, Grant, GrantId, Sought, Wish, fits, form_of, reach, wished
from runtime.policy.terms import Terms

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
STATUS = Words(("git", "status"), more=True)

GRANT = Grant(
    id=GrantId("g1"),
    agent="main",
    tool="shell",
    form="f",
    pattern=Pattern({"command": STATUS}),
    by="alice",
    from_approval="a1",
    until=NOW + timedelta(days=1),
    created_at=NOW,
    room="slack:work/C1",
)
CALL = Sought("main", "shell", Effect.DANGER, "f", {"command": "git status"}, "main|slack:work/C1", "slack:work/C1")


@pytest.mark.parametrize(
    "line",
    [
        "git status",
        "git  status",
        " git status ",
        "git status --short",
        "git status -- docs",
        "'git' status",
        "git \\\n status",
        'git "status" $HOME',
        "git status; git status",
        "git status && git status -s",
        "git status 2>/dev/null",
        "git status # what is new",
    ],
)
def test_the_granted_words_run(line: str) -> None:
    assert STATUS.fits(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "git",
        "git push",
        "git statusx",
        "git-status",
        "gitstatus",
        "/tmp/git status",
        "./git status",
        "git -C /tmp status",
        "git -c core.fsmonitor=./evil status",
        "git status; rm -rf /",
        "git status\nrm -rf /",
        "git status\rrm -rf /",
        "git status & rm -rf /",
        "git status && rm -rf /",
        "git status || rm -rf /",
        "git status | sh",
        "git status $(x)",
        "git status `x`",
        'git status "$(x)"',
        "git status <(x)",
        "git status > ~/.bashrc",
        "git status >> notes",
        "git status < /etc/passwd",
        "git status ${x:-$(rm y)}",
        "git status $((x))",
        "git status <<x\n$(rm y)\nx",
        "(rm x); git status",
        "PATH=/tmp git status",
        "env git status",
        "sudo git status",
        "sh -c 'git status'",
        "eval git status",
        "xargs git status",
        "alias git=rm; git status",
        "git() { rm x; }; git status",
        "if git status; then rm x; fi",
        "! git status; rm x",
        "g$(printf it) status",
        "$GIT status",
        "git $S",
        "git {status,push}",
        "git s*",
        "'git status'",
        '"git status; rm x"',
        "git 'status; rm x'",
        "git\\ status",
        "git 'status",
        'git "status',
        "git status )",
        "git status \\",
        "cd /; git status",
        "git\u00a0status",
        "git\u200b status",
        "gіt status",  # noqa: RUF001 - a Cyrillic letter
        "\u202egit status",
    ],
)
def test_anything_else_asks(line: str) -> None:
    assert not STATUS.fits(line)


def test_words_without_more_fit_nothing_longer() -> None:
    only = Words(("git", "status"))
    assert only.fits("git status")
    assert not only.fits("git status --short")
    assert not only.fits("git status $X")


@pytest.mark.parametrize("value", [None, 3, ["git", "status"], {"git": "status"}, True])
def test_words_fit_texts_alone(value: Any) -> None:
    assert not STATUS.fits(value)


@pytest.mark.parametrize(
    ("arguments", "is_so"),
    [
        ({"a": 1, "b": {"x": 1, "y": [2]}}, True),
        ({"b": {"y": [2], "x": 1}, "a": 1}, True),
        ({"a": 1.0, "b": {"x": 1, "y": [2]}}, False),
        ({"a": True, "b": {"x": 1, "y": [2]}}, False),
        ({"a": "1", "b": {"x": 1, "y": [2]}}, False),
        ({"a": 1}, False),
        ({"a": 1, "b": {"x": 1, "y": [2]}, "c": None}, False),
    ],
)
def test_exactly_is_exact(arguments: Mapping[str, Any], is_so: bool) -> None:
    assert exactly({"a": 1, "b": {"x": 1, "y": [2]}}).fits(arguments) is is_so


@pytest.mark.parametrize("path", ["notes/a.md", "notes/deep/a.md", "notes/", "notes/.."[:-1]])
def test_a_glob_fits_what_begins_so(path: str) -> None:
    assert Like("notes/*").fits(path)


@pytest.mark.parametrize(
    "path",
    [
        "notes",
        "Notes/a",
        "x/notes/a",
        "notes/../a",
        "notes/..",
        "notes/a/../../b",
        "notes\\..\\a",
        "notes/a\nb",
        "notes/\u202ea",
        3,
    ],
)
def test_a_glob_fits_nothing_that_climbs_or_hides(path: Any) -> None:
    assert not Like("notes/*").fits(path)


@pytest.mark.parametrize("letters", ["notes/[ab]*", "notes/?*", "notes/(a|b)*", "notes/.*"])
def test_other_letters_of_globs_mean_themselves(letters: str) -> None:
    assert not Like(letters).fits("notes/ab")


def test_an_argument_that_is_not_named_asks() -> None:
    pattern = Pattern({"path": Like("notes/*"), "content": Anything()})
    assert pattern.fits({"path": "notes/a", "content": "x"})
    assert pattern.fits({"path": "notes/a"})
    assert not pattern.fits({"path": "notes/a", "content": "x", "mode": "0777"})
    assert not pattern.fits({"content": "x"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)
)


@given(
    st.dictionaries(st.text(min_size=1), JSON, max_size=4),
    st.sampled_from(["shell", "write_file"]),
    st.sampled_from(Effect),
)
def test_what_is_suggested_fits_the_call_and_is_kept_as_it_is(
    arguments: dict[str, Any], tool: str, effect: Effect
) -> None:
    pattern = suggested(tool, effect, arguments)
    assert pattern.fits(arguments)
    assert Pattern.from_json(pattern.to_json()) == pattern


NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


@given(
    st.dictionaries(NAMES, st.text() | st.integers() | st.booleans() | st.none(), max_size=4), st.sampled_from(Effect)
)
def test_what_is_suggested_is_read_as_it_is_written(arguments: dict[str, Any], effect: Effect) -> None:
    pattern = suggested("t", effect, arguments)
    assert read_pattern(pattern.lines(), "t", effect, arguments) == pattern


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("git status", "command = git status"),
        ("git  'status' --short", "command = git status --short"),
        ("git status; git diff", "command = git status; git diff"),
        ("ls *.py", 'command = "ls *.py"'),
        ("echo 'a b'", "command = echo 'a b'"),
        ("echo $HOME", "command = echo $HOME"),
    ],
)
def test_a_shell_line_is_suggested_by_its_words(command: str, lines: str) -> None:
    assert suggested("shell", Effect.DANGER, {"command": command}).lines() == lines


def test_long_texts_of_a_write_are_left_open() -> None:
    pattern = suggested("write_file", Effect.WRITE, {"path": "a.md", "content": "x" * 300})
    assert pattern.lines() == "path = a.md\ncontent = *"
    assert suggested("run", Effect.DANGER, {"code": "x" * 300}).lines() == "code = (as asked)"


# --------------------------------------------------------------------------------------------------- as people write it

ASKED = {"path": "notes/a.md", "content": "x", "mode": 7}


def test_lines_are_read() -> None:
    text = "\n path = notes/* \ncontent=*\nmode = 7\n"
    assert read_pattern(text, "write_file", Effect.WRITE, ASKED) == Pattern(
        {"path": Like("notes/*"), "content": Anything(), "mode": Exactly(7)}
    )


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("path", ["“path” isn't a pattern. Write name = value."]),
        ("user = x", ["This call has no argument 'user'."]),
        ("path = a\npath = b\ncontent = x\nmode = 7", ["path is given twice."]),
        ("path = a\nmode = 7", ["content is missing. Give its value, or (as asked)."]),
        ("path = a\ncontent = x\nmode = seven", ["mode: 'seven' isn't valid JSON."]),
        ('path = "a\ncontent = x\nmode = 7', ["path: '\"a' isn't valid JSON."]),
        ("path = https://api.example*\ncontent = *\nmode = *", ["path: put a / after the host name, before the *."]),
    ],
)
def test_faults_are_told(text: str, faults: list[str]) -> None:
    found = read_pattern(text, "write_file", Effect.WRITE, ASKED)
    assert isinstance(found, list)
    assert [one for one in found if "is missing" not in one or one in faults] == faults


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("*", "a dangerous call can't be allowed with * alone."),
        (" *", "a dangerous call can't be allowed with * alone."),
        ("git status; rm", "write the first words of one plain command, with * at the end, or (as asked)."),
        ("git $X", "write the first words of one plain command, with * at the end, or (as asked)."),
        ("git*", "write the first words of one plain command, with * at the end, or (as asked)."),
        ("* status", "write the first words of one plain command, with * at the end, or (as asked)."),
        ("sudo git status *", "sudo runs other commands, so a pattern can't allow it."),
        ("/bin/sh *", "sh runs other commands, so a pattern can't allow it."),
        ("env *", "env runs other commands, so a pattern can't allow it."),
        ("python3.11 *", "python3.11 can do anything, so it can't be followed by *."),
        ("/usr/bin/perl -e *", "perl can do anything, so it can't be followed by *."),
        ("find . *", "find can do anything, so it can't be followed by *."),
    ],
)
def test_no_wide_pattern_holds_a_dangerous_call(command: str, fault: str) -> None:
    found = read_pattern(f"command = {command}", "shell", Effect.DANGER, {"command": "git status"})
    assert found == [f"command: {fault}"]


@pytest.mark.parametrize("text", ["*", "https://example.com/*", "a*"])
def test_a_dangerous_call_has_no_glob(text: str) -> None:
    found = read_pattern(f"url = {text}", "post", Effect.DANGER, {"url": "https://example.com/a"})
    assert isinstance(found, list)


def test_a_dangerous_shell_line_may_have_fixed_first_words() -> None:
    found = read_pattern("command = git status *", "shell", Effect.DANGER, {"command": "git status -s"})
    assert found == Pattern({"command": STATUS})


def test_as_asked_is_the_value_of_the_call() -> None:
    asked = {"code": "a\nb" * 200}
    assert read_pattern("code = (as asked)", "run", Effect.DANGER, asked) == exactly(asked)


# ---------------------------------------------------------------------------------------------------------- when it holds


def test_a_grant_fits_its_call() -> None:
    assert fits(GRANT, CALL, NOW)


@pytest.mark.parametrize(
    "grant",
    [
        replace(GRANT, agent="ops"),
        replace(GRANT, tool="write_file"),
        replace(GRANT, form="g"),
        replace(GRANT, room="slack:work/C2"),
        replace(GRANT, room="", session="main|slack:work/C1/17"),
        replace(GRANT, until=NOW),
        replace(GRANT, uses_left=0),
        replace(GRANT, revoked_at=NOW),
        replace(GRANT, pattern=Pattern({"command": Words(("git", "push"))})),
        replace(GRANT, pattern=Pattern({})),
    ],
)
def test_a_grant_for_something_else_asks(grant: Grant) -> None:
    assert not fits(grant, CALL, NOW)


@pytest.mark.parametrize("terms", [Terms(grants=False), Terms(quorum=2), Terms(four_eyes=True)])
def test_a_rule_that_wants_more_than_one_yes_asks(terms: Terms) -> None:
    assert not fits(GRANT, replace(CALL, terms=terms), NOW)


def test_a_grant_may_hold_everywhere() -> None:
    assert fits(replace(GRANT, room=""), CALL, NOW)


def test_another_form_effect_or_way_of_running_is_another_tool() -> None:
    spec = ToolSpec("t", "", {}, Effect.WRITE, form="{}")
    forms = {
        form_of(spec, ""),
        form_of(replace(spec, form='{"a": 1}'), ""),
        form_of(replace(spec, effect=Effect.DANGER), ""),
        form_of(spec, "Without a sandbox."),
    }
    assert len(forms) == 4
    assert form_of(replace(spec, description="d"), "") in forms


# ------------------------------------------------------------------------------------------------------------- the form

SHELL = Asked("shell", Effect.DANGER, {"command": "git status"}, by_owner=True)
WRITE = Asked("write_file", Effect.WRITE, {"path": "a"}, by_owner=False)
BERLIN = ZoneInfo("Europe/Berlin")


def test_a_form_becomes_a_grant() -> None:
    values = {"pattern": "command = git status *", "where": "this room", "until": "2026-11-27", "uses": "5"}
    until = datetime(2026, 11, 27, 23, tzinfo=UTC)
    assert wished(values, SHELL, NOW, BERLIN) == Wish(Pattern({"command": STATUS}), False, until, 5)


def test_a_pattern_that_was_not_sent_is_the_call_itself() -> None:
    found = wished({"uses": "1"}, SHELL, NOW, UTC)
    assert isinstance(found, Wish)
    assert found.pattern == Pattern({"command": Words(("git", "status"))})


def test_a_form_has_defaults() -> None:
    found = wished({"pattern": "path = a"}, WRITE, NOW, UTC)
    assert found == Wish(exactly({"path": "a"}), False, datetime(2026, 12, 24, tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"until": "tomorrow"}, "“tomorrow” isn't a date. Write one like 2026-12-23."),
        ({"until": "2026-11-22"}, "Choose a day from today to 2027-02-21."),
        ({"until": "2027-02-22"}, "Choose a day from today to 2027-02-21."),
        ({"uses": "0"}, "For “How often”, give a whole number from 1 to 10,000, or leave it empty."),
        ({"uses": "-1"}, "For “How often”, give a whole number from 1 to 10,000, or leave it empty."),
        ({"uses": "many"}, "For “How often”, give a whole number from 1 to 10,000, or leave it empty."),
        ({"uses": "9" * 5000}, "For “How often”, give a whole number from 1 to 10,000, or leave it empty."),
        ({"where": "the moon"}, "For “Where”, choose this room or everywhere."),
        ({"where": "everywhere"}, "Only an owner can allow it everywhere."),
        ({"pattern": ""}, "path is missing. Give its value, or (as asked)."),
    ],
)
def test_a_wrong_form_says_what_is_wrong(values: dict[str, str], fault: str) -> None:
    assert wished({"pattern": "path = a"} | values, WRITE, NOW, UTC) == fault


def test_all_that_is_wrong_is_told_at_once() -> None:
    values = {"pattern": "command = *", "until": "x", "uses": "x", "where": "x"}
    told = wished(values, SHELL, NOW, UTC)
    assert isinstance(told, str)
    assert told.count(".") >= 4


def test_danger_is_for_owners() -> None:
    told = wished({"pattern": "command = git status"}, replace(SHELL, by_owner=False), NOW, UTC)
    assert told == "Only an owner can allow dangerous calls in advance. You can still approve this one."


def test_how_far_it_goes_is_told() -> None:
    assert reach(GRANT, "Friday") == "in one room until Friday"
    assert (
        reach(replace(GRANT, session="s", room="", uses_left=1), "Friday")
        == "in one conversation until Friday, 1 use left"
    )
    assert reach(replace(GRANT, room="", uses_left=3), "Friday") == "everywhere until Friday, 3 uses left"


# ------------------------------------------------------------------------------------------------------- one person's

BOBS = replace(WRITE, requester="Bob")


def test_a_grant_may_be_for_one_persons_requests() -> None:
    found = wished({"pattern": "path = a", "whose": "only Bob"}, BOBS, NOW, UTC)
    assert isinstance(found, Wish)
    assert found.person == "Bob"
    anybody = wished({"pattern": "path = a", "whose": "anybody"}, BOBS, NOW, UTC)
    assert isinstance(anybody, Wish)
    assert anybody.person == ""


@pytest.mark.parametrize(
    ("call", "whose", "fault"),
    [
        (BOBS, "only Eve", "For “Whose requests”, choose anybody or only Bob."),
        (WRITE, "only Bob", "For “Whose requests”, choose anybody."),
    ],
)
def test_it_is_for_nobody_who_did_not_ask(call: Asked, whose: str, fault: str) -> None:
    assert wished({"pattern": "path = a", "whose": whose}, call, NOW, UTC) == fault


@pytest.mark.parametrize("pattern", ["path = b", "path = notes/*"])
def test_a_pattern_fits_the_call_that_it_comes_from(pattern: str) -> None:
    assert wished({"pattern": pattern}, WRITE, NOW, UTC) == "This pattern doesn't match the call you're approving."


def test_owners_patterns_fit_their_call_too() -> None:
    told = wished({"pattern": "command = git push *"}, SHELL, NOW, UTC)
    assert told == "This pattern doesn't match the call you're approving."


def test_a_grant_for_one_person_fits_no_other() -> None:
    bobs, call = replace(GRANT, person="bob"), replace(CALL, requester="bob")
    assert fits(bobs, call, NOW)
    assert not fits(bobs, replace(call, requester="eve"), NOW)
    assert not fits(bobs, replace(call, requester=None), NOW)
    assert reach(bobs, "Friday", "Bob") == "in one room for Bob alone until Friday"
