"""Work of a trigger and a kill right after its event."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from bot.testing.scripted import Scripted
from runtime.contract import Said
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.matching import MessageTriggers
from runtime.domain.triggers.trigger import EventKind, EventTrigger, TriggerState
from tests.contract.runtime.stage import ADA, Crash, Process, Stage, crash_at

DEPLOYS: Final = EventTrigger("t1", "deploys", EventKind.WORDS, words=("deploy*",), prompt="Tell us who.", agent="main")


async def watching(stage: Stage, process: Process) -> Process:
    """A process that looks for the trigger in what is said."""
    kept = KeptTrigger(DEPLOYS, TriggerState.ACTIVE, by_file=True)
    await stage.store.triggers.keep_triggers_of_file([kept], "test")
    process.gate = replace(process.gate, triggers=MessageTriggers(await stage.store.triggers.for_messages()))
    return process


async def test_a_kill_after_an_event_begins_its_work_once(any_stage: Stage) -> None:
    """The platform hands the message over once more, since nobody acknowledged it."""
    message = any_stage.signal(Said("deploying"), ADA, "r1")
    killed = await watching(any_stage, await any_stage.process(Scripted([]), probe=crash_at("trigger-fired")))
    with pytest.raises(Crash):
        await killed.reception.sink(message)
    process = await watching(any_stage, await any_stage.process(Scripted(["answered", "Ada deploys"])))
    async with process.running():
        await process.reception.sink(message)
        await process.rest()
    assert sorted(await any_stage.screen()) == ["Ada deploys", "answered"]
    assert await any_stage.rows("SELECT count(*) FROM trigger_fires") == [(1,)]
