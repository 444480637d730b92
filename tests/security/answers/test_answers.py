"""Edits, grants, "Approve all", undos, answers and denials, drawn by a seed: none counts that must not, and all that must."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

import pytest

from bot.testing.clocks import HandClock
from tests.contract.runtime.stores import memory_store
from tests.security.answers.books import Question
from tests.security.answers.desk import desk
from tests.security.answers.plants import BUGS
from tests.security.answers.rounds import Round, grants_at_once
from tests.security.presses import THERE
from tests.security.tally import Tallied, Tally
from tests.security.wires.every import WIRES

SEED: Final = 20
WHOLE: Final = 1_700
"""Cases on each of six wires: ten thousand of all."""
KEPT: Final = 6
"""Questions of rounds before that are pressed still."""
ALWAYS: Final = ("any-revision", "one-is-enough", "endless-grants")
"""Planted in every run of the suite; `make cuts` plants all."""


async def campaign(wire: str, tally: Tally, folder: Path, seed: int) -> None:
    """Rounds until there are as many cases as there must be, or until something did not hold."""
    clock, chance = HandClock(), Random(seed)
    async with WIRES[wire]() as to_us, desk(memory_store(clock), clock, to_us, folder) as at:
        [foreign] = await at.questions("uma", [("shell", "elsewhere")], THERE)
        gone: list[Question] = []
        while tally.count < tally.least and not tally.broken:
            if chance.random() < 0.15 or not gone:
                await grants_at_once(at, tally)
            round_ = Round(at, tally, chance, foreign.id, gone[-KEPT:])
            await round_.play()
            gone = [*round_.gone, *round_.live]
        left = await at.column("SELECT state FROM approvals WHERE id = :id", id=foreign.id)
        tally.case(left == ["pending"], f"{wire}: the question of the other room is {left}")


@pytest.mark.parametrize("wire", WIRES)
async def test_a_tenth_of_all_answers_count_as_they_must(wire: str, tmp_path: Path, tallied: Tallied) -> None:
    tally = tallied(f"answers, a tenth, {wire}", WHOLE // 10)
    await campaign(wire, tally, tmp_path, SEED)
    tally.close()


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("wire", WIRES)
async def test_every_answer_counts_as_it_must(wire: str, tmp_path: Path, tallied: Tallied) -> None:
    """Together they are more than 10,000."""
    tally = tallied(f"answers, {wire}", WHOLE)
    await campaign(wire, tally, tmp_path, SEED + 1)
    tally.close()


@pytest.mark.parametrize("bug", [bug if bug in ALWAYS else pytest.param(bug, marks=pytest.mark.soak) for bug in BUGS])
async def test_a_planted_bug_is_found(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally(bug, WHOLE, lambda *_: None)
    BUGS[bug](monkeypatch)
    await campaign("web", tally, tmp_path, SEED)
    assert tally.broken, f"{tally.count} cases, and nobody saw it"
