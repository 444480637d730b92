"""The rows of a message as values: which columns are read, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runtime.contract import Address, Content, DeliveryId, Effect, Kind, NodeId, RunId, SignalId
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.domain.runs import RunState, StepState
from runtime.store.schema import deliveries, moves, parts, people, runs, signals, steps, usage
from runtime.store.sql.driver import maybe_moment, moment
from runtime.timeline.trail import Move, Spent, TracedDelivery, TracedPart, TracedRun, TracedSignal, TracedStep

SIGNAL_COLUMNS = (
    signals.c.id,
    signals.c.kind,
    signals.c.actor_name,
    signals.c.address,
    signals.c.text,
    signals.c.files,
    signals.c.state,
    signals.c.merged_into,
    signals.c.run_id,
    signals.c.received_at,
    signals.c.accepted_at,
    signals.c.answered_at,
    signals.c.node,
)
DELIVERY_COLUMNS = (
    deliveries.c.id,
    deliveries.c.kind,
    deliveries.c.address,
    deliveries.c.origin,
    deliveries.c.edits,
    deliveries.c.state,
    deliveries.c.reason,
    deliveries.c.not_before,
    deliveries.c.created_at,
    deliveries.c.settled_at,
    deliveries.c.content,
)
RUN_COLUMNS = (
    runs.c.id,
    runs.c.address,
    runs.c.state,
    people.c.name,
    runs.c.claims,
    runs.c.error,
    runs.c.started_at,
    runs.c.ended_at,
    runs.c.node,
    runs.c.session,
    runs.c.last_turn,
)
STEP_COLUMNS = (
    steps.c.number,
    steps.c.kind,
    steps.c.state,
    steps.c.tool,
    steps.c.effect,
    steps.c.result,
    steps.c.started_at,
    steps.c.ended_at,
    steps.c.node,
    usage.c.input_tokens,
    usage.c.output_tokens,
    usage.c.cost_micros,
    usage.c.cached_tokens,
    steps.c.caution,
    steps.c.turn,
)
PART_COLUMNS = (
    parts.c.ordinal,
    parts.c.state,
    parts.c.attempts,
    parts.c.marked_at,
    parts.c.shown_at,
    parts.c.receipt,
    parts.c.node,
)
MOVE_COLUMNS = (moves.c.subject, moves.c.at, moves.c.node, moves.c.what, moves.c.detail)


def maybe_node(text: str | None) -> NodeId | None:
    return NodeId(text) if text else None


def signal_of(row: Sequence[Any]) -> TracedSignal:
    found, kind, who, address, text, files, state, into, run, received, accepted, answered, node = row
    return TracedSignal(
        SignalId(found),
        kind,
        who,
        Address.parse(address),
        text,
        len(json.loads(files)),
        state,
        SignalId(into) if into else None,
        RunId(run) if run else None,
        moment(received),
        moment(accepted),
        maybe_moment(answered),
        maybe_node(node),
    )


def run_of(row: Sequence[Any]) -> TracedRun:
    run, address, state, who, claims, error, started, ended, node = row[:9]
    return TracedRun(
        RunId(run),
        Address.parse(address),
        RunState(state),
        who or "",
        claims,
        error,
        moment(started),
        maybe_moment(ended),
        maybe_node(node),
    )


def step_of(row: Sequence[Any]) -> TracedStep:
    number, kind, state, tool, effect, result, started, ended, node, read, wrote, cost, cached, caution, _ = row
    return TracedStep(
        number,
        kind == "model",
        StepState(state),
        tool,
        Effect(effect) if effect else None,
        result,
        maybe_moment(started),
        maybe_moment(ended),
        maybe_node(node),
        Spent(read, wrote, cost, cached) if read is not None else None,
        caution if kind == "model" else "",
    )


def delivery_of(row: Sequence[Any], own: Sequence[Sequence[Any]]) -> TracedDelivery:
    found, kind, address, origin, edits, state, reason, not_before, created, settled, content = row
    return TracedDelivery(
        DeliveryId(found),
        Kind(kind),
        Address.parse(address),
        origin,
        DeliveryId(edits) if edits else None,
        DeliveryState(state),
        reason,
        moment(not_before),
        moment(created),
        maybe_moment(settled),
        Content.from_json(content).text,
        tuple(map(part_of, own)),
    )


def part_of(row: Sequence[Any]) -> TracedPart:
    ordinal, state, attempts, marked, shown, receipt, node = row
    at, seen = maybe_moment(marked), maybe_moment(shown)
    return TracedPart(ordinal, PartState(state), attempts, at, seen, receipt, maybe_node(node))


def move_of(row: Sequence[Any]) -> Move:
    subject, at, node, what, detail = row
    return Move(subject, moment(at), maybe_node(node), what, detail)
