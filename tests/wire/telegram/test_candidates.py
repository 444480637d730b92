"""Which ids a lost message may have: values only."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.settling.known_ids import (
    BEYOND,
    BOX,
    DATED_OF_A_GROUP,
    RUNS_OF_A_GROUP,
    SLACK,
    SPACES,
    KnownIds,
    Space,
    space_of,
)
from adapters.telegram.settling.search import Nothing, reach, strangers

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
ids = st.integers(min_value=1, max_value=200)
owners = st.lists(st.one_of(st.none(), st.integers(0, 12)), max_size=40)
"""Of each id above the base: the lost message that it is given to, or a stranger."""


@given(owners, st.integers(0, 12), st.data())
def test_no_lost_message_is_above_what_is_searched(given_: list[int | None], lost: int, data: st.DataObject) -> None:
    """However many there are, and whatever was excluded truly; the one that is looked for comes last."""
    mine: set[int] = set()
    truth: list[int | None] = []
    for owner in given_:  # each lost message has one id, and few ids are strangers'
        if owner is None or owner >= lost or owner in mine:
            if sum(other is None for other in truth) >= strangers(lost):
                continue
            truth.append(None)
        else:
            mine.add(owner)
            truth.append(owner)
    dead = {number for number, owner in enumerate(truth, 1) if owner is None and data.draw(st.booleans())}
    assert len(truth) + 1 <= reach(0, lost, dead.__contains__)


@given(base=ids, lost=st.integers(0, 100))
def test_so_far_it_is_searched_where_nothing_is_excluded_and_where_all_is(base: int, lost: int) -> None:
    assert reach(base, lost, lambda number: False) == base + lost + strangers(lost) + 1
    assert reach(base, lost, lambda number: True) == base + strangers(lost) + 1
    assert strangers(lost) >= SLACK
    assert reach(base, 0, lambda number: False) == base + BEYOND


def test_what_was_empty_above_the_highest_known_id_counts_for_looks_that_began_before() -> None:
    nothing, second = Nothing(), timedelta(seconds=1)
    nothing.note(5, top=9, at=NOON)
    nothing.note(12, top=9, at=NOON)
    assert [nothing.has(5, NOON + second), nothing.has(12, NOON), nothing.has(12, NOON + second)] == [True, True, False]


def test_of_a_supergroup_ids_are_named_without_counting_millions() -> None:
    space = Space()
    space.note(3)
    assert list(islice(space.unknown(range(2, sys.maxsize)), 3)) == [2, 4, 5]


def test_private_chats_and_basic_groups_share_a_counter_and_a_supergroup_has_its_own() -> None:
    assert {space_of(chat) for chat in (1, 10**12, -1, -999_999_999_999)} == {BOX}
    assert space_of(-1_000_000_000_001) != space_of(-1_000_000_000_002)


@given(st.lists(ids, max_size=60), ids)
def test_what_is_unknown_above_a_floor(numbers: list[int], floor: int) -> None:
    space = Space()
    for number in numbers:
        space.note(number)
    assert set(space.unknown(range(floor, 201))) == set(range(floor, 201)) - set(numbers)
    assert space.top == max(numbers, default=0)


def test_a_room_takes_no_more_memory_after_twenty_thousand_messages_than_after_a_hundred() -> None:
    space = KnownIds().space(-1_000_000_000_001)
    for number in range(1, 20_001):
        space.note(number)
    assert (space.count, space.top, list(space.unknown(range(1, 20_003)))) == (1, 20_000, [20_001, 20_002])


def test_memory_of_ids_and_of_chats_is_bounded() -> None:
    known, alone = KnownIds(), range(2, 2 * RUNS_OF_A_GROUP + 200, 2)
    for chat in range(-1_000_000_000_001, -1_000_000_000_001 - SPACES - 100, -1):
        known.note(chat, 1)
    for number in alone:  # the bot hears only what is said to it
        known.note(chat, number, dated=NOON, begun=NOON)
    space = known.space(chat)
    assert (known.count, space.count) == (SPACES, RUNS_OF_A_GROUP)
    assert [number in space for number in alone] == [False] * 99 + [True] * RUNS_OF_A_GROUP
    assert (len(space.dated), len(space.begun)) == (DATED_OF_A_GROUP, DATED_OF_A_GROUP)


def test_ids_are_dated_by_the_platform_with_room_for_its_clock_and_by_our_sends_without() -> None:
    known, second = KnownIds(), timedelta(seconds=1)
    known.note(11, 5, dated=NOON)
    known.note(11, 7, begun=NOON + 30 * second)
    known.note(11, 9, begun=NOON + 40 * second)
    space = known.space(11)
    assert (space.before(NOON + 4 * second), space.before(NOON + 6 * second)) == (0, 5)
    assert (space.after(NOON), space.after(NOON + 35 * second), space.after(NOON + 40 * second)) == (7, 9, None)


def test_a_pressed_card_may_be_the_message_that_is_looked_for() -> None:
    known = KnownIds()
    known.note(7, 40, dated=NOON)
    known.met(7, 42, dated=NOON + timedelta(minutes=1))
    space = known.space(7)
    assert list(space.unknown(range(40, 44))) == [41, 42, 43]
    assert space.top == 42
    assert space.before(NOON + timedelta(minutes=2)) == 42
