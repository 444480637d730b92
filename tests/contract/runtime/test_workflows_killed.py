"""A long workflow killed at random points, again and again: each effect once, one report. Scenario 56."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from runtime.contract import ApprovalKind, Choice, Effect, Probe, no_probe
from runtime.domain.runs import RunState
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import LEASE, PATIENCE, Crash, FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.test_workflows import command, process_with

STEPS: Final = 20
FREE: Final = [Rule(Ruling.ALLOW, "note"), Rule(Ruling.ALLOW, "names")]
POINTS: Final = (
    "claimed",
    "model-answered",
    "step-recorded",
    "workflow-step",
    "tool-marked",
    "tool-finished",
    "approval-stored",
    "delivery-stored",
)
PATIENT_LIVES: Final = 200
"""Lives in which a workflow must come to its end."""
HITS: Final = 4
"""Passes of a point among which the one that kills is chosen."""


def long_workflow() -> str:
    """Twenty steps: a list, a fan-out over it, a timer and a question side by side, a call that asks, and notes in a row."""
    head = [
        'name = "long"\ninputs.n = 0',
        '[[steps]]\nname = "names"\ntool = "names"',
        '[[steps]]\nname = "each_one"\neach = "steps.names.value"\ntool = "note"\narguments = { text = "{{ inputs.n }} {{ item }}" }',
        '[[steps]]\nname = "pause"\nwait = "10 minutes"',
        '[[steps]]\nname = "sure"\nafter = ["each_one"]\nask = "Go on?"\noptions = ["Yes", "No"]',
        '[[steps]]\nname = "risky"\nafter = ["pause", "sure"]\ntool = "risky"\narguments = { text = "{{ inputs.n }} once" }',
    ]
    rest = [
        f'[[steps]]\nname = "note{number}"\ntool = "note"\narguments = {{ text = "{{{{ inputs.n }}}} {number}" }}'
        for number in range(len(head), STEPS + 1)  # the first line is no step
    ]
    return "\n".join([*head, *rest])


@dataclass
class World:
    """What the tools did, whichever process called them: an effect and what is known to have been seen of it."""

    effects: Counter[str] = field(default_factory=Counter)

    def tools(self) -> list[FakeTool]:
        async def names(_: Any) -> str:
            return '["a", "b", "c"]'

        async def note(arguments: Any) -> str:
            self.effects[str(arguments["text"])] += 1
            return f"noted {arguments['text']}"

        return [
            fake_tool("names", Effect.READ, names),
            fake_tool("note", Effect.WRITE, note),
            fake_tool("risky", Effect.DANGER, note),
        ]

    async def answer(self, stage: Stage, process: Process) -> None:
        """Somebody answers what is asked: yes, and of a call that was cut whether it was carried out, as it is."""
        for question in await stage.pending():
            match question.kind:
                case ApprovalKind.OUTCOME:
                    is_done = self.effects[str(json.loads(question.arguments)["text"])] > 0
                    await process.click(question.id, Choice.DONE if is_done else Choice.AGAIN)
                case ApprovalKind.ANSWER:
                    await process.click(question.id, Choice.FIRST)
                case _:
                    await process.click(question.id, Choice.APPROVE)


def at_random(chance: random.Random) -> Probe:
    """A probe that kills at a random pass of a random point, and at nothing after it."""
    point, hit, passes = chance.choice(POINTS), chance.randint(1, HITS), Counter[str]()

    def probe(name: str) -> None:
        passes[name] += 1
        if name == point and passes[name] == hit:
            raise Crash(point)

    return probe


async def life(stage: Stage, process: Process, world: World) -> bool:
    """Work until killed, or until nothing is left to do; True if it was killed."""
    try:
        async with asyncio.timeout(PATIENCE), process.running():
            await process.rest()
            await world.answer(stage, process)
            await process.rest()
    except BaseExceptionGroup as group:
        _, other = group.split(Crash)
        if other is not None:
            raise other from None
        return True
    except Crash:
        return True
    return False


async def campaign(stage: Stage, kills: int, seed: int) -> tuple[World, int]:
    """Workflows one after another until so many kills were survived; and how many workflows there were."""
    chance, world, begun, died = random.Random(seed), World(), 0, 0
    while died < kills:
        begun += 1
        process = await process_with(stage, long_workflow(), *world.tools(), rules=FREE)
        await command(process, "workflow", f"long n={begun}")
        for _ in range(PATIENT_LIVES):
            probe = at_random(chance) if died < kills else no_probe
            process = await process_with(stage, long_workflow(), *world.tools(), rules=FREE, probe=probe)
            died += await life(stage, process, world)
            if await stage.states() == [RunState.DONE] * begun:
                break
            stage.clock.advance(LEASE * 40)
            await stage.store.runs.wake()
        else:
            raise AssertionError(f"it came to no end: {await stage.states()}")
    return world, begun


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(10, marks=pytest.mark.timeout(180)),
        pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(600)]),
    ],
)
async def test_each_effect_happens_once_and_one_report_comes(any_stage: Stage, kills: int) -> None:
    """Scenario 56."""
    world, begun = await campaign(any_stage, kills, seed=kills)
    wanted = ("a", "b", "c", "once", *map(str, range(6, STEPS + 1)))
    assert world.effects == Counter({f"{n + 1} {text}": 1 for n in range(begun) for text in wanted})
    shown = await any_stage.rows(
        "SELECT p.body FROM deliveries d JOIN parts p ON p.delivery_id = d.id WHERE d.kind = 'report' AND p.state = 'shown'"
    )
    assert sum(f"The workflow long is done: {STEPS} steps" in body for (body,) in shown) == len(shown) == begun
