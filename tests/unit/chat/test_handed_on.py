"""Trees of work that agents handed on, as people read them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from runtime.chat.views.handed_on import Piece, Tree, branches, handed_on, stands, task_cards, told_time, tree_text
from runtime.contract import Address, CardState, Child, ChildState, Content, RunId
from runtime.domain.runs import RunState

NOW: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
ROOM: Final = Address("page", "main", "r1")
ROOT: Final = RunId("root")


def piece(name: str, parent: str = ROOT, **more: Any) -> Piece:
    """A piece of work called `name`, handed on 30 seconds ago to the agent of that name."""
    state = more.pop("state", ChildState.OPEN)
    ended = None if state is ChildState.OPEN else NOW - timedelta(seconds=16)
    begun = NOW - timedelta(seconds=30)
    child = Child(
        RunId(name),
        name,
        ("main",),
        f"Do {name}.",
        {},
        state,
        NOW + timedelta(minutes=9),
        created_at=begun,
        ended_at=ended,
    )
    return Piece(child, RunId(parent), **{"run": RunState.RUNNING, **more})


def test_each_piece_stands_below_what_handed_it_on() -> None:
    pieces = [piece("research"), piece("ops"), piece("deep", "research"), piece("deepest", "deep")]
    assert tree_text(pieces, ROOT) == (
        "- ⏳ **research**: Do research.\n"
        "  - ⏳ **deep**: Do deep.\n"
        "    - ⏳ **deepest**: Do deepest.\n"
        "- ⏳ **ops**: Do ops."
    )


def test_the_cost_of_a_piece_has_that_of_all_below_it() -> None:
    pieces = [
        piece("research", cost_micros=10_000, state=ChildState.DONE),
        piece("deep", "research", cost_micros=20_000, state=ChildState.DONE),
        piece("deepest", "deep", cost_micros=30_000, state=ChildState.DONE),
    ]
    assert [one.cost_micros for one in branches(pieces, ROOT)] == [60_000, 50_000, 30_000]
    assert "✅ **research**: Do research. (14 s, $0.06)" in tree_text(pieces, ROOT)


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (piece("a"), "at work"),
        (piece("a", run=None), "not begun"),
        (piece("a", asks=("shell",)), "waits for approval of `shell`"),
        (piece("a", asks=("shell", "shell", "write_file")), "waits for approval of `shell` and `write_file`"),
        (piece("a", asks=("",)), "waits for an answer"),
        (piece("a", state=ChildState.LATE), "out of time"),
        (piece("a", state=ChildState.DONE), ""),
    ],
)
def test_a_piece_tells_where_it_stands(one: Piece, told: str) -> None:
    assert stands(branches([one], ROOT)[0]) == told


def test_a_piece_waits_for_those_whose_answers_it_awaits() -> None:
    pieces = [
        piece("research"),
        piece("ops", "research"),
        piece("writer", "research"),
        piece("over", "research", state=ChildState.DONE),
        piece("later", "research", awaits=False),
    ]
    assert stands(branches(pieces, ROOT)[0]) == "waits for ops and writer"


def test_the_message_in_the_room_tells_no_time_that_would_be_old() -> None:
    asking = [piece("research", asks=("shell",))]
    assert tree_text(asking, ROOT) == "- ✋ **research**: Do research. (waits for approval of `shell`)"
    assert tree_text(asking, ROOT, NOW).endswith("(waits for approval of `shell`, 30 s so far)")


def test_cards_tell_the_path_of_each_piece_and_what_it_waits_for() -> None:
    below = piece("ops", "research", asks=("shell",))
    below = replace(below, child=replace(below.child, chain=("main", "research")))
    over = piece("writer", state=ChildState.LATE)
    made = task_cards([piece("research"), below, over], ROOT)
    assert made.title == "Handed on: 1 of 3 over"
    assert [(one.title, one.state, one.note) for one in made.cards] == [
        ("research: Do research.", CardState.WORKING, ""),
        ("research > ops: Do ops.", CardState.WAITING, "waits for approval of shell"),
        ("writer: Do writer.", CardState.FAILED, "out of time, 14 s"),
    ]
    assert Content.from_json(Content("", tasks=made).to_json()).tasks == made


def test_the_command_shows_who_waits_for_whom() -> None:
    tree = Tree(ROOT, ROOM, "Ada", "Which release?", (piece("research"), piece("deep", "research", run=None)))
    assert handed_on([tree], NOW, "!") == (
        "Handed on for you here:\n\n"
        "“Which release?”: **main** waits for research.\n\n"
        "- ⏳ **research**: Do research. (waits for deep, 30 s so far)\n"
        "  - ⏳ **deep**: Do deep. (not begun, 30 s so far)\n\n"
        "`!stop` ends all work here."
    )


def test_the_command_shows_what_was_over_last() -> None:
    tree = Tree(ROOT, ROOM, "Ada", "Which release?", (piece("research", state=ChildState.FAILED),))
    assert handed_on([tree], NOW, "/") == (
        "Nothing of yours is handed on here. The last was over 16 seconds ago:\n\n"
        "“Which release?”, handed on by **main**:\n\n"
        "- ❌ **research**: Do research. (failed, 14 s)"
    )
    assert handed_on([], NOW, "/") == "Nothing of yours is handed on here."


def test_a_goal_can_break_out_of_nothing() -> None:
    hostile = piece("research")
    hostile = replace(hostile, child=replace(hostile.child, goal="**x**\n- [y](http://z) " + "*" * 200))
    told = tree_text([hostile], ROOT)
    assert told.startswith("- ⏳ **research**: \\*\\*x\\*\\* - \\[y\\]")
    assert "\n" not in told
    assert not told.endswith("\\…")


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.4, "< 1 s"), (119, "119 s"), (150, "2\u00a0min"), (7_500, "2\u00a0h")]
)
def test_a_long_time_is_told_in_larger_units(seconds: float, told: str) -> None:
    assert told_time(timedelta(seconds=seconds)) == told
