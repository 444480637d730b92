"""What the platform refuses, delays or closes, and a kill in the middle of a long answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot.node.lock import control_of
from bot.operator.client import Client, connected
from tests.contract.adapters.rig import Trouble
from tests.faults.channels.rounds import rig_of, until_shown, usually_on, warmed
from tests.faults.program import Kill, living, until
from tests.faults.stage import Rows, Stage, stage
from tests.faults.story import answers

WAIT = 3  # seconds that the platform asks for
RUN_FREELY = ("--set", f"policy={json.dumps([{'tool': 'shell', 'result': 'allow'}])}")
WORD = re.compile(r"\bw(\d{5})\b")

WAITED = (
    "SELECT (p.shown_at - d.created_at) / 1e6 FROM parts p JOIN deliveries d ON d.id = p.delivery_id "
    "ORDER BY d.created_at LIMIT 1"
)
"""Seconds from the first answer's commit until it was shown."""


def rows_of(on: Stage) -> Rows:
    return Rows(on.program.data / "signalbox.db")


@pytest.mark.timeout(120)  # seconds; about four where nothing else runs
@usually_on("slack")
async def test_two_errors_and_a_success_make_one_message_in_three_attempts(kind: str, tmp_path: Path) -> None:
    """Scenario 27."""
    async with stage(tmp_path, kind, stutter=False) as on, living(on.program):
        await rig_of(on).fault(Trouble.ERROR, count=2)
        await warmed(on, 1)
        await on.until_quiet()
        assert len(await on.side.seen(on.story.talks[0].room)) == 1
        assert rows_of(on).select("SELECT attempts, state FROM parts") == [(3, "shown")]
        await on.program.leave()


@pytest.mark.timeout(120)  # seconds; about six where nothing else runs
@usually_on("telegram")
async def test_the_wait_that_the_platform_names_is_kept_over_a_kill(kind: str, tmp_path: Path) -> None:
    """Scenario 27. The first message is told to wait; the second one's acceptance is the end of that life."""
    async with stage(tmp_path, kind, stutter=False) as on:
        async with living(on.program, [Kill("accepted", 2)]):
            await on.until_connected()
            await rig_of(on).fault(Trouble.RATE, seconds=WAIT)
            await on.story.lines(1)
            await until(lambda: refused_once(on), "a refusal with a wait")
            await on.story.lines(1)
            await on.story.all_answered()
            await on.until_quiet()
            await on.program.leave()
        [(seconds,)] = rows_of(on).select(WAITED)
        assert seconds >= WAIT
        assert rows_of(on).disagreements() == []


async def refused_once(on: Stage) -> bool | None:
    return rows_of(on).select("SELECT 1 FROM parts WHERE state = 'pending' AND attempts = 1") == [(1,)] or None


@pytest.mark.timeout(120)  # seconds; about four where nothing else runs
@usually_on("slack")
async def test_what_a_closed_room_refuses_is_kept_and_leaves_when_a_person_requeues_it(
    kind: str, tmp_path: Path
) -> None:
    """Scenario 27."""
    async with stage(tmp_path, kind, stutter=False) as on, living(on.program):
        await on.until_connected()
        await rig_of(on).fault(Trouble.CLOSED, count=1)
        await on.story.lines(1)
        control = control_of(on.program.data)
        assert control is not None
        async with connected(control) as client:
            [dead] = await until(lambda: dead_letters(client), "a dead letter")
            assert on.story.talks[0].lines[0].words[0] in (await client.delivery(dead))["text"]
            await client.requeue(dead)
        await on.story.all_answered()
        await on.until_quiet()
        await on.program.leave()


async def dead_letters(client: Client) -> list[str] | None:
    return [delivery["id"] for delivery in await client.deliveries(state="dead")] or None


@pytest.mark.timeout(180)  # seconds; about eight where nothing else runs
@usually_on("telegram")
async def test_killed_in_the_middle_of_a_long_answer_exactly_the_missing_parts_appear(
    kind: str, tmp_path: Path
) -> None:
    """Scenario 28: after the second part went out, before the third did, after it was recorded."""
    plan = [Kill("part-shown", 2), Kill("part-marked"), Kill("part-checkpointed")]
    async with stage(tmp_path, kind, *RUN_FREELY, stutter=False) as on, living(on.program, plan):
        limit = rig_of(on).limit
        assert limit
        await on.until_connected()
        words = limit.most * 5 // 2 // len("w00001\n")
        await on.side.say("long", f"run: seq -f w%05g 1 {words}")

        async def whole() -> bool | None:
            text = "\n".join(seen.text for seen in answers(await on.side.seen("long")))
            return len(WORD.findall(text)) >= words or None

        await until(whole, "the whole answer")
        await on.until_quiet()
        seen = await on.side.seen("long")
        assert len(seen) >= 3
        assert [int(n) for one in seen for n in WORD.findall(one.text)] == list(range(1, words + 1))
        assert on.program.kills == plan
        assert rows_of(on).disagreements() == []
        await on.program.leave()


@pytest.mark.timeout(120)  # seconds; about ten where nothing else runs
@usually_on("discord")
async def test_two_hundred_messages_at_once_are_all_answered(kind: str, tmp_path: Path) -> None:
    """Scenario 4: none is refused by a limit of our own, and what waits in a room is all read."""
    async with stage(tmp_path, kind, stutter=False) as on, living(on.program):
        await on.until_connected()
        await on.story.lines(10)
        await on.story.another(19)
        await until_shown(on, 10)
        await on.story.all_answered()
        await on.until_quiet()
        assert rows_of(on).select("SELECT count(*) FROM signals WHERE kind = 'said'") == [(200,)]
        assert rows_of(on).disagreements() == []
        await on.program.leave()
