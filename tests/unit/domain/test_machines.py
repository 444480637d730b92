"""Every state machine is its table: any other move is a bug, told as one, and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from runtime.domain.agents.lifecycle import AGENT_MOVES, AgentEvent, AgentState
from runtime.domain.approvals import APPROVAL_MOVES, ApprovalEvent, ApprovalState
from runtime.domain.deliveries import DELIVERY_MOVES, PART_MOVES, DeliveryEvent, DeliveryState, PartEvent, PartState
from runtime.domain.machines import diagram, final, move, sources
from runtime.domain.runs import RUN_MOVES, STEP_MOVES, RunEvent, RunState, StepEvent, StepState
from runtime.errors import IllegalMove

Moves = Mapping[tuple[Any, Any], Any]
MACHINES: dict[str, tuple[Moves, type[StrEnum], type[StrEnum], StrEnum]] = {
    "run": (RUN_MOVES, RunState, RunEvent, RunState.RUNNING),
    "step": (STEP_MOVES, StepState, StepEvent, StepState.OPEN),
    "approval": (APPROVAL_MOVES, ApprovalState, ApprovalEvent, ApprovalState.PENDING),
    "delivery": (DELIVERY_MOVES, DeliveryState, DeliveryEvent, DeliveryState.QUEUED),
    "part": (PART_MOVES, PartState, PartEvent, PartState.PENDING),
    "agent": (AGENT_MOVES, AgentState, AgentEvent, AgentState.RUNNING),
}
FINAL = {
    "run": {RunState.DONE, RunState.FAILED, RunState.STOPPED},
    "step": {StepState.DONE},
    "approval": set(ApprovalState) - {ApprovalState.PENDING},
    "delivery": {DeliveryState.SHOWN, DeliveryState.DISCARDED},
    "part": {PartState.SHOWN},
    "agent": {AgentState.TERMINATED},
}
FIRST = {"step": {StepState.OPEN, StepState.ASKED}}  # policy says which


@pytest.mark.parametrize("name", MACHINES)
@given(data=st.data())
def test_any_order_of_events_moves_by_the_table_or_changes_nothing(name: str, data: st.DataObject) -> None:
    moves, _, events, state = MACHINES[name]
    for event in data.draw(st.lists(st.sampled_from(list(events)), max_size=30)):
        if (state, event) in moves:
            state = move(moves, state, event)
            assert state in moves.values()
        else:
            with pytest.raises(IllegalMove, match=re_words(state, event)):
                move(moves, state, event)


def re_words(state: StrEnum, event: StrEnum) -> str:
    return f"{type(state).__name__}: no move {event} from {state}"


@pytest.mark.parametrize("name", MACHINES)
def test_the_states_that_end_a_life_are_the_ones_we_mean(name: str) -> None:
    assert final(MACHINES[name][0]) == FINAL[name]


@pytest.mark.parametrize("name", MACHINES)
def test_a_final_state_has_no_moves(name: str) -> None:
    moves, _, events, _ = MACHINES[name]
    for state in final(moves):
        for event in events:
            with pytest.raises(IllegalMove):
                move(moves, state, event)


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_can_be_reached(name: str) -> None:
    moves, states, _, start = MACHINES[name]
    reached = {start, *FIRST.get(name, set())}
    while fresh := {after for (before, _), after in moves.items() if before in reached} - reached:
        reached |= fresh
    assert reached == set(states)


@pytest.mark.parametrize("name", MACHINES)
def test_from_every_state_a_life_can_end(name: str) -> None:
    moves, states, _, _ = MACHINES[name]
    ending = set(final(moves))
    while fresh := {before for (before, _), after in moves.items() if after in ending} - ending:
        ending |= fresh
    assert ending == set(states)


@pytest.mark.parametrize("name", MACHINES)
def test_every_event_is_of_use(name: str) -> None:
    moves, _, events, _ = MACHINES[name]
    assert {event for _, event in moves} == set(events)


@pytest.mark.parametrize("name", MACHINES)
def test_the_sources_of_an_event_are_the_states_it_moves(name: str) -> None:
    moves, states, events, _ = MACHINES[name]
    for event in events:
        assert sources(moves, event) == {state for state in states if (state, event) in moves}


@pytest.mark.parametrize("name", MACHINES)
def test_the_diagram_has_an_arrow_for_each_move_and_each_end(name: str) -> None:
    moves = MACHINES[name][0]
    lines = diagram(moves).splitlines()
    assert lines[0] == "stateDiagram-v2"
    assert len(lines) == 1 + len(moves) + len(final(moves))
    assert all(f"    {a} --> {b}: {event}" in lines for (a, event), b in moves.items())


class APartsLife(RuleBasedStateMachine):
    """A part and its delivery, moved together as the outbox moves them: they never disagree."""

    @initialize()
    def begin(self) -> None:
        self.part = PartState.PENDING
        self.delivery = move(DELIVERY_MOVES, DeliveryState.QUEUED, DeliveryEvent.RENDER)

    @rule(event=st.sampled_from(list(PartEvent)))
    def happen(self, event: PartEvent) -> None:
        together = {
            PartEvent.CHECKPOINT: DeliveryEvent.SHOW,
            PartEvent.HOLD: DeliveryEvent.HOLD,
            PartEvent.GIVE_UP: DeliveryEvent.GIVE_UP,
            PartEvent.REQUEUE: DeliveryEvent.REQUEUE,
        }
        if (self.part, event) not in PART_MOVES:
            return
        self.part = move(PART_MOVES, self.part, event)
        if event in together:
            self.delivery = move(DELIVERY_MOVES, self.delivery, together[event])

    @invariant()
    def a_delivery_of_one_part_is_what_its_part_is(self) -> None:
        expected = {
            PartState.SHOWN: DeliveryState.SHOWN,
            PartState.HELD: DeliveryState.HELD,
            PartState.DEAD: DeliveryState.DEAD,
        }
        assert self.delivery is expected.get(self.part, DeliveryState.OPEN)


TestAPartsLife = APartsLife.TestCase
TestAPartsLife.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
