"""Rounds of the campaign: something is asked, presses are drawn, and each is judged by the books."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import permutations
from random import Random
from typing import Final

from runtime.contract import REASON, Choice, Outcome
from runtime.policy.grants import GrantId
from runtime.store.approvals.undo_offers import OFFERED
from tests.security.answers.books import ASK, Books, Question
from tests.security.answers.desk import Desk
from tests.security.answers.draws import Draws
from tests.security.presses import HERE, THERE, Press
from tests.security.tally import Tally

WISHES: Final[Sequence[tuple[str, ...]]] = (
    *(("shell",), ("write",), ("write",), ("deploy",), ("deploy",), ("pay",)),
    *(("shell", "write"), ("deploy", "pay"), ("deploy", "write"), (ASK,), ("ask the room",)),
)
ASKERS: Final = ("uma", "otto", "vic")
PRESSES: Final = 12
"""Draws of a round."""
BURST: Final = 4
"""Presses at once: few enough to look at them in every order."""
NO_WORDS: Final = (Outcome.UNCHANGED, Outcome.REFUSED, Outcome.IGNORED)


@dataclass
class Round:
    """One wish and what becomes of it. `gone` are questions of rounds before."""

    desk: Desk
    tally: Tally
    chance: Random
    foreign: str
    gone: list[Question] = field(default_factory=list)
    live: list[Question] = field(default_factory=list)
    undone_before: int = 0

    async def play(self) -> None:
        await self._ask()
        draws = Draws(self.chance, self.desk.wire.has_alone, self.desk.wire.has_form)
        for _ in range(PRESSES):
            how_many = BURST if self.chance.random() < 0.12 and any(one.is_open for one in self.live) else 1
            presses = [draws.press(self.live, self.gone, self.foreign) for _ in range(how_many)]
            if how_many > 1:  # an undo counts once the call ran, which it may do between two of them
                presses = [press for press in presses if not press.payload.endswith(":undo")]
            await (self._alone(presses[0]) if len(presses) == 1 else self._at_once(presses))
            if self.chance.random() < 0.02:
                self._too_late()
        await self._end()

    async def _ask(self) -> None:
        number = next(self.desk.numbers)
        asker, wish = self.chance.choice(ASKERS), self.chance.choice(WISHES)
        calls = [
            (ASK, f"Which {number}? for {'room' if tool != ASK else ''}".strip())
            if tool not in ("shell", "write", "deploy", "pay")
            else (tool, f"make{number}x{place}")
            for place, tool in enumerate(wish)
        ]
        self.live = await self.desk.questions(asker, calls)
        known = self.desk.books.questions = {one.id: one for one in (*self.gone, *self.live)}
        self.undone_before = (await self.desk.totals())[3] - sum(bool(one.undone_by) for one in known.values())

    def _too_late(self) -> None:
        """Past the time of every undo that is offered by now."""
        self.desk.stage.clock.advance(OFFERED + timedelta(seconds=1))
        for one in (*self.live, *self.gone):
            one.is_late = one.is_late or one.ran

    # ----------------------------------------------------------------------------------------------------- judging

    async def _alone(self, press: Press) -> None:
        """One press: what it does is what the books say, and nothing besides."""
        books, before = self.desk.books, await self.desk.totals()
        counts = books.press(press)
        outcomes, error = await self.desk.answered(press)
        refused = (await self.desk.totals())[-1] - before[-1]
        fits = await self._fits(books, before)
        if counts:
            is_one = refused == 0 or press.payload.endswith(":all")  # of which some may stay open
            said = len(outcomes) == 1 and is_one and outcomes[0] in (Outcome.DECIDED, Outcome.UNCHANGED)
        else:
            is_heard = refused >= len(outcomes) or outcomes == [Outcome.IGNORED] or books.may_ask_back(press)
            said = not set(outcomes) - {*NO_WORDS} and is_heard
        words = f"{self.desk.wire.name}: {press}: {outcomes}, {refused} refused, {error}; {counts=}, {fits=}"
        self.tally.case(bool(said and fits == "" and not error), words)
        await self._went_on()

    async def _at_once(self, presses: Sequence[Press]) -> None:
        """Several at once are as if they came one after another, in some order; each is a case."""
        before, tries = await self.desk.totals(), [deepcopy(self.desk.books) for _ in permutations(presses)]
        made = await self.desk.at_once(presses)
        words = ""
        for books, order in zip(tries, permutations(presses), strict=True):
            for press in order:
                books.press(press)
            words = await self._fits(books, before)
            if not words:
                self._keep(books)
                break
        for press, (outcomes, error) in zip(presses, made, strict=True):
            told = f"{self.desk.wire.name}: {press} among {len(presses)}: {outcomes} {error}; {words}"
            self.tally.case(not (words or error), told)
        await self._went_on()

    async def _fits(self, books: Books, before: Sequence[int]) -> str:
        """Nothing, or how rows and books differ."""
        for one in (books.questions[each.id] for each in self.live):
            if (found := await self.desk.row(one)) != one.row():
                return f"{found} in place of {one.row()}"
        after = await self.desk.totals()
        if (after[0], after[2]) != (before[0], books.grants):
            return f"{after} after {before}, and {books.grants} grants"
        undone = sum(bool(one.undone_by) for one in books.questions.values())
        return "" if after[3] - self.undone_before == undone else f"{after[3]} undos"

    def _keep(self, books: Books) -> None:
        self.desk.books = books
        self.live = [books.questions[one.id] for one in self.live]
        self.gone = [books.questions[one.id] for one in self.gone]

    async def _went_on(self) -> None:
        """Once nothing of a run is open it ends; then what was approved ran."""
        if all(not one.is_open for one in self.live) and not all(one.ran for one in self.live):
            await self.desk.work()
            for one in self.live:
                one.ran = True

    # ------------------------------------------------------------------------------------------------------ the end

    async def _end(self) -> None:
        """What is still open is decided by somebody who may; then exactly what was approved ran, once."""
        for one in self.live:
            if one.is_open:
                await self._alone(_last_word(one))
        await self.desk.work()
        for one in self.live:
            wanted = int(one.state == "approved")
            ran = self.desk.ran.pop(one.command, 0)
            self.tally.case(ran == wanted, f"{self.desk.wire.name}: {one} ran {ran} times")
        self.tally.case(not self.desk.ran, f"{self.desk.wire.name}: ran without a word: {dict(self.desk.ran)}")
        self.desk.ran.clear()
        back, wanted = len(self.desk.taken_back), (await self.desk.totals())[3]
        self.tally.case(back == wanted, f"{self.desk.wire.name}: {wanted} undos, and {self.desk.taken_back}")
        for (grant,) in await self.desk.stage.rows("SELECT id FROM grants WHERE revoked_at IS NULL"):
            await self.desk.stage.store.approvals.revoke(grant, "test")


def _last_word(about: Question) -> Press:
    if about.tool == ASK:
        return Press(about.to or "vic", f"{about.shown}:{Choice.FIRST}", what="the answer")
    who = "ada" if about.votes.get("ada") != "deny" else "olga"
    return Press(who, f"{about.shown}:{Choice.DENY}", values={REASON: "enough"}, what="the last word")


# ------------------------------------------------------------------------------------------------------------- grants


async def grants_at_once(desk: Desk, tally: Tally) -> None:
    """A grant with one use left is wanted in two rooms at once; another is revoked while it is used."""
    command = f"make grant{next(desk.numbers)}x"
    await _give(desk, command, {"where": "everywhere", "uses": "1"})
    await asyncio.gather(*(desk.say("uma", [("shell", command)], room) for room in (HERE, THERE)))
    await desk.rest()
    left = await _open(desk, command)
    tally.case(desk.ran[command] == 2 and len(left) == 1, f"{desk.wire.name}: {desk.ran[command]} ran, {left} ask")
    await _deny(desk, tally, left)
    other = f"make grant{next(desk.numbers)}x"
    grant = await _give(desk, other, {"where": "this room"})
    await asyncio.gather(
        desk.say("uma", [("shell", other)]), desk.stage.store.approvals.revoke(grant, "test"), return_exceptions=False
    )
    await desk.rest()
    order = await desk.column("SELECT kind FROM audit WHERE subject = :id ORDER BY entry", id=grant)
    left = await _open(desk, other)
    used = order.count("grant used")
    held = order[-1] == "grant revoked" and desk.ran[other] == 1 + used and len(left) == 1 - used
    tally.case(held, f"{desk.wire.name}: {order}, {desk.ran[other]} ran, {left} ask")
    await _deny(desk, tally, left)
    [after] = await desk.questions("uma", [("shell", other)])
    tally.case(desk.ran[other] == 1 + used, f"{desk.wire.name}: ran on a grant that was revoked")
    await _deny(desk, tally, [after.id])
    desk.ran.clear()


async def _give(desk: Desk, command: str, values: dict[str, str]) -> GrantId:
    [asked] = await desk.questions("uma", [("shell", command)])
    press = Press("ada", f"{asked.id}:{Choice.ALWAYS}", values=values, what="a grant")
    assert (await desk.answered(press))[0] == [Outcome.DECIDED], press
    desk.books.grants += 1
    await desk.rest()
    return GrantId((await desk.column("SELECT id FROM grants ORDER BY created_at DESC"))[0])


async def _open(desk: Desk, command: str) -> list[str]:
    return [
        row[0]
        for row in await desk.stage.rows("SELECT id, arguments FROM approvals WHERE state = 'pending'")
        if command in row[1]
    ]


async def _deny(desk: Desk, tally: Tally, left: Sequence[str]) -> None:
    for one in left:
        [(address,)] = await desk.stage.rows("SELECT address FROM approvals WHERE id = :id", id=one)
        room = HERE if address == str(desk.wire.rooms[HERE]) else THERE
        outcomes, error = await desk.answered(Press("ada", f"{one}:{Choice.DENY}", room=room, what="a denial"))
        tally.case(outcomes == [Outcome.DECIDED] and not error, f"{desk.wire.name}: {outcomes} {error}")
    await desk.rest()
