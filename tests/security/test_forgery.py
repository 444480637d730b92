"""Presses that must not count: forged, stale, foreign, double, by people without the right, a hundred at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice, product
from pathlib import Path
from typing import Final

import pytest

from bot.testing.clocks import HandClock
from runtime.contract import Choice, Outcome, Role
from runtime.store.store import open_store
from tests.contract.runtime.stores import memory_store
from tests.fakes.postgres import Postgres
from tests.security.house import House, Made, house
from tests.security.presses import PEOPLE, REMOVED, ROBOT, RULES, Press, forged
from tests.security.tally import Tallied, Tally
from tests.security.twists import TWISTS
from tests.security.wires.every import WIRES
from tests.security.wires.wire import until

SEED: Final = 11
CROWD: Final = 100
REFUSED: Final = (Outcome.UNCHANGED, Outcome.REFUSED)
LEAVING: Final = "olga"
WAITS: Final = (0, 0.001, 0.002, 0.005, 0.01, 0.02)  # seconds until the right is gone
ORDER: Final = (
    "SELECT kind FROM audit WHERE subject = :question AND kind LIKE 'approval %' "
    "OR kind = 'role set' AND subject = :who ORDER BY entry"
)
ANSWERS: Final = (Choice.APPROVE, Choice.DENY)


# ------------------------------------------------------------------------------------------------ one after the other


async def stale(house: House) -> Mapping[str, str]:
    """Questions that nobody may answer any more, or not from here."""
    withdrawn, expired = await house.withdrawn(), await house.expired()
    approved, denied = await house.ask(), await house.ask()
    await house.decide(approved, Choice.APPROVE)
    await house.decide(denied, Choice.DENY)
    elsewhere = await house.elsewhere()
    return {
        "withdrawn": withdrawn,
        "expired": expired,
        "approved": approved,
        "denied": denied,
        "elsewhere": elsewhere,
    }


def twisted(house: House, question: str) -> Iterator[Press]:
    """Presses by somebody with the right that the platform would not send so, or from another place."""
    who = sorted(house.rule.entitled)[0]
    for (what, twist), answer in product(TWISTS[house.wire.name].items(), ANSWERS):
        yield Press(who, f"{question}:{answer}", twist=twist, what=what)


def presses(house: House, old: Mapping[str, str], question: str) -> Iterator[Press]:
    """All that must change nothing."""
    reasons = (None, "because") if house.wire.has_form else (None,)
    for who, (what, about), reason in product(PEOPLE, old.items(), reasons):
        for answer in ANSWERS if reason is None else (Choice.DENY,):
            yield Press(who, f"{about}:{answer}", reason, what=what)
    for who, reason in product(sorted(PEOPLE.keys() - house.rule.entitled), reasons):
        for answer in ANSWERS if reason is None else (Choice.DENY,):
            yield Press(who, f"{question}:{answer}", reason, what="open")
    yield from twisted(house, question)
    for who, (what, payload) in product(PEOPLE, forged(question, old["elsewhere"]).items()):
        yield Press(who, payload, what=what)
        if house.wire.has_form and payload.endswith(":deny"):
            yield Press(who, payload, "because", what=what)


WELL_FORMED: Final = frozenset({"withdrawn", "expired", "approved", "denied", "elsewhere", "open"})


def is_held(house: House, press: Press, made: Made) -> bool:
    """Nothing counts, its sender alone reads why, and it is audited once."""
    if made.error or made.changed:
        return False
    if not made.verdicts:
        is_outside = house.wire.name == "web" and (PEOPLE[press.who] is None or press.who == REMOVED)
        return made.refusals == 0 and (is_outside or press.what not in WELL_FORMED)
    [verdict] = made.verdicts
    if verdict.outcome is Outcome.IGNORED:
        return press.who == ROBOT and made.refusals == 0
    told = made.sent.told if made.sent and not press.twist else verdict.notice
    return verdict.outcome in REFUSED and bool(verdict.notice) and told == verdict.notice and made.refusals == 1


def is_held_again(first: Made, second: Made) -> bool:
    """The same event once more is the same event."""
    repeats = all(verdict.outcome in (Outcome.DUPLICATE, Outcome.IGNORED) for verdict in second.verdicts)
    return not second.error and not second.changed and second.refusals == 0 and repeats


async def one_by_one(house: House, tally: Tally, listed: Sequence[Press]) -> None:
    for press in listed:
        made = await house.press(press)
        tally.case(is_held(house, press, made), f"{house.wire.name}, {house.rule.name}: {press}: {made}")
        if made.sent and made.verdicts and press.what in WELL_FORMED:
            second = await house.again(made.sent)
            tally.case(is_held_again(made, second), f"{house.wire.name}, {house.rule.name}: again {press}: {second}")


# --------------------------------------------------------------------------------------------------- hundred at once


async def crowd(house: House, tally: Tally, people: Sequence[str]) -> None:
    """A hundred presses of one question at once: one decides if anybody may, and no other."""
    question = await house.ask()
    listed = [
        Press(who, f"{question}:{answer}", what="open")
        for who, answer in islice(zip(cycle(people), cycle((*ANSWERS, Choice.DENY)), strict=False), CROWD)
    ]
    made = await asyncio.gather(*(house.together(press) for press in listed))
    votes = await house.votes(question)
    may = bool(house.rule.entitled & set(people))
    for press, (outcomes, error) in zip(listed, made, strict=True):
        won = Outcome.DECIDED in outcomes
        right = press.who in house.rule.entitled and votes == [(press.who, press.payload.rpartition(":")[2])]
        tally.case(
            not error and (right if won else not set(outcomes) - {*REFUSED, Outcome.IGNORED}),
            f"{house.wire.name}, {house.rule.name}: {press} among {CROWD}: {outcomes} {error}",
        )
    decided = sum(Outcome.DECIDED in outcomes for outcomes, _ in made)
    tally.case(decided == len(votes) == int(may), f"{house.wire.name}: {decided} decided, {votes}")
    await settled(house, tally)


async def repeats(house: House, tally: Tally) -> None:
    """One event that is brought a hundred times at once."""
    question, who = await house.ask(), sorted(house.rule.entitled)[0]
    sent = await house.wire.send(Press(who, f"{question}:approve"))
    before = await house.state()
    known = len(house.heard[sent.key])
    at_once, times = (1, 10) if house.wire.name == "telegram" else (CROWD, 1)  # a poll has one event once
    for _ in range(times):
        await asyncio.gather(*(house.wire.again(sent) for _ in range(at_once)))
    many = at_once * times
    await until(lambda: len(house.heard[sent.key]) - known >= many, f"{many} repeats")
    for verdict in house.heard[sent.key][known:]:
        tally.case(verdict.outcome is Outcome.DUPLICATE, f"{house.wire.name}: a repeat was {verdict}")
    votes = await house.votes(question)
    tally.case(votes == [(who, "approve")] and await house.state() == before, f"{house.wire.name}: repeats: {votes}")
    await settled(house, tally)


async def demotion(house: House, tally: Tally, wait: float) -> None:
    """A right is taken while presses of that person are on their way: what counted came before that."""
    question = await house.ask()
    listed = [Press(LEAVING, f"{question}:{answer}", what="open") for answer in islice(cycle(ANSWERS), CROWD // 5)]

    async def demote() -> None:
        await asyncio.sleep(wait)
        await house.stage.store.people.set_role(LEAVING, Role.USER, actor="test")

    made, _ = await asyncio.gather(asyncio.gather(*map(house.together, listed)), demote())
    order = await house.column(ORDER, question=question, who=LEAVING)
    last = order[-1 - order[::-1].index("approval asked") :]
    votes, decided = await house.votes(question), sum(Outcome.DECIDED in outcomes for outcomes, _ in made)
    for press, (outcomes, error) in zip(listed, made, strict=True):
        fits = Outcome.DECIDED in outcomes or not set(outcomes) - set(REFUSED)
        tally.case(not error and fits, f"{house.wire.name}: {press} while demoted: {outcomes} {error}")
    held = decided == len(votes) <= 1 and last[-1] == "role set"
    tally.case(held, f"{house.wire.name}, {house.rule.name}: {votes} while demoted: {last}")
    await house.stage.store.people.set_role(LEAVING, Role.OPERATOR, actor="test")
    await settled(house, tally)


async def settled(house: House, tally: Tally) -> None:
    """What was approved ran once, and nothing else ran."""
    await house.rest()
    approved = await house.column("SELECT id FROM approvals WHERE state = 'approved'")
    tally.case(len(house.tool.calls) == len(approved), f"{house.wire.name}: {len(house.tool.calls)} of {approved}")
    double = await house.column("SELECT approval_id FROM votes GROUP BY approval_id HAVING count(*) > 1")
    tally.case(not double, f"{house.wire.name}: decided twice: {double}")


# ---------------------------------------------------------------------------------------------------------- the suite


def sampled(listed: Sequence[Press], share: int) -> list[Press]:
    """One in `share`, and of those that name a question of ours thrice as many."""
    chance = random.Random(SEED)
    ours = [press for press in listed if press.what in WELL_FORMED]
    others = [press for press in listed if press.what not in WELL_FORMED]
    chosen = [*chance.sample(ours, 3 * len(ours) // share), *chance.sample(others, len(others) // share)]
    chance.shuffle(chosen)
    return chosen


async def whole(house: House, tally: Tally, *, share: int = 1) -> None:
    """All of it; or of the presses one in `share`, and one crowd."""
    async with house.life():
        old, question = await stale(house), await house.ask()
        await house.change_people()
        listed = list(presses(house, old, question))
        chosen = listed if share == 1 else sampled(listed, share)
        await one_by_one(house, tally, chosen[: len(chosen) // 2])
        await crowd(house, tally, list(PEOPLE))
    async with house.life():  # a restart: the cards of before are pressed again
        await one_by_one(house, tally, chosen[len(chosen) // 2 :])
        await repeats(house, tally)
        if share == 1:
            await crowd(house, tally, sorted(PEOPLE.keys() - house.rule.entitled))
            await crowd(house, tally, sorted(house.rule.entitled))
            for wait in WAITS if LEAVING in house.rule.entitled else ():
                await demotion(house, tally, wait)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_tenth_of_all_forged_presses_decides_nothing(wire: str, tmp_path: Path, tallied: Tallied) -> None:
    tally, clock = tallied(f"forgery, a tenth, {wire}", 150), HandClock()
    rule = RULES[list(WIRES).index(wire) % len(RULES)]
    async with WIRES[wire]() as to_us, house(memory_store(clock), clock, to_us, rule, tmp_path) as made:
        await whole(made, tally, share=10)
    tally.close()


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("wire", WIRES)
async def test_no_forged_press_decides_anything(wire: str, tmp_path: Path, tallied: Tallied) -> None:
    """On each way to us, under each rule of who may answer. Together they are more than 10,000 presses."""
    tally = tallied(f"forgery, {wire}", 3_000)
    for rule in RULES:
        clock = HandClock()
        async with WIRES[wire]() as to_us, house(memory_store(clock), clock, to_us, rule, tmp_path) as made:
            await whole(made, tally)
    tally.close()


async def test_a_crowd_on_postgresql_decides_once(postgres: Postgres, tmp_path: Path, tallied: Tallied) -> None:
    tally, clock = tallied("forgery, PostgreSQL", CROWD), HandClock()
    store = await open_store(postgres.newest_database(), now=clock)
    async with WIRES["web"]() as to_us, house(store, clock, to_us, RULES[0], tmp_path) as made, made.life():
        await made.change_people()
        await crowd(made, tally, list(PEOPLE))
    tally.close()
