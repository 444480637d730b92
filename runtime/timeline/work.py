"""Work on a message: the run, its model calls and tool calls, and what people were asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby, takewhile
from typing import Final

from runtime.chat.cards.card_facts import LABELS, labels_of
from runtime.contract import ApprovalKind, NodeId
from runtime.domain.approvals import Approval, ApprovalState
from runtime.domain.deliveries import PartEvent
from runtime.domain.runs import RunEvent, RunState
from runtime.text.outside import unfenced
from runtime.text.words import marked
from runtime.timeline.trail import Move, TracedRun, TracedStep
from runtime.timeline.words import Event, Telling, What, span

ENDS: Final = {RunState.FAILED: What.FAILED, RunState.STOPPED: What.STOPPED}


def work(telling: Telling, run: TracedRun) -> Iterator[Event]:
    yield _claimed(telling, run)
    yield from _steps(telling, run)
    yield from _questions(telling)
    for move in telling.trail.moves:
        if move.subject == run.id:
            yield _strayed(telling, move)
    if run.ended_at:
        yield _ended(telling, run, run.ended_at)


# ---------------------------------------------------------------------------------------------------------- the run


def _claimed(telling: Telling, run: TracedRun) -> Event:
    trail = telling.trail
    came = min((one.accepted_at for one in trail.signals), default=run.started_at)
    behind = (
        marked("; run {behind} was using this conversation until then").format(behind=trail.behind)
        if trail.behind
        else ""
    )
    words = marked("picked up {time} later{behind}").format(time=span(run.started_at - came), behind=behind)
    return telling.event(run.started_at, What.CLAIMED, words, run.id, _first_node(telling, run))


def _first_node(telling: Telling, run: TracedRun) -> NodeId | None:
    """Node that began the run; its row names only the last one."""
    if run.claims == 1:
        return run.node
    trail = telling.trail
    seen = [(step.ended_at, step.node) for step in trail.steps if step.is_model and step.ended_at]
    seen += [(move.at, NodeId(move.detail)) for move in trail.moves if move.what == RunEvent.RESUME and move.detail]
    return min(seen, key=lambda one: one[0])[1] if seen else None


def _strayed(telling: Telling, move: Move) -> Event:
    what, words = _told_move(telling, move)
    return telling.event(move.at, what, words, move.subject, move.node)


def _told_move(telling: Telling, move: Move) -> tuple[What, str]:
    match move.what:
        case RunEvent.RESUME:
            return What.RESUMED, _resumed(telling, move)
        case RunEvent.STOP:
            return What.STOP_ASKED, marked("{detail} asked to stop it").format(detail=move.detail)
        case PartEvent.RESTORE:
            return What.RESTORED, f"restored: {move.detail}"
        case "click refused":
            return What.CLICK_REFUSED, marked("a click was refused: {detail}").format(detail=move.detail)
        case "process ended":
            return What.PROCESS_ENDED, marked("its process died (death {detail})").format(detail=move.detail)
        case "set aside":
            return What.SET_ASIDE, marked("set aside: {detail} processes died while working on it").format(
                detail=move.detail
            )
        case _:
            return What.OTHER, f"{move.what}: {move.detail}" if move.detail else move.what


def _resumed(telling: Telling, move: Move) -> str:
    if not move.detail or move.detail == move.node:
        return marked("resumed where it left off")
    return marked("resumed where it left off, because {detail} was gone").format(
        detail=telling.label(NodeId(move.detail))
    )


def _ended(telling: Telling, run: TracedRun, at: datetime) -> Event:
    words = marked("finished with a reply") if run.state is RunState.DONE else f"{run.state}: {run.error}"
    return telling.event(at, ENDS.get(run.state, What.FINISHED), words, run.id, run.node)


# -------------------------------------------------------------------------------------------------------- the steps


def _steps(telling: Telling, run: TracedRun) -> Iterator[Event]:
    resumed = _taken_up(telling)
    calls = 0
    for position, step in enumerate(telling.trail.steps):
        if step.is_model:
            calls += 1
            yield from _model(telling, run, calls, step, telling.trail.steps[position + 1 :])
        else:
            yield from resumed.get(step.number, ())
            yield from _tool(telling, run, step)


def _model(
    telling: Telling, run: TracedRun, number: int, step: TracedStep, after: Sequence[TracedStep]
) -> Iterator[Event]:
    if step.ended_at is None:
        return
    tools = [one.tool for one in takewhile(lambda one: not one.is_model, after)]
    took = span(step.ended_at - _since(telling, run, step, step.ended_at))
    told = [
        marked("model call {number} ({tool}) answered in {took}").format(number=number, tool=step.tool, took=took),
        *_spent(step),
        *_why(step),
    ]
    told.append(
        step.result or (marked("it called {tools}").format(tools=", ".join(tools)) if tools else marked("it replied"))
    )
    yield telling.event(step.ended_at, What.MODEL, "; ".join(told), run.id, step.node)


def _since(telling: Telling, run: TracedRun, step: TracedStep, until: datetime) -> datetime:
    """Time of the last record before this step; no row says when a model was asked."""
    trail = telling.trail
    known = [run.started_at, *(move.at for move in trail.moves if move.subject == run.id)]
    known += [one.ended_at for one in trail.steps if one.number < step.number and one.ended_at]
    known += [one.decided_at for one in trail.approvals if one.decided_at]
    known += [one.joined_at for one in trail.signals if one.joined_at]
    return max(at for at in known if at <= until)


def _spent(step: TracedStep) -> Iterator[str]:
    if step.spent is None:
        return
    cached = (
        marked(" ({number} from the cache)").format(number=f"{step.spent.cached_tokens:,}")
        if step.spent.cached_tokens
        else ""
    )
    yield marked("{read} tokens in{cached}, {written} out").format(
        read=f"{step.spent.input_tokens:,}", cached=cached, written=f"{step.spent.output_tokens:,}"
    )
    if step.spent.cost_micros:
        yield f"${step.spent.cost_micros / 1e6:.6f}"


def _why(step: TracedStep) -> Iterator[str]:
    if step.why:
        yield marked("chosen: {why}").format(why=step.why)


def _tool(telling: Telling, run: TracedRun, step: TracedStep) -> Iterator[Event]:
    if step.started_at:
        words = marked("{tool} started ({effect})").format(tool=step.tool, effect=step.effect)
        yield telling.event(step.started_at, What.TOOL_STARTED, words, run.id, step.node)
    ruled = {one.decided_at for one in telling.trail.approvals if one.step == step.number}
    if not step.ended_at or step.ended_at in ruled:  # what a person decided instead is told by the question
        return
    if step.started_at:
        took = span(step.ended_at - step.started_at)
        words = marked("{tool} finished in {took}: {result}").format(
            tool=step.tool, took=took, result=telling.short(unfenced(step.result))
        )
        yield telling.event(step.ended_at, What.TOOL_ENDED, words, run.id, step.node)
    else:
        words = marked("{tool} was not run: {result}").format(
            tool=step.tool, result=telling.short(unfenced(step.result))
        )
        yield telling.event(step.ended_at, What.TOOL_NOT_RUN, words, run.id, step.node)


# ---------------------------------------------------------------------------------------------------- the questions


def _questions(telling: Telling) -> Iterator[Event]:
    for asked_at, group in groupby(telling.trail.approvals, key=lambda one: one.asked_at):
        together = list(group)
        for one in together:
            yield telling.event(asked_at, What.ASKED, _asked(one), one.id)
        arriving = (
            marked("1 answer arrives")
            if len(together) == 1
            else marked("{number} answers arrive").format(number=len(together))
        )
        words = marked("parked until {arriving}; others are served meanwhile").format(arriving=arriving)
        yield telling.event(asked_at, What.PARKED, words, together[0].run_id)
        for one in together:
            if one.decided_at:
                yield _decided(telling, one, one.decided_at)


def _asked(one: Approval) -> str:
    open_for = span(one.expires_at - one.asked_at)
    if one.kind is ApprovalKind.OUTCOME:
        return marked("{tool} was cut off; asked whether it finished (question {id}, open for {open_for})").format(
            tool=one.tool, id=one.id, open_for=open_for
        )
    if one.kind is ApprovalKind.ANSWER:
        return marked("a person was asked (question {id}, open for {open_for})").format(id=one.id, open_for=open_for)
    return marked("asked whether {tool} ({effect}) may run (question {id}, open for {open_for})").format(
        tool=one.tool, effect=one.effect, id=one.id, open_for=open_for
    )


def _decided(telling: Telling, one: Approval, at: datetime) -> Event:
    waited = marked("{time} after it was asked").format(time=span(at - one.asked_at))
    why = f": {telling.short(one.reason)}" if one.reason else ""
    match one.state:
        case ApprovalState.EXPIRED:
            return telling.event(
                at,
                What.EXPIRED,
                marked("nobody answered about {tool} in time; expired {waited}").format(tool=one.tool, waited=waited),
                one.id,
            )
        case ApprovalState.VOID:
            return telling.event(
                at,
                What.WITHDRAWN,
                marked("the question about {tool} was withdrawn{why}").format(tool=one.tool, why=why),
                one.id,
            )
        case _:
            label = labels_of(one).get(one.choice, LABELS[one.choice]) if one.choice else one.state.value
            words = marked("{who} chose “{label}” for {tool}, {waited}{why}").format(
                who=one.decided_name, label=label, tool=one.tool, waited=waited, why=why
            )
            return telling.event(at, What.DECIDED, words, one.id)


def _taken_up(telling: Telling) -> dict[int, list[Event]]:
    """First event of a run after its last answer, by step, if that was a tool."""
    found = {}
    for _, group in groupby(telling.trail.approvals, key=lambda one: one.asked_at):
        together = list(group)
        decided = [one.decided_at for one in together if one.decided_at]
        if len(decided) == len(together) and (step := _first_after(telling, together, max(decided))):
            words = marked("resumed {time} after the last answer").format(time=span(step[0] - max(decided)))
            run = together[0].run_id
            found[step[1].number] = [telling.event(step[0], What.RESUMED, words, run, step[1].node)]
    return found


def _first_after(
    telling: Telling, together: Sequence[Approval], decided_at: datetime
) -> tuple[datetime, TracedStep] | None:
    numbers = {one.step for one in together}
    steps = [(one.started_at, one) for one in telling.trail.steps if one.started_at and one.number in numbers]
    return min((one for one in steps if one[0] >= decided_at), key=lambda one: one[0], default=None)
