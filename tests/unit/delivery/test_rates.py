"""Token buckets: never more than the platform bears, the urgent first, rooms in turns, and nobody for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Address, Bucket, Kind
from runtime.delivery.rates import NO_WAIT, Rates

SECOND = timedelta(seconds=1)
LONG = timedelta(hours=1)
FINAL, REPORT, PROGRESS = Kind.FINAL.rank, Kind.REPORT.rank, Kind.PROGRESS.rank


def room(name: str, thread: str = "") -> Address:
    return Address("fake", "main", name, thread)


@dataclass
class Account:
    """One bucket a room and one for all, and a clock moved by hand."""

    of_room: tuple[int, timedelta] = (3, SECOND)
    of_all: tuple[int, timedelta] = (5, SECOND / 10)
    at: timedelta = field(default=timedelta())

    def rates(self, *, rested: bool = True) -> Rates:
        made = Rates(self.buckets, lambda: self.at)
        if rested:
            self.at += LONG
        return made

    def buckets(self, address: Address) -> Sequence[Bucket]:
        return Bucket("all", *self.of_all), Bucket(f"room {address.room}", *self.of_room)


# ---------------------------------------------------------------------------------------------------------- buckets


def test_without_buckets_nobody_waits() -> None:
    rates = Rates()
    rates.shut("", LONG)
    assert [rates.take(room("r"), FINAL) for _ in range(1000)] == [NO_WAIT] * 1000
    assert rates.take_now(room("r"), FINAL)
    assert rates.spare(room("r"))


def test_a_burst_goes_at_once_and_then_one_each_second() -> None:
    account = Account()
    rates = account.rates()
    assert [rates.take(room("r"), FINAL) for _ in range(4)] == [NO_WAIT, NO_WAIT, NO_WAIT, SECOND]
    account.at += SECOND
    assert rates.take(room("r"), FINAL) == NO_WAIT
    assert rates.take(room("r"), FINAL) == SECOND


def test_a_new_courier_begins_with_empty_buckets() -> None:
    """Whoever sent before it may have emptied them a moment ago."""
    account = Account()
    rates = account.rates(rested=False)
    assert rates.take(room("r"), FINAL) == SECOND
    account.at += 2 * SECOND
    assert [rates.take(room(name), FINAL) for name in "rrs"] == [NO_WAIT, NO_WAIT, NO_WAIT]


def test_threads_of_a_room_share_its_bucket() -> None:
    rates = Account().rates()
    waits = [rates.take(room("r", thread), FINAL) for thread in ("a", "b", "c", "d")]
    assert waits == [NO_WAIT, NO_WAIT, NO_WAIT, SECOND]


def test_a_slow_room_keeps_no_token_from_another() -> None:
    account = Account(of_room=(1, LONG), of_all=(1, SECOND))
    rates = account.rates()
    assert rates.take(room("slow"), FINAL) == NO_WAIT
    account.at += SECOND
    assert rates.take(room("slow"), FINAL) > SECOND
    assert rates.take(room("quick"), FINAL) == NO_WAIT


ops = st.tuples(st.integers(0, 3000), st.integers(0, 3), st.sampled_from(["take", "now", "spare"]), st.integers(1, 4))
bounds = st.tuples(st.integers(1, 4), st.integers(1, 1500).map(lambda ms: timedelta(milliseconds=ms)))


@given(of_room=bounds, of_all=bounds, plan=st.lists(ops, max_size=60))
def test_never_more_than_the_burst_and_what_came_since(
    of_room: tuple[int, timedelta], of_all: tuple[int, timedelta], plan: list[tuple[int, int, str, int]]
) -> None:
    account = Account(of_room, of_all)
    rates = account.rates(rested=False)
    taken: dict[str, list[timedelta]] = {"all": []}
    for pause, number, how, rank in plan:
        account.at += timedelta(milliseconds=pause)
        at = room(f"{number}")
        asked = {"take": lambda at, rank: rates.take(at, rank) == NO_WAIT, "now": rates.take_now}.get(how)
        if asked(at, rank) if asked else rates.spare(at):
            for key in ("all", at.room):
                taken.setdefault(key, []).append(account.at)
    for key, times in taken.items():
        burst, every = of_all if key == "all" else of_room
        within(times, burst, every)


def within(times: list[timedelta], burst: int, every: timedelta) -> None:
    """In each span at most `burst` and one more each `every`; from the start on without the burst."""
    for first, since in enumerate(times):
        for last in range(first, len(times)):
            assert last - first + 1 <= burst + Fraction((times[last] - since) // timedelta(microseconds=1)) / Fraction(
                every // timedelta(microseconds=1)
            )
    for number, at in enumerate(times, 1):
        assert number * every <= at


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=30))
def test_who_waits_as_long_as_told_gets_a_token_in_the_end(wishes: list[tuple[int, int]]) -> None:
    account = Account(of_room=(1, SECOND), of_all=(1, SECOND / 2))
    rates, left = account.rates(rested=False), list(wishes)
    for _ in range(len(wishes) * len(wishes) + len(wishes)):
        number, rank = left[0]
        if wait := rates.take(room(f"{number}"), rank):
            account.at += wait
        else:
            left.pop(0)
        if not left:
            return
    raise AssertionError(f"still waiting: {left}")


# ------------------------------------------------------------------------------------------------------- whose turn


def served(account: Account, rates: Rates, waiting: dict[str, int], tokens: int) -> list[str]:
    """Rooms in the order in which they get their one token; each asks again when its time has come."""
    order: list[str] = []
    due = dict.fromkeys(waiting, account.at)
    for _ in range(1000):
        if len(order) == tokens or not due:
            return order
        name = min(due, key=lambda one: due[one])
        account.at = max(account.at, due[name])
        if wait := rates.take(room(name), waiting[name]):
            due[name] = account.at + wait
        else:
            order.append(name)
            del due[name]
    raise AssertionError(order)


def drained(account: Account) -> Rates:
    """Rates whose one bucket is empty."""
    rates = account.rates()
    while rates.take(room("other"), FINAL) == NO_WAIT:
        pass
    rates.leave(room("other"))
    return rates


def test_the_most_urgent_room_goes_first_whoever_came_before() -> None:
    account = Account(of_room=(99, SECOND), of_all=(1, SECOND))
    rates = drained(account)
    waiting = {kind.value: kind.rank for kind in reversed(Kind)}
    for name, rank in waiting.items():
        assert rates.take(room(name), rank) > NO_WAIT
    assert served(account, rates, waiting, 4) == ["approval", "final", "report", "progress"]


def test_equally_urgent_rooms_take_turns() -> None:
    account = Account(of_room=(99, SECOND), of_all=(1, SECOND))
    rates = drained(account)
    order = []
    for _ in range(3):
        for name in "abc":
            rates.take(room(name), FINAL)
    for _ in range(2):
        order += served(account, rates, dict.fromkeys("abc", FINAL), 3)
    assert order == ["a", "b", "c", "a", "b", "c"]


def test_who_comes_later_and_is_more_urgent_does_not_wait_for_the_others() -> None:
    account = Account(of_room=(99, SECOND), of_all=(1, SECOND))
    rates = drained(account)
    for name in "abc":
        rates.take(room(name), REPORT)
    assert rates.take(room("d"), FINAL) == SECOND
    account.at += SECOND
    assert rates.take(room("a"), REPORT) > NO_WAIT
    assert rates.take(room("d"), FINAL) == NO_WAIT


def test_who_leaves_is_waited_for_no_longer() -> None:
    account = Account(of_room=(99, SECOND), of_all=(1, SECOND))
    rates = drained(account)
    rates.take(room("a"), FINAL)
    assert rates.take(room("b"), FINAL) == 2 * SECOND
    rates.leave(room("a"))
    assert rates.take(room("b"), FINAL) == SECOND


def test_who_wants_it_now_does_not_push_in() -> None:
    account = Account(of_room=(99, SECOND), of_all=(1, SECOND))
    rates = drained(account)
    rates.take(room("a"), FINAL)
    account.at += SECOND
    assert not rates.take_now(room("b"), FINAL)
    assert rates.take_now(room("c"), Kind.APPROVAL.rank)


@pytest.mark.parametrize(("burst", "left"), [(2, 1), (3, 2), (5, 3), (20, 10)])
def test_what_need_not_be_sent_leaves_half_a_burst_for_a_reply_of_several_messages(burst: int, left: int) -> None:
    """Scenario 30."""
    rates = Account(of_room=(burst, SECOND), of_all=(99, SECOND)).rates()
    while rates.spare(room("r")):
        pass
    assert [rates.take(room("r"), FINAL) == NO_WAIT for _ in range(left + 1)] == [True] * left + [False]


@pytest.mark.parametrize("burst", [2, 3, 5])
def test_progress_that_waits_its_turn_leaves_a_token_for_the_reply(burst: int) -> None:
    rates = Account(of_room=(burst, SECOND)).rates()
    while rates.take(room("r"), PROGRESS) == NO_WAIT:
        pass
    assert rates.take(room("r"), FINAL) == NO_WAIT


def test_where_there_is_only_ever_one_token_nothing_is_spare() -> None:
    rates = Account(of_room=(1, SECOND)).rates()
    assert not rates.spare(room("r"))
    assert rates.take(room("r"), PROGRESS) == NO_WAIT


def test_nothing_is_spare_while_somebody_waits() -> None:
    account = Account(of_room=(99, SECOND), of_all=(9, SECOND))
    rates = drained(account)
    rates.take(room("a"), FINAL)
    account.at += 9 * SECOND
    assert not rates.spare(room("b"))
    rates.take(room("a"), FINAL)
    assert rates.spare(room("b"))


# ----------------------------------------------------------------------------------------------------------- pauses


def test_a_room_that_must_be_quiet_is_quiet_in_all_its_threads_and_no_other_is() -> None:
    account = Account()
    rates = account.rates()
    rates.shut("r", 40 * SECOND)
    assert rates.take(room("r", "thread"), FINAL) == 40 * SECOND
    assert not rates.take_now(room("r"), FINAL)
    assert not rates.spare(room("r"))
    assert rates.take(room("s"), FINAL) == NO_WAIT
    account.at += 40 * SECOND
    assert rates.take(room("r", "thread"), FINAL) == NO_WAIT


def test_an_account_that_must_be_quiet_is_quiet_in_every_room() -> None:
    rates = Account().rates()
    rates.shut("", 40 * SECOND)
    assert [rates.take(room(name), FINAL) for name in "rs"] == [40 * SECOND] * 2


def test_the_longest_wait_counts() -> None:
    rates = Account().rates()
    rates.shut("r", 40 * SECOND)
    rates.shut("r", 5 * SECOND)
    assert rates.take(room("r"), FINAL) == 40 * SECOND


def test_many_rooms_leave_nothing_behind() -> None:
    account = Account(of_all=(10, timedelta(microseconds=1)))
    rates = account.rates()
    for number in range(10_000):
        rates.take(room(f"{number}"), FINAL)
        rates.shut(f"{number}", SECOND)
        account.at += SECOND
    assert len(rates._lines) + len(rates._shut) <= 1000
