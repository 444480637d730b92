"""A process whose agent has the tools of memory, over a real store and the real search by words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from bot.settings.memory import MemorySection
from bot.wiring.memory.books import MemoryParts, memory_of, renewal_of, tools_of
from bot.wiring.memory.embedder import meaning_of
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Addressing, Call, Commanded, Identity, Model, ModelRequest, Said, Signal, ToolTurn
from runtime.guard.door import OPEN_DOOR
from runtime.policy.rules import SHIPPED
from tests.contract.runtime.stage import ADA, Process, Stage
from tests.contract.runtime.strict import Planned

TOLD_PRIVATELY: Final = 3_000
"""Characters that a group's members may be told alone."""


def call(tool: str, number: Any = 1, **arguments: Any) -> Call:
    return Call(f"c-{tool}-{number}", tool, json.dumps(arguments))


def parts_of(stage: Stage, notifier: LocalNotifier, **settings: Any) -> MemoryParts:
    made = memory_of(MemorySection(**settings), stage.store, notifier, lambda: OPEN_DOOR, meaning_of(stage.store, None))
    assert made
    return made


async def life(stage: Stage, model: Model | None = None, *more: Any, **given: Any) -> Process:
    """A process whose agent remembers."""
    settings = given.pop("memory", {})
    process = await stage.process(model or Planned(), more, rules=given.pop("rules", SHIPPED), **given)
    parts = parts_of(stage, process.notifier, **settings)
    every: list[Any] = tools_of(parts)
    process.tools.update({tool.spec.name: tool for tool in every})
    process.agent._remembering = process.agent.surroundings._remembering = parts.remembering
    process.compactor._remembering = parts.remembering
    process.renewal = renewal_of(parts, stage.store, process.agent._agents, lambda: OPEN_DOOR)
    return process


def heard(stage: Stage, words: str, who: Identity, room: str, reach: Addressing, private: int = 0) -> Signal:
    body = Commanded(words[1:].partition(" ")[0], words.partition(" ")[2]) if words.startswith("/") else Said(words)
    return replace(stage.signal(body, who, room), reach=reach, private=private)


async def tell(
    process: Process, *plan: Call | tuple[Call, ...], words: str = "go on", who: Identity = ADA, room: str = "r1"
) -> list[str]:
    """Somebody says something in private, and the model makes these calls; what those were answered."""
    return await _tell(process, plan, words, who, room, Addressing.DIRECT)


async def tell_group(
    process: Process, *plan: Call | tuple[Call, ...], words: str = "go on", who: Identity = ADA, room: str = "g1"
) -> list[str]:
    """The same in a room of several."""
    return await _tell(process, plan, words, who, room, Addressing.MENTION)


async def _tell(process: Process, plan: Any, words: str, who: Identity, room: str, reach: Addressing) -> list[str]:
    process.ask(model := Planned(*plan))
    await process.reception.sink(heard(process.stage, words, who, room, reach))
    await process.answer_all()
    turns = model.requests[-1].turns if model.requests else ()
    return [turn.text for turn in turns if isinstance(turn, ToolTurn)][-len(plan) :] if plan else []


async def asked(process: Process, words: str, who: Identity = ADA, room: str = "r1", **place: Any) -> ModelRequest:
    """The first request to the model for a message."""
    process.ask(model := Planned())
    reach = place.get("reach", Addressing.DIRECT)
    await process.reception.sink(heard(process.stage, words, who, room, reach))
    await process.answer_all()
    return model.requests[0]


async def command(process: Process, words: str, who: Identity = ADA, room: str = "r1", **place: Any) -> str:
    """Answer to a command: to its sender alone, as in a window of a platform."""
    reach = place.get("reach", Addressing.DIRECT)
    verdict = await process.reception.sink(heard(process.stage, words, who, room, reach, TOLD_PRIVATELY))
    return verdict.notice or ""


GROUP: Final[dict[str, Any]] = {"room": "g1", "reach": Addressing.MENTION}
