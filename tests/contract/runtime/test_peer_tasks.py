"""Tasks at peers that end with their runs: those of runs that people stopped, until their peers were told."""

from __future__ import annotations

from dataclasses import replace

from runtime.contract import Effect
from runtime.domain.runs import RunState
from runtime.store.programs.peers import KeptPeerTask
from tests.contract.runtime.stage import SHELL, Stage, fake_tool
from tests.contract.runtime.strict import Planned


async def test_only_tasks_of_stopped_runs_are_listed_until_their_peers_were_told(any_stage: Stage) -> None:
    book = any_stage.store.peer_tasks
    process = await any_stage.process(Planned(SHELL, end="Linux"), [fake_tool("shell", Effect.DANGER)])
    await process.say("run it")
    await process.answer_all()
    [(run,)] = await any_stage.rows("SELECT id FROM runs")
    kept = KeptPeerTask(key=f"{run}-c", run=run, peer="billing", task="task-1", context="")
    await book.keep_task(kept)
    assert await book.stopped_tasks() == []
    await process.stop()
    await process.answer_all()
    assert await any_stage.states() == [RunState.STOPPED]
    assert await book.stopped_tasks() == [kept]
    await book.keep_task(replace(kept, task=""))
    assert await book.stopped_tasks() == []
