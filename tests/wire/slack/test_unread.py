"""Which place is read next: where somebody waits, else in the order they were found."""

from __future__ import annotations

from typing import Final

from adapters.slack.incoming.unread import Look, Unheard, Unread
from runtime.contract import Address

A, B, C = (Address("slack", "T1", room) for room in ("CA", "CB", "CC"))
THREAD: Final = Address("slack", "T1", "CB", "10.0")


def unread(*places: Address) -> Unread:
    made = Unread()
    made.add((place, "10.0") for place in places)
    return made


def rest(of: Unread) -> list[Address]:
    """The places that are left, in the order in which they are read."""
    return [place for place, _ in iter(of.take, None)]


def taken(of: Unread) -> Look:
    look = of.take()
    assert look is not None
    return look


def test_places_are_read_as_they_were_found() -> None:
    assert rest(unread(B, A, C)) == [B, A, C]
    assert rest(unread()) == []


def test_where_somebody_waits_is_read_next() -> None:
    places = unread(A, B, C)
    assert not places.is_wanted
    places.want(C)
    assert places.is_wanted
    assert taken(places) == (C, "10.0")
    assert not places.is_wanted
    assert rest(places) == [A, B]


def test_who_speaks_in_a_thread_waits_for_it_and_for_the_room_around_it_alone() -> None:
    places = unread(A, B, C, THREAD)
    places.want(THREAD)
    assert rest(places) == [B, THREAD, A, C]

    assert unread(THREAD).holds(THREAD)
    assert unread(B).holds(THREAD)
    assert not unread(THREAD).holds(B)


def test_a_place_is_held_until_it_was_read() -> None:
    places = unread(A)
    taken(places)
    assert places.holds(A)
    assert places
    places.done()
    assert not places.holds(A)
    assert not places


def test_a_place_that_is_found_again_is_read_from_the_earlier_moment_on() -> None:
    places = unread(A)
    places.add([(A, "07.0")])
    places.add([(A, "12.0")])
    assert taken(places) == (A, "07.0")
    assert places.take() is None


def test_what_is_found_again_while_it_is_read_is_read_again() -> None:
    places = unread(A)
    taken(places)
    places.add([(A, "12.0")])
    places.done()
    assert places.holds(A)
    assert taken(places) == (A, "12.0")


def test_what_a_look_may_have_missed_is_looked_for_again_and_next() -> None:
    places = unread(A, B)
    taken(places)
    places.again(A)
    places.done()
    assert rest(places) == [A, B]


def test_a_look_that_is_still_to_come_misses_nothing() -> None:
    places = unread(A, B)
    taken(places)
    places.again(B)
    places.done()
    assert rest(places) == [B]


def test_of_places_in_which_nobody_was_heard_some_are_read_once() -> None:
    places = Unheard([A], "05.0", most=2)
    assert places.look(A) is None
    assert places.look(B) == (B, "05.0")
    assert places.look(B) is None
    assert places.look(THREAD) == (THREAD, "05.0")
    assert places.look(C) is None


def test_where_nobody_was_heard_at_all_there_is_nothing_to_read() -> None:
    assert Unheard().look(A) is None
