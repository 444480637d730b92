"""Which of a room's open deliveries goes on, and when to look again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Address, Content, Delivery, DeliveryId, Kind
from runtime.delivery.courier import OVERTAKEN, choose
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.store.protocol import OpenDelivery, OpenPart

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ROOM = Address("fake", "main", "r1")


def open_delivery(number: int, rank: int = 2, wait: int = 0, attempts: int = 0) -> OpenDelivery:
    parts = (OpenPart(1, PartState.PENDING, "hello", None, attempts),)
    delivery = Delivery(DeliveryId(f"d{number}"), f"o{number}", 0, Kind.FINAL, ROOM, Content("hello"))
    return OpenDelivery(delivery, DeliveryState.QUEUED, rank, number, NOW + timedelta(seconds=wait), parts)


rooms = st.lists(
    st.builds(open_delivery, number=st.integers(1, 99), rank=st.integers(1, 4), wait=st.sampled_from([-5, 0, 1, 30])),
    max_size=6,
    unique_by=lambda d: d.number,
)


def test_an_empty_room_needs_no_second_look() -> None:
    assert choose([], NOW) is None


def test_the_most_urgent_goes_first_and_then_the_oldest() -> None:
    room = [open_delivery(1, rank=3), open_delivery(3, rank=2), open_delivery(2, rank=2)]
    assert choose(room, NOW) is room[2]


def test_one_that_has_to_wait_lets_others_of_its_kind_pass_only_after_many_attempts() -> None:
    """While a platform is away each answer fails by itself, and in the room they come in their order still."""
    room = [open_delivery(1, wait=9, attempts=3), open_delivery(2), open_delivery(3, wait=4)]
    assert choose(room, NOW) == NOW + timedelta(seconds=4)
    assert choose(room, NOW + timedelta(seconds=9)) is room[0]
    stuck = [open_delivery(1, wait=9, attempts=OVERTAKEN), open_delivery(2)]
    assert choose(stuck, NOW) is stuck[1]


def test_one_that_has_to_wait_lets_others_of_another_kind_pass() -> None:
    room = [open_delivery(1, rank=1, wait=9), open_delivery(2, rank=4)]
    assert choose(room, NOW) is room[1]


def test_one_that_is_perhaps_on_screen_lets_nobody_pass() -> None:
    room = [open_delivery(1, rank=1), open_delivery(2, rank=0, wait=9)]
    assert choose(room, NOW) == NOW + timedelta(seconds=9)


def test_one_that_is_perhaps_on_screen_goes_first_when_its_time_has_come() -> None:
    room = [open_delivery(1, rank=1), open_delivery(2, rank=0)]
    assert choose(room, NOW) is room[1]


@given(rooms)
def test_when_all_have_to_wait_the_next_look_is_at_the_first(room: list[OpenDelivery]) -> None:
    waiting = [d for d in room if d.not_before > NOW]
    chosen = choose(waiting, NOW)
    assert chosen == min((d.not_before for d in waiting), default=None)


@given(rooms)
def test_what_is_chosen_may_be_shown_now_and_nothing_due_is_more_urgent(room: list[OpenDelivery]) -> None:
    chosen = choose(room, NOW)
    if isinstance(chosen, OpenDelivery):
        assert chosen.not_before <= NOW
        assert all((chosen.rank, chosen.number) <= (d.rank, d.number) for d in room if d.rank == chosen.rank)
    elif chosen:
        due = [d for d in room if d.not_before <= NOW]
        assert all(any(o.rank == d.rank and o.number < d.number and o not in due for o in room) for d in due)
