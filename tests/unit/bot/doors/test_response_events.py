"""Events of a response: the same from rows as while it was said, and begun anew where the text became another one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest

from bot.doors.openai.answers import ANEW, Event, growth
from bot.doors.openai.responses import behind, events
from bot.doors.openai.told import Told
from runtime.contract import Address, SignalId
from runtime.domain.programs.followed import Followed, FollowState

WORKING: Final = Followed(
    id=SignalId("m1"),
    platform="api:ci",
    address=Address("web", "main", "room"),
    agent="ops",
    state=FollowState.WORKING,
    own="Hello",
    body="",
    at=datetime(2026, 11, 26, tzinfo=UTC),
)
DONE: Final = replace(WORKING, state=FollowState.DONE)
FIRST: Final = "I'll look into the log first. "
LAST: Final = "The build failed because the disk of the runner was full, so nothing could be written. " * 3


def deltas(made: list[Event]) -> str:
    return "".join(event.get("delta", "") for event in made)


@pytest.mark.parametrize("said", [LAST[:30], LAST[:100], LAST[:200], LAST])
def test_a_stream_cut_while_text_is_said_goes_on_behind_its_number(said: str) -> None:
    live, whole = events(Told(WORKING, (FIRST,), said), None), events(Told(DONE, (FIRST, LAST)), None)
    assert live == whole[: len(live)]
    for heard in range(1, len(live)):
        rest = behind(whole, live[heard]["sequence_number"], is_last=True)
        assert [*live[: heard + 1], *rest] == whole


def test_a_text_that_became_another_one_is_sent_again_behind_the_opening() -> None:
    live = events(Told(WORKING, (), LAST), None)
    other = events(Told(DONE, ("The disk of the runner was full.",)), None)
    again = behind(other, live[-1]["sequence_number"], is_last=True)
    assert [event["type"] for event in again][:2] == ["response.in_progress", "response.output_item.added"]
    assert deltas(list(again)) == "The disk of the runner was full."


def test_a_text_that_is_said_again_after_a_kill_is_waited_for() -> None:
    live = events(Told(WORKING, (), LAST), None)
    regrown = events(Told(WORKING, (), LAST[:60]), None)
    assert behind(regrown, live[-1]["sequence_number"], is_last=False) == ()


def test_numbers_grow_with_each_event() -> None:
    numbers = [event["sequence_number"] for event in events(Told(DONE, (FIRST, LAST)), None)]
    assert numbers[:2] == [0, 1]
    assert numbers == sorted(set(numbers))


def test_a_chat_stream_never_takes_words_back() -> None:
    changed = Told(WORKING, (), "Another")
    assert growth(changed, "The bui", is_end=False) == ""
    assert growth(Told(DONE, ("Another.",)), "The bui", is_end=True) == f"{ANEW}Another."
    assert growth(Told(DONE, (FIRST, LAST)), FIRST, is_end=True) == f"\n\n{LAST}"
