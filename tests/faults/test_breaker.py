"""A message that kills each process it is given to, among others that do nothing of the kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.checker import check
from tests.faults.program import Kill, living, until
from tests.faults.stage import Rows, Stage, stage

INNOCENT = 6
DEATHS = [Kill("poison")] * 3
POISONS = [
    pytest.param("drink poison", "web", id="a model call", marks=pytest.mark.soak),
    pytest.param("read poison.txt", "key", id="a tool that is repeated after a kill"),
]


async def told(on: Stage, room: str, count: int) -> list[str]:
    """What stands in `room` once it is `count` messages."""

    async def look() -> list[str] | None:
        texts = [seen.text for seen in await on.side.seen(room)]
        return texts if len(texts) >= count else None

    return await until(look, f"{count} messages in {room}")


@pytest.mark.timeout(180)  # seconds; about ten where nothing else runs
@pytest.mark.parametrize(("poison", "kind"), POISONS)
async def test_what_kills_three_times_is_set_aside_and_all_others_are_answered(
    poison: str, kind: str, tmp_path: Path
) -> None:
    """The third death is the last: the program counts them, and one more would fail it."""
    settings = ("--think", "1", "--set", "run.max_crashes=3")
    async with stage(tmp_path, kind, *settings, module="tests.faults.poison", stutter=False) as on:
        async with living(on.program, DEATHS):
            await on.side.say("poisoned", poison)
            await on.story.lines(INNOCENT)
            await on.program.spent.wait()
            (aside,) = await told(on, "poisoned", 1)
            await on.until_quiet()
            check(await on.evidence())
            await on.side.say("poisoned", "are you well?")
            texts = await told(on, "poisoned", 2)
            await on.until_quiet()
            await on.program.leave()
        rows = Rows(on.program.data / "signalbox.db")
    assert "I was cut off 3 times while working on this, so I've stopped" in aside
    assert texts[0] == aside
    assert "are you well?" in texts[1]
    assert rows.select("SELECT crashes FROM runs WHERE state = 'failed'") == [(3,)]
    assert rows.select("SELECT count(*) FROM runs WHERE state = 'done' AND crashes = 0") == [(INNOCENT + 1,)]
    assert len(rows.select("SELECT * FROM audit WHERE kind = 'set aside'")) == 1
    assert rows.select("SELECT count(*) FROM steps WHERE state <> 'done'") == [(0,)]
    assert "run set aside" in on.program.log()
