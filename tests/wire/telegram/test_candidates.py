"""Which ids a lost message may have: values only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.known import (
    BEYOND,
    BOX,
    KEPT,
    SLACK,
    SPACES,
    Known,
    Space,
    beyond,
    candidates,
    likeliest,
    space_of,
)

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
ids = st.integers(min_value=1, max_value=200)


@given(floor=ids, upto=ids, known=st.sets(ids), ruled_out=st.sets(ids))
def test_candidates_are_what_is_left_between_and_lowest_first(
    floor: int, upto: int, known: set[int], ruled_out: set[int]
) -> None:
    found = list(candidates(floor, upto, known, ruled_out))
    assert found == sorted(found)
    assert set(found) == set(range(floor + 1, upto + 1)) - known - ruled_out


@st.composite
def boxes(draw: st.DrawFn) -> tuple[int, set[int], set[int]]:
    """A floor; ids given after it that we know; and the others, which are all lost messages."""
    floor, given_ = draw(ids), draw(st.lists(st.booleans(), max_size=40))
    numbered = list(enumerate(given_, floor + 1))
    return floor, {number for number, is_known in numbered if is_known}, {n for n, is_known in numbered if not is_known}


@given(boxes())
def test_in_the_box_every_lost_message_is_among_the_candidates_of_each(box: tuple[int, set[int], set[int]]) -> None:
    """However they lie among the known ones: in the box nothing is given an id that we are told nothing of."""
    floor, known, lost = box
    top = max(known, default=floor)
    unknown = len(list(candidates(floor, top, known, ())))
    upto = top + beyond(unknown, len(lost), is_box=True)
    assert lost <= set(candidates(floor, upto, known, ()))


@given(unknown=st.integers(0, 100), lost=st.integers(0, 100))
def test_there_is_always_some_room_above_the_highest_known_id(unknown: int, lost: int) -> None:
    assert beyond(unknown, lost, is_box=True) >= SLACK
    assert beyond(0, lost, is_box=True) >= BEYOND
    assert beyond(unknown, lost, is_box=False) == BEYOND


@given(st.sets(ids, min_size=1, max_size=40), st.data())
def test_the_likeliest_id_is_the_one_of_its_rank_and_then_its_neighbours_the_lower_first(
    numbers: set[int], data: st.DataObject
) -> None:
    taken = sorted(numbers)
    rank = data.draw(st.integers(0, len(taken) - 1))
    order, left = [], list(taken)
    while left:
        order.append(likeliest(left, taken, rank))
        left.remove(order[-1])
    assert order[0] == taken[rank]
    assert sorted(order) == taken, "each is tried once"
    assert order == sorted(order, key=lambda number: (abs(number - taken[rank]), number))


def test_with_fewer_ids_than_messages_the_last_id_is_the_likeliest() -> None:
    assert likeliest([3, 5], [3, 5], 9) == 5


def test_of_a_supergroup_as_many_as_may_be_probed_are_named_without_counting_millions() -> None:
    assert list(islice(candidates(1, 10**12, set(), set()), 3)) == [2, 3, 4]


def test_private_chats_and_basic_groups_share_a_counter_and_a_supergroup_has_its_own() -> None:
    assert {space_of(chat) for chat in (1, 10**12, -1, -999_999_999_999)} == {BOX}
    assert space_of(-1_000_000_000_001) != space_of(-1_000_000_000_002)


@given(st.lists(ids, max_size=60), ids)
def test_what_is_known_above_a_floor(numbers: list[int], floor: int) -> None:
    space = Space()
    for number in numbers:
        space.note(number)
    assert space.above(floor) == {number for number in numbers if number > floor}
    assert space.top == max(numbers, default=0)


def test_memory_of_ids_and_of_chats_is_bounded() -> None:
    known = Known()
    for number in range(1, KEPT + 100):
        known.note(11, number)
    for chat in range(SPACES + 100):
        known.note(-1_000_000_000_001 - chat, 1)
    assert len(known.space(11).above(0)) == KEPT
    assert known.space(11).top == KEPT + 99


def test_ids_are_dated_by_the_platform_with_room_for_its_clock_and_by_our_sends_without() -> None:
    known, second = Known(), timedelta(seconds=1)
    known.note(11, 5, dated=NOON)
    known.note(11, 7, begun=NOON + 30 * second)
    known.note(11, 9, begun=NOON + 40 * second)
    space = known.space(11)
    assert (space.before(NOON + 4 * second), space.before(NOON + 6 * second)) == (0, 5)
    assert (space.after(NOON), space.after(NOON + 35 * second), space.after(NOON + 40 * second)) == (7, 9, None)
