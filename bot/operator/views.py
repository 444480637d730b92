"""Rows as JSON: what the console's API answers and the command line prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final

from adapters.web import render
from bot.accounts.naming import Named
from bot.accounts.status import State
from bot.operator.lookups.spans import Span
from bot.wiring.models.catalogue import ListedModel
from runtime.chat.cards.card_facts import about, call_in_words, labels_of, whom_for
from runtime.chat.cards.exchanges import Exchange, exchanges
from runtime.chat.cards.settled_cards import call_of
from runtime.chat.forms import readable
from runtime.chat.modes import meaning
from runtime.chat.views.context import Kept
from runtime.chat.views.grants import form
from runtime.context.measuring import Preview, texts_of
from runtime.context.sizes import of_tool
from runtime.contract import (
    Activity,
    Address,
    ApprovalKind,
    Asking,
    AssistantTurn,
    Choice,
    DayCost,
    Entry,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)
from runtime.domain.approvals import Approval, ApprovalState, choices, offered
from runtime.markup.moments import in_words
from runtime.models.choice.cooling import Rest, Standing, standing
from runtime.policy.budgets import DOLLAR, HOURLY, BudgetRules, Counter, Level, Scope, fresh, in_order, level_of
from runtime.policy.modes import RoomMode
from runtime.store.protocol import Conversed, DeliveryRow, Granted, Known, OpenPart, Pairing, RunRow, StepRow
from runtime.text.glyphs import in_full, visible
from runtime.text.naming import listed

View = dict[str, Any]


STATES: Final = {Level.BELOW: "ok", Level.WARNED: "nearly spent", Level.REACHED: "spent"}
"""Words for how far a budget is spent."""


def run(row: RunRow, named: Named, called: Named) -> View:
    return {
        "id": row.id,
        "state": row.state,
        "agent": row.session.partition("|")[0],
        "address": named(row.address),
        "room": called(row.address),
        "requester": row.requester,
        "started_at": at(row.started_at),
        "ended_at": at(row.ended_at),
        "iterations": row.iterations,
        "error": row.error,
        "signals": list(row.signals),
        "cost_micros": row.cost_micros,
    }


def today(happened: Activity, week: Sequence[DayCost], named: Named, called: Named) -> View:
    """Counts by outcome, and lists. A day of the week is 24 hours from its `day` on."""
    return {
        "messages": dict(happened.messages),
        "runs": dict(happened.runs),
        "approvals": dict(happened.approvals),
        "schedules": dict(happened.occurrences),
        "failures": [
            {
                "run": one.run,
                "address": named(one.address),
                "room": called(one.address),
                "reason": one.reason,
                "at": at(one.at),
            }
            for one in happened.failures
        ],
        "week": [{"day": at(one.day), "cost_micros": one.cost_micros, "tokens": one.tokens} for one in week],
    }


def model(entry: ListedModel, rest: Rest | None, now: datetime) -> View:
    price, stands = entry.price, standing(rest, entry.mark, now)
    failing = rest is not None and rest.is_alone and stands is not Standing.WELL
    dollars = (f"${one:g}" for one in (price.input, price.output) if one is not None)
    return {
        "name": entry.name,
        "model": entry.given.name,
        "vendor": entry.vendor,
        "usual": entry.is_usual,
        "fallback": entry.fallback,
        "for": [work.value for work in entry.works],
        "least_complexity": entry.least_complexity,
        "window": entry.window,
        "window_source": entry.window_source.value,
        "input_price": price.input,
        "output_price": price.output,
        "price": " in, ".join(dollars) + " out" if price.input is not None else "",
        "price_source": price.source,
        "key": entry.key,
        "wanted_key": entry.wanted_key,
        "api_base": entry.given.api_base,
        "state": "failing" if failing else stands.value,
        "cooldown": cooldown(rest) if rest and stands is not Standing.WELL else None,
    }


def cooldown(rest: Rest) -> View:
    """A model at rest. Without `until` it rests until its settings or its key change; one that is `alone` does not rest."""
    return {
        "model": rest.model,
        "cause": rest.cause.value,
        "reason": rest.reason,
        "since": at(rest.since),
        "until": at(rest.until),
        "failures": rest.count,
        "alone": rest.is_alone,
    }


def step(row: StepRow, span: Span) -> View:
    """A step of a run. Its `_after` are seconds after the run began."""
    return {
        "number": row.number,
        "kind": row.kind,
        "tool": row.tool,
        "arguments": row.arguments,
        "call": in_full(row.arguments)[0],
        "state": row.state,
        "result": row.result,
        "started_at": at(row.started_at),
        "ended_at": at(row.ended_at),
        "grant": row.allowed_by,
        "called_after": round(span.called, 3),
        "began_after": round(span.began, 3),
        "ended_after": round(span.ended, 3),
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_micros": row.cost_micros,
    }


def approval(row: Approval, named: Named, called: Named, voted: Sequence[str] = ()) -> View:
    """With `choices`: what may be answered, and the label of each. `shown` is the call as its card has it, in Markdown.

    `words` is the call in short, or the question to a person with its answers.
    """
    shown, is_whole = _shown(row)
    words = call_in_words(row)
    return {
        "id": row.id,
        "kind": row.kind,
        "state": row.state,
        "run": row.run_id,
        "agent": row.session.partition("|")[0],
        "address": named(row.address),
        "room": called(row.address),
        "question": _question(row),
        "tool": row.tool,
        "effect": row.effect,
        "arguments": row.arguments,
        "words": words,
        "call": in_full(words)[0],
        "shown": shown,
        "all_shown": is_whole,
        "sha256": row.arguments_hash,
        "asked_arguments": row.asked_arguments,
        "as_shown": row.as_shown,
        "caution": row.caution,
        "requester": row.requester_name,
        "votes": _votes(row, voted) if row.state is ApprovalState.PENDING else "",
        "rule": row.terms.rule,
        "rule_reason": row.terms.reason,
        "asked_at": at(row.asked_at),
        "expires_at": at(row.expires_at),
        "choices": {choice.value: label for choice, label in labels_of(row).items()},
        "editable": Choice.EDIT in choices(row),
        "edited": visible(readable(row.arguments)) if Choice.EDIT in choices(row) else "",
        "always": [asdict(field) for field in form(row).fields] if Choice.ALWAYS in offered(row) else [],
        "askable": Choice.WHY in choices(row) and row.state is ApprovalState.PENDING,
        "asked_back": [_exchange(one) for one in exchanges(row.card)],
        "choice": row.choice,
        "decided_by": row.decided_name,
        "decided_at": at(row.decided_at),
        "reason": row.reason,
    }


def _shown(row: Approval) -> tuple[str, bool]:
    """The call as its card has it, and whether that is all of it; of a question to a person whom it is for."""
    if row.kind is ApprovalKind.ANSWER:
        return whom_for(row, Asking.from_json(row.card)), True
    return call_of(row)


def _votes(row: Approval, voted: Sequence[str]) -> str:
    """The votes so far, as the card tells them; empty where one person is enough."""
    if row.terms.quorum < 2:
        return ""
    count = f"{len(voted)} of {row.terms.quorum}"
    return f"{listed(voted)} approved: {count}." if voted else f"{row.terms.quorum} people must approve this."


def _exchange(one: Exchange) -> View:
    """A question of an approver, with the agent's answer, or why there is none."""
    return {"by": one.by, "question": one.question, "answer": one.answer, "failed": one.failed}


def mode(address: Address, row: RoomMode, named: Named, called: Named) -> View:
    """The mode of a conversation, and what it does in words."""
    return {
        "address": named(address),
        "room": called(address),
        "mode": row.mode,
        "meaning": in_words(meaning(row)),
        "trusted": row.person_name,
        "set_by": row.set_by_name,
        "set_at": at(row.set_at),
        "until": at(row.until),
    }


def budgets(
    rules: BudgetRules, counters: Sequence[Counter], people: Mapping[str, str], called: Named, now: datetime
) -> list[View]:
    """A row for each counter of a budget that is set, and one for a budget that nobody has used yet."""
    known = [one for one in counters if rules.limit_of(one.scope, one.subject) is not None]
    unused = [fresh(scope, now) for scope in rules.limits if scope not in {counter.scope for counter in known}]
    counted = {(one.scope, one.subject) for one in known}
    own = ((scope, agent) for agent, limits in rules.agents.items() for scope in limits)
    unused += [replace(fresh(scope, now), subject=agent) for scope, agent in own if (scope, agent) not in counted]
    return [_budget(rules, counter, people, called) for counter in in_order([*known, *unused])]


def _budget(rules: BudgetRules, counter: Counter, people: Mapping[str, str], called: Named) -> View:
    limit, subject = rules.limit(counter), counter.subject
    match counter.scope:
        case Scope.PERSON_DAY:
            subject = people.get(subject, subject)
        case Scope.ROOM_DAY if subject:
            subject = called(Address.parse(subject))
    unit = 1 if counter.scope in HOURLY else DOLLAR
    return {
        "budget": counter.scope.value,
        "whose": subject,
        "limit": limit / unit,
        "used": counter.used / unit,
        "under_way": counter.under_way / unit,
        "left": max(0, limit - counter.used - counter.under_way) / unit,
        "unpriced_calls": counter.unpriced,
        "state": STATES[level_of(rules, counter)],
        "ends_at": at(counter.ends_at),
    }


def context(made: Preview, conversed: Conversed, named: Named, called: Named) -> View:
    """Sizes of the request for the next message of a conversation. `source` tells where the window's size is from."""
    sizes, step, kept = made.sizes, made.parts.step, conversed.remembered
    tokens = sum(sizes.values())
    return {
        "address": named(conversed.address),
        "room": called(conversed.address),
        "agent": made.agent,
        "model": made.model,
        "window": made.window,
        "source": made.source,
        "tokens": tokens,
        "percent": _percent(tokens, made.window),
        "partitions": [
            {"name": name, "tokens": size, "percent": _percent(size, made.window)} for name, size in sizes.items()
        ],
        "turns": kept.turns,
        "condensed": step.name.lower(),
        "spare": made.spare,
        "summaries": [_kept(one) for one in kept.summaries],
    }


def _percent(tokens: int, window: int) -> float:
    return round(100 * tokens / max(window, 1), 2)


def _kept(one: Kept) -> View:
    return {
        "at": at(one.at),
        "kind": one.kind,
        "model": one.model,
        "turns": one.turns,
        "since": at(one.since),
        "until": at(one.until),
        "tokens_before": one.tokens_before,
        "tokens_after": one.tokens_after,
    }


def prompt(made: Preview, mask: Callable[[str], str]) -> View:
    """The request itself: its texts, its turns and the tools that are offered."""
    request = made.request
    return {
        "system": mask(request.system),
        "texts": {name: mask(text) for name, text in texts_of(made.parts).items()},
        "messages": [_turn(turn, mask) for turn in request.turns],
        "tools": [_offered(tool) for tool in request.tools],
    }


def _turn(turn: Turn, mask: Callable[[str], str]) -> View:
    match turn:
        case UserTurn(text, author, files):
            return {"role": "user", "author": author, "text": mask(text), "files": [file.path for file in files]}
        case AssistantTurn(text, calls):
            made = [{"id": call.id, "tool": call.tool, "arguments": mask(call.arguments)} for call in calls]
            return {"role": "assistant", "text": mask(text), "calls": made}
        case ToolTurn(call_id, tool, text):
            return {"role": "tool", "call": call_id, "tool": tool, "text": mask(text)}


def _offered(tool: ToolSpec) -> View:
    told = {"name": tool.name, "effect": tool.effect.value, "description": tool.description}
    return {**told, "schema": dict(tool.schema), "tokens": of_tool(tool)}


def _question(row: Approval) -> str:
    if row.kind is ApprovalKind.PERSON:
        return f"Let {json.loads(row.arguments)['name']} in?"
    return about(row)


def grant(row: Granted, state: str, named: Named, called: Named) -> View:
    """`state` says if it has any effect."""
    one = row.grant
    room = None if one.everywhere else Address.parse(one.room or one.session.partition("|")[2])
    return {
        "id": one.id,
        "state": state,
        "tool": one.tool,
        "pattern": one.pattern.lines(),
        "brief": one.pattern.brief(),
        "where": "everywhere" if one.everywhere else "one conversation" if one.session else "one room",
        "room": called(room) if room else "",
        "address": named(room) if room else "",
        "person": row.person or one.person,
        "agent": one.agent,
        "by": row.giver,
        "created_at": at(one.created_at),
        "until": at(one.until),
        "uses_left": one.uses_left,
        "tainted": one.tainted,
        "revoked_at": at(one.revoked_at),
        "approval": one.from_approval,
    }


def delivery(row: DeliveryRow, named: Named, called: Named) -> View:
    """For lists: without the parts."""
    return {
        "id": row.id,
        "kind": row.kind,
        "state": row.state,
        "address": named(row.address),
        "room": called(row.address),
        "origin": row.origin,
        "attempts": row.attempts,
        "created_at": at(row.created_at),
        "settled_at": at(row.settled_at),
        "not_before": at(row.not_before),
        "reason": row.reason,
        "text": in_words(row.content.all_text),
        "files": [render.file(file) for file in row.content.files],
    }


def delivery_with_parts(row: DeliveryRow, named: Named, called: Named) -> View:
    return {**delivery(row, named, called), "parts": [part(open_part) for open_part in row.parts]}


def part(row: OpenPart) -> View:
    return {
        "ordinal": row.ordinal,
        "state": row.state,
        "attempts": row.attempts,
        "looks": row.looks,
        "marked_at": at(row.marked_at),
        "receipt": row.receipt.message_id if row.receipt else None,
        "body": row.body,
    }


def person(known: Known) -> View:
    return {
        "name": known.person.name,
        "role": known.person.role.word,
        "identities": list(known.identities),
        "linked": known.linked,
    }


def pairing(one: Pairing, named: Named, called: Named) -> View:
    return {
        "identity": one.identity,
        "name": one.name,
        "address": named(one.address),
        "room": called(one.address),
        "since": at(one.created_at),
        "until": at(one.expires_at),
    }


def account(state: State) -> View:
    standing = state.standing
    return {
        "account": state.account,
        "state": standing.connection,
        "since": at(state.since),
        "reason": standing.reason,
    }


def room(
    entries: Sequence[Entry],
    *,
    busy: bool,
    approvals: Sequence[Approval],
    run_state: str | None,
    named: Named,
    called: Named,
) -> View:
    """A conversation. `run` is the state of its newest run; `approvals` are the questions that wait in it."""
    return {
        "entries": [render.entry(entry) for entry in entries],
        "busy": busy,
        "approvals": [approval(row, named, called) for row in approvals],
        "run": run_state,
    }


def at(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
