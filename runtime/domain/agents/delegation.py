"""Rules of work that agents hand to each other: what is refused, and what each side is told. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Final

from runtime.contract import Child, ChildState, Effect, Json, Order
from runtime.domain.agents.capabilities import fits
from runtime.domain.agents.manifest import MOST_CHILDREN, MOST_DEPTH, Manifest
from runtime.domain.transcript import ERROR, OURS, STILL_AT_WORK, TOLD_LATER
from runtime.text.outside import material, of_program

MOST_IN_A_RUN: Final = 20
"""Children that one run may have in all."""
MOST_IN_A_GOAL: Final = 50
"""The same of a goal, whose turns are bounded: 20, each with work and a verdict."""
MOST_IN_A_TREE: Final = 100
"""Pieces below one run that nobody handed on, at any depth: 20 of each of five levels would be millions."""
LONGEST: Final = timedelta(hours=24)
EFFECTS: Final = (Effect.READ, Effect.WRITE, Effect.DANGER)
"""Effects, the least first."""


@dataclass(frozen=True, slots=True)
class Brood:
    """Children of a run so far: how many are at work, how many there were in all, and how many in its whole tree."""

    open: int = 0
    all: int = 0
    tree: int = 0


NOTHING_BEGUN: Final = "Nothing was begun."
STOPPED_AT: Final = "Stopped at "


def objection(
    parent: Manifest, chain: Sequence[str], orders: Sequence[Order], brood: Brood, in_all: int = MOST_IN_A_RUN
) -> str:
    """The reason why these orders are refused, in words for the model; empty where they aren't.

    `chain` are the agents above and with the parent, the first one first. `in_all`: what the run may hand on in all.
    """
    for order in orders:
        if order.agent not in (parent.name, *parent.delegates_to):
            return f"{_unknown(parent, order.agent)} {NOTHING_BEGUN}"
        if not timedelta(minutes=1) <= order.time <= LONGEST:
            return f"Give it 1 to {LONGEST // timedelta(minutes=1):,} minutes. {NOTHING_BEGUN}"
    if len(chain) > (depth := min(MOST_DEPTH, parent.depth)):
        return f"Work can be handed on {depth} times at most: {' > '.join(chain)}. {NOTHING_BEGUN} Do it yourself."
    if brood.open + len(orders) > (most := min(MOST_CHILDREN, parent.children)):
        return f"At most {most} can be at work at once, and {brood.open} are. {NOTHING_BEGUN} Wait for one to end."
    if brood.all + len(orders) > in_all:
        return f"One answer may hand on {in_all} pieces of work at most. {NOTHING_BEGUN}"
    if brood.tree + len(orders) > MOST_IN_A_TREE:
        return f"One request may come to {MOST_IN_A_TREE} pieces of work at most. {NOTHING_BEGUN} Do it yourself."
    return ""


def _unknown(parent: Manifest, agent: str) -> str:
    known = (*parent.delegates_to, parent.name)
    near = get_close_matches(agent, known, 1)
    hint = f" Did you mean {near[0]}?" if near else f" It may to {', '.join(known)}."
    return f"{parent.name} may not hand work to {agent[:60]!r}.{hint}"


def may_call(manifest: Manifest, tool: str, effect: Effect) -> bool:
    """True if an agent as its manifest is now may make such a call at all."""
    return EFFECTS.index(effect) <= EFFECTS.index(manifest.effects) and fits(tool, manifest.tools)


def lost_right(chain: Sequence[Manifest], tool: str, effect: Effect) -> str:
    """The agent above a child that may not make such a call, at this moment; empty where all may."""
    return next((one.name for one in chain if not may_call(one, tool, effect)), "")


# ---------------------------------------------------------------------------------------------------------------- words


def first_words(order: Order, chain: Sequence[str], sources: Sequence[str]) -> str:
    """The message with which a child begins. `sources` are those from outside that its parent has read."""
    parts = [order.goal]
    if order.criteria:
        parts.append(f"It is done when: {order.criteria}")
    if order.files:
        parts.append(f"Files for it: {', '.join(order.files)}")
    if order.schema:
        written = json.dumps(order.schema, ensure_ascii=False)
        parts.append(f"Answer with JSON alone, and such that it fits this schema: {written}")
    words = "\n\n".join(parts)
    if sources:
        return of_program(words, f"{chain[-1]} after reading {', '.join(sources)}")
    return f"{OURS}{' > '.join(chain)} handed this to you. Your answer goes there, and no person reads it.\n\n{words}"


def handed_over(text: str, chain: Sequence[str]) -> str:
    """The message with which an agent takes a conversation over from the last of `chain`."""
    return (
        f"{OURS}{' > '.join(chain)} handed this conversation over to you. The person in it reads your answer.\n\n{text}"
    )


def stopped_at(hops: int, agent: str) -> str:
    """Words where no further hand-over is made without a person."""
    return f"{STOPPED_AT}{hops} hand-over{'s' * (hops != 1)}, target {agent}"


def at_work(orders: Sequence[Order]) -> str:
    """The result of a call as long as its children are at work."""
    return f"{STILL_AT_WORK}{', '.join(order.agent for order in orders)}"


def begun(children: Sequence[Child]) -> str:
    """The result of a call that nobody waits for."""
    names = ", ".join(f"{child.agent} ({child.id})" for child in children)
    return f"Handed to {names}. The end is told in this conversation by itself: don't wait for it, and don't ask."


@dataclass(frozen=True, slots=True)
class Ended:
    """A child that is over, and `sources` from outside that it has read."""

    child: Child
    sources: Sequence[str] = ()


def result_of(ended: Sequence[Ended]) -> str:
    """The result of a call whose children are all over, for their parent's model."""
    if len(ended) == 1:
        return _told(ended[0])
    return "\n\n".join(f"{number}. {_told(one)}" for number, one in enumerate(ended, 1))


def told_later(one: Ended) -> str:
    """The message that tells a conversation of a child for which nobody waited."""
    goal = " ".join(one.child.goal.split())[:200]
    return f"{TOLD_LATER}: “{goal}” Tell the person what came of it.\n\n{_told(one)}"


def _told(one: Ended) -> str:
    child, words = one.child, one.child.answered.strip()
    body = material(words, ", ".join(one.sources)) if one.sources and words else words
    if child.state is ChildState.DONE:
        doubt = "" if child.valid else " Its answer does not fit the schema (valid: false)."
        return f"{child.agent} answered:{doubt}\n{body}"
    return f"{_FAILED[child.state].format(ERROR=ERROR, agent=child.agent)}{_separate(body)}"


def _separate(body: str) -> str:
    return f" {body}" if body else ""


_FAILED: Final[Mapping[ChildState, str]] = {
    ChildState.FAILED: "{ERROR}{agent} failed.",
    ChildState.STOPPED: "{ERROR}{agent} was stopped.",
    ChildState.LATE: "{ERROR}{agent} did not end in its time and was stopped.",
}


def read_answer(answer: str) -> Mapping[str, Json] | str:
    """A JSON answer, or what is wrong with it in words for the model. A block of code around it is taken off."""
    body = answer.strip()
    if body.startswith("```"):
        body = body.partition("\n")[2].rpartition("```")[0]
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        return f"it is not valid JSON ({error})"
    return found if isinstance(found, dict) else f"it is a JSON {type(found).__name__}, not an object"


def correction(fault: str) -> str:
    """The one request to a child whose answer does not fit."""
    return f"{OURS}Your answer does not fit the schema: {fault}. Answer once more, with the JSON alone."
