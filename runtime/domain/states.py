"""`docs/states.md`, made from the state tables: `python -m runtime.domain.states >docs/states.md` writes it anew."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeVar

from runtime.domain.agents.lifecycle import AGENT_MOVES
from runtime.domain.agents.tasks import TASK_MOVES
from runtime.domain.approvals import APPROVAL_MOVES
from runtime.domain.deliveries import DELIVERY_MOVES, PART_MOVES
from runtime.domain.machines import diagram, final
from runtime.domain.runs import RUN_MOVES, STEP_MOVES

State = TypeVar("State", bound=StrEnum)
Event = TypeVar("Event", bound=StrEnum)

INTRODUCTION: Final = """\
# State machines

This page is made from the tables in `runtime/` by `python -m runtime.domain.states`; a test fails when it is stale.

Each machine is one dict of moves. Asking for a move that is not in it raises `IllegalMove`, which rolls the transaction
back: it would be a fault of the program. A state that no move leaves is final.
"""

RUN: Final = """\
A run is one piece of agent work. A `parked` run has open rows in `waits` and holds no lane; it costs rows only. It becomes
`ready` when the last of its waits is settled and goes on when its session's lane is free. After a kill a run is
still `running`: whoever claims the lane next resumes it. From `runtime/domain/runs.py`."""
STEP: Final = """\
A tool call within a run. `marked` is committed before the tool starts and `done` with its result, so a kill between the
two leaves a trace: a tool that may be repeated is marked again, any other is doubted, and a person is asked.
From `runtime/domain/runs.py`."""
APPROVAL: Final = """\
A question about one frozen call. Every state but the first is final, so the first decision wins. `answered` belongs to
questions about a call that was cut and to questions to people, `void` to runs that were stopped and to questions that
are asked again after a restore. From `runtime/domain/approvals.py`."""
DELIVERY: Final = """\
One thing to show at one address. `held` and `dead` leave by a person's word only. From `runtime/domain/deliveries.py`."""
AGENT: Final = """\
An agent beside the usual one, or that one. Messages for a `suspended` agent wait as rows, and are answered in order once it is
back; `terminated` is for good. From `runtime/domain/agents/lifecycle.py`."""
PART: Final = """\
One wire message of a delivery. `unsettled` means: perhaps on screen, being looked for. From `runtime/domain/deliveries.py`."""

POSTED_TASK: Final = """\
Work that somebody posted for an agent. A claim is a lease: it holds while its run is not over. A run in the background
that answers completes its task; one that fails gives it back, up to three times. From `runtime/domain/agents/tasks.py`."""


def document() -> str:
    """The whole page."""
    sections = [
        _section("Runs", RUN, RUN_MOVES),
        _section("Tool steps", STEP, STEP_MOVES),
        _section("Approvals", APPROVAL, APPROVAL_MOVES),
        _section("Deliveries", DELIVERY, DELIVERY_MOVES),
        _section("Parts", PART, PART_MOVES),
        _section("Agents", AGENT, AGENT_MOVES),
        _section("Tasks", POSTED_TASK, TASK_MOVES),
    ]
    return "\n".join([INTRODUCTION, *sections])


def _section(title: str, words: str, moves: Mapping[tuple[State, Event], State]) -> str:
    ends = _listed(sorted(final(moves)))
    return f"## {title}\n\n{words}\n\nFinal: {ends}.\n\n```mermaid\n{diagram(moves)}\n```\n"


def _listed(states: Sequence[str]) -> str:
    return ", ".join(f"`{state}`" for state in states)


if __name__ == "__main__":
    sys.stdout.write(document())
