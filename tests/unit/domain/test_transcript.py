"""Whatever a history looks like, a strict provider accepts its repair."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.contract import AssistantTurn, Call, ToolTurn, Turn, UserTurn
from runtime.domain.transcript import EARLIER, NO_RESULT, named, repair

HELLO = UserTurn("hello")
DONE = AssistantTurn("done")


def call(call_id: str = "c1", tool: str = "read_file") -> Call:
    return Call(call_id, tool, "{}")


def asks(*ids: str, text: str = "") -> AssistantTurn:
    return AssistantTurn(text, tuple(call(call_id) for call_id in ids))


def result(call_id: str = "c1", text: str = "found") -> ToolTurn:
    return ToolTurn(call_id, "read_file", text)


def faults(turns: Sequence[Turn]) -> list[str]:
    """What a strict provider would refuse about `turns`."""
    found: list[str] = []
    open_ids: list[str] = []
    seen_ids: set[str] = set()
    before: Turn | None = None
    for place, turn in enumerate(turns):
        if open_ids and not isinstance(turn, ToolTurn):
            found.append(f"{place}: calls {open_ids} have no result")
            open_ids = []
        match turn:
            case UserTurn(text):
                found += [f"{place}: empty"] * (not text.strip())
                found += [f"{place}: two user turns"] * isinstance(before, UserTurn)
            case AssistantTurn(text, calls):
                ids = [c.id for c in calls]
                found += [f"{place}: empty"] * (not text.strip() and not calls)
                found += [f"{place}: no user turn first"] * (before is None)
                found += [f"{place}: two assistant turns"] * isinstance(before, AssistantTurn)
                found += [f"{place}: id {i!r} again" for i in ids if i in seen_ids or ids.count(i) > 1 or not i.strip()]
                seen_ids.update(ids)
                open_ids = ids
            case ToolTurn(call_id):
                if call_id in open_ids:
                    open_ids.remove(call_id)
                else:
                    found.append(f"{place}: result of no call")
        before = turn
    return found + [f"end: calls {open_ids} have no result"] * bool(open_ids)


texts = st.sampled_from(["", " ", "one", "two"])
ids = st.sampled_from(["", "c1", "c2", "c1-2"])
turns = st.one_of(
    st.builds(UserTurn, texts, st.sampled_from(["", "ada", "bob"])),
    st.builds(AssistantTurn, texts, st.lists(st.builds(call, ids), max_size=3).map(tuple)),
    st.builds(ToolTurn, ids, st.just("read_file"), texts),
)
histories = st.lists(turns, max_size=12)


@given(histories)
@settings(max_examples=500)
def test_any_history_is_valid_after_repair(history: list[Turn]) -> None:
    assert faults(repair(history)) == []


@given(histories)
def test_repairing_twice_changes_nothing_more(history: list[Turn]) -> None:
    once = repair(history)
    again = repair(once)
    assert [id(turn) for turn in again] == [id(turn) for turn in once]


@given(histories)
def test_no_words_of_anyone_are_lost(history: list[Turn]) -> None:
    kept = "\n".join(turn.text for turn in repair(history))
    assert all(turn.text.strip() in kept for turn in history if not isinstance(turn, ToolTurn))


@given(histories)
def test_every_call_keeps_its_place_and_arguments(history: list[Turn]) -> None:
    def calls(of: Sequence[Turn]) -> list[tuple[str, str]]:
        return [(c.tool, c.arguments) for turn in of if isinstance(turn, AssistantTurn) for c in turn.calls]

    assert calls(repair(history)) == calls(history)


VALID: list[list[Turn]] = [
    [],
    [HELLO],
    [HELLO, DONE],
    [HELLO, asks("c1", "c2"), result("c2"), result("c1"), DONE, HELLO],
    [HELLO, asks("c1", text="let me see"), result("c1", ""), asks("c2"), result("c2"), HELLO, DONE],
]


@pytest.mark.parametrize("history", VALID)
def test_a_valid_history_stays_the_same_objects(history: list[Turn]) -> None:
    assert [id(turn) for turn in repair(history)] == [id(turn) for turn in history]


BROKEN: list[tuple[str, list[Turn], list[Turn]]] = [
    ("a call without result", [HELLO, asks("c1")], [HELLO, asks("c1"), result("c1", NO_RESULT)]),
    (
        "one of two calls without result",
        [HELLO, asks("c1", "c2"), result("c2"), HELLO],
        [HELLO, asks("c1", "c2"), result("c2"), result("c1", NO_RESULT), HELLO],
    ),
    ("a result without call", [HELLO, result("c9"), DONE], [HELLO, DONE]),
    ("a result before its call", [HELLO, result(), asks("c1")], [HELLO, asks("c1"), result("c1", NO_RESULT)]),
    (
        "a second result",
        [HELLO, asks("c1"), result("c1", "first"), result("c1", "second")],
        [HELLO, asks("c1"), result("c1", "first")],
    ),
    ("a late result", [HELLO, asks("c1"), HELLO, result(), DONE], [HELLO, asks("c1"), result(), HELLO, DONE]),
    ("empty turns", [UserTurn(" "), HELLO, AssistantTurn(""), DONE], [HELLO, DONE]),
    ("two user turns", [HELLO, UserTurn("again")], [UserTurn("hello\n\nagain")]),
    (
        "two people",
        [UserTurn("hi", "ada"), UserTurn("ho", "bob"), UserTurn("ha", "ada")],
        [UserTurn("[ada] hi\n\n[bob] ho\n\n[ada] ha")],
    ),
    ("two assistant turns", [HELLO, DONE, AssistantTurn("really")], [HELLO, AssistantTurn("done\n\nreally")]),
    (
        "words, then calls",
        [HELLO, AssistantTurn("let me see"), asks("c1"), result()],
        [HELLO, asks("c1", text="let me see"), result()],
    ),
    ("the assistant first", [DONE, HELLO], [EARLIER, DONE, HELLO]),
    (
        "one id in two turns",
        [HELLO, asks("c1"), result("c1", "a"), asks("c1"), result("c1", "b")],
        [HELLO, asks("c1"), result("c1", "a"), asks("c1-2"), result("c1-2", "b")],
    ),
    (
        "two equal calls in one turn",
        [HELLO, asks("c1", "c1"), result("c1", "a"), result("c1", "b")],
        [HELLO, asks("c1", "c1-2"), result("c1", "a"), result("c1-2", "b")],
    ),
    ("no id", [HELLO, asks(""), result("")], [HELLO, asks("call-2"), result("call-2")]),
]


@pytest.mark.parametrize(("history", "repaired"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_what_is_broken_is_repaired(history: list[Turn], repaired: list[Turn]) -> None:
    assert repair(history) == repaired


def test_a_name_cannot_close_its_bracket() -> None:
    assert named(UserTurn("hi", "a]\n[b")) == "[a b] hi"
    assert named(UserTurn("hi", "")) == "hi"
