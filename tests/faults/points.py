"""The points at which a kill must be harmless, by the names under which the program calls its probe."""

from __future__ import annotations

from typing import Final

ANYWHERE: Final = (
    "accepted",  # a signal was taken in, its platform was not told yet
    "claimed",  # a lane is ours, its run has not begun
    "model-answered",  # the model spoke, nothing of it is recorded
    "step-recorded",  # the model's calls are recorded, none has begun
    "tool-marked",  # a call is about to begin
    "tool-finished",  # a call ended, its result is not recorded
    "approval-stored",  # a question is stored, its card is not shown
    "approval-decided",  # a click counted, its run does not know yet
    "delivery-stored",  # a run ended, its reply is not shown
)
WHEN_SENDING: Final = (
    "part-marked",  # a message is about to leave
    "part-shown",  # it is on screen, we have not recorded that
    "part-checkpointed",  # recorded
)
"""Only where showing is more than our own commit: the web page never passes these."""

FIRED: Final = "fired"
"""An instant of a schedule is written, and nobody was told of it. Only where something is planned: see `test_reports`."""

CALLED: Final = "people-called"
ENDED: Final = "questions-ended"
"""A reminder is stored, or the end of questions that nobody answered, and no card tells of it. Only where time passes: see
`tests/faults/answers`."""

UNDONE: Final = (
    "undo-begun",  # it is marked, nothing is taken back
    "undo-done",  # it is taken back, and nobody was told
)
"""Only where a call is taken back: see `tests/contract/runtime/test_undo`."""

ASKED_BACK: Final = (
    "answer-begun",  # the agent is about to be asked about its call
    "answer-made",  # it answered, and nobody knows
    "answer-kept",  # its answer is recorded, and not shown
)
"""Only where an approver asks why: see `tests/faults/channels/test_asked_back`."""

CONDENSED: Final = "summary-made"
HANDED_OVER: Final = "handoff-made"
"""A summary is kept, or a handoff. Only where a conversation is long: see `tests/contract/runtime/test_long_conversations`
and `test_renewal`, and the campaign in `tests/soak`."""

COMPACTED: Final = (
    "compacting-begun",  # a person's wish for a summary is ours, none is made
    "compacted",  # it is kept, and its room was not told
)
"""Only where somebody asks for it: see `tests/contract/runtime/test_compact`."""

RESERVED: Final = "budget-reserved"
"""Money is held back for a call, which was not made yet. Only where budgets are set: see `tests/contract/runtime/test_budgets`,
and the campaign in `tests/soak`."""

FELL_BACK: Final = (
    "model-benched",  # a model failed and rests, no other was asked yet
    "fallback-chosen",  # another one answered in its place, nothing of it is recorded
)
"""Only where there are several models: see `tests/contract/runtime/test_fallbacks`."""

HANDED_ON: Final = (
    "children-begun",  # a call is in the hands of children, and none of them was claimed
    "children-awaited",  # a run waits for what it handed on, and its lane is free
    "child-ended",  # a child is over, and its parent was not woken
)
"""Only where work is handed on: see `tests/contract/runtime/test_delegation`, and the campaign in `tests/soak`."""

BY_RULES: Final = (
    "workflow-step",  # the next calls of a workflow or a goal are recorded, and none has begun
    "verdict",  # a goal was judged, and nothing that follows is recorded
    "trigger-fired",  # the work of a trigger is stored with its event, and nobody was woken
)
"""Only where work goes by rules: see `test_workflows_killed`, `test_goals` and `test_trigger_kills` in `tests/contract/runtime`,
and the campaign in `tests/soak`."""

PUSHED: Final = "pushed"
"""A place took a push notification, and that is not recorded. Only where a program named one: see `test_doors_a2a` and
`tests/contract/store/test_pushes`."""

POINTS: Final = ANYWHERE + WHEN_SENDING
