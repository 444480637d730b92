"""Present state of a message in one sentence, and whether anything more will happen."""

from __future__ import annotations

from typing import Final

from runtime.contract import Kind
from runtime.domain.approvals import ApprovalState
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState, StepState
from runtime.text.words import marked
from runtime.timeline.showing import noun
from runtime.timeline.trail import TracedDelivery, TracedRun, TracedSignal
from runtime.timeline.words import Telling, span

ANSWER_TOLD: Final = marked("Answered {time} after it was sent.")
FAILURE_TOLD: Final = marked("It failed, and its sender was told so {time} after it was sent.")
OPEN = (DeliveryState.QUEUED, DeliveryState.OPEN)


def standing(telling: Telling) -> tuple[str, bool]:
    """The sentence, and whether it is over."""
    trail = telling.trail
    if trail.run:
        return _run(telling, trail.run)
    if any(one.state == "consumed" for one in trail.signals):
        return marked("It was worked on. The details are no longer kept."), True
    if trail.signals:
        return _signal(telling, trail.signals[0])
    return _deliveries(telling)


def _signal(telling: Telling, signal: TracedSignal) -> tuple[str, bool]:
    match signal.state:
        case "refused" if telling.trail.deliveries:
            shown, over = _deliveries(telling)
            return marked("It was refused, and its sender was told. {shown}").format(shown=shown), over
        case "refused":
            return marked("It was refused. Nothing more came of it."), True
        case "decided" if telling.trail.deliveries:
            return _deliveries(telling)
        case "decided":
            return marked("It took effect at once. The run it was about shows the rest."), True
        case "observed":
            return marked("It's kept as context for the next run in this conversation. It gets no reply."), True
        case "stale":
            return marked("It arrived too late to act on. Its sender was told."), True
        case "forgotten":
            return marked("It was answered or stopped. The details are no longer kept."), True
        case _ if telling.trail.behind:
            return marked("It's waiting for its turn: run {behind} is working in this conversation.").format(
                behind=telling.trail.behind
            ), False
        case _:
            return marked("It's waiting to be picked up. Nothing else is running in this conversation."), False


def _run(telling: Telling, run: TracedRun) -> tuple[str, bool]:
    match run.state:
        case RunState.RUNNING:
            return _at_work(telling, run), False
        case RunState.PARKED:
            waiting = [one.id for one in telling.trail.approvals if one.state is ApprovalState.PENDING]
            return marked("It's waiting for somebody's answer: `signalbox approvals list` shows {waiting}.").format(
                waiting=", ".join(waiting)
            ), False
        case RunState.READY:
            return marked("Its questions are settled. It's waiting for its turn in the conversation."), False
        case _:
            return _deliveries(telling)


def _at_work(telling: Telling, run: TracedRun) -> str:
    running = [one.tool for one in telling.trail.steps if one.state is StepState.MARKED]
    doing = marked("running {tools}").format(tools=", ".join(running)) if running else marked("waiting for the model")
    if run.node in telling.trail.gone:
        return marked("{node} was working on it and is gone. Another process will pick it up.").format(
            node=telling.label(run.node)
        )
    return marked("{node} is working on it: {doing}.").format(
        node=telling.label(run.node) or marked("A node"), doing=doing
    )


def _deliveries(telling: Telling) -> tuple[str, bool]:
    """Of a run that ended, or a delivery without one: how far it is on its way to the screen."""
    told = [one for one in telling.trail.deliveries if one.kind is not Kind.PROGRESS]  # a preview is no news by now
    stuck = [one for one in told if one.state is not DeliveryState.SHOWN]
    if not stuck:
        return _answered(telling), True
    worst = next((one for one in stuck if one.state not in OPEN), stuck[0])
    return _way_out(telling, worst), all(one.state is DeliveryState.DISCARDED for one in stuck)


def _way_out(telling: Telling, delivery: TracedDelivery) -> str:
    name, why = noun(delivery).capitalize(), telling.masked(delivery.reason).rstrip(".")
    fix = marked("`signalbox outbox requeue {id}` sends it again; `discard` drops it").format(id=delivery.id)
    match delivery.state:
        case DeliveryState.HELD:
            return marked("{name} is on hold: {why}. {fix}.").format(name=name, why=why, fix=fix)
        case DeliveryState.DEAD:
            return marked("{name} couldn't be shown: {why}. {fix}.").format(name=name, why=why, fix=fix)
        case DeliveryState.DISCARDED:
            return marked("{name} was discarded and not shown.").format(name=name)
        case _:
            because = f" ({why})" if why else ""
            return marked("{name} is still on its way{because}.").format(name=name, because=because)


def _answered(telling: Telling) -> str:
    times = [(one.answered_at, one.received_at) for one in telling.trail.signals if one.answered_at]
    if times:
        words = FAILURE_TOLD if telling.trail.run and telling.trail.run.state is RunState.FAILED else ANSWER_TOLD
        return words.format(time=span(max(at for at, _ in times) - min(sent for _, sent in times)))
    return marked("Everything was shown.") if telling.trail.deliveries else marked("What was shown is no longer kept.")
