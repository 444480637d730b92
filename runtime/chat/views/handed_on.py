"""Work that agents handed on, as people read it: a tree with the state, time and cost of each piece. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from runtime.contract import Address, CardState, Child, ChildState, RunId, TaskCard, TaskCards
from runtime.domain.agents.order_budgets import dollars
from runtime.domain.runs import RunState
from runtime.text.glyphs import clip, legible, plainly
from runtime.text.words import ago, briefly, listed, marked, say

NOTHING_HANDED_ON: Final = marked("Nothing of yours is handed on here.")
ENDS_ALL: Final = marked("`{mark}stop` ends all work here.")
MARKS: Final[Mapping[ChildState, str]] = {
    ChildState.OPEN: "⏳",
    ChildState.DONE: "✅",
    ChildState.FAILED: "❌",
    ChildState.STOPPED: "⏹️",
    ChildState.LATE: "⌛",
}
ASKS_MARK: Final = "✋"
"""In place of the mark of a state: it goes on when somebody answered."""
ENDINGS: Final[Mapping[ChildState, str]] = {
    ChildState.FAILED: marked("failed"),
    ChildState.STOPPED: marked("stopped"),
    ChildState.LATE: marked("out of time"),
}
GOAL_SHOWN: Final = 100
"""Characters of a goal, or of a request, in a tree."""
LEAST_SHOWN: Final = 5_000
"""Millionths of a dollar below which a cost would read as nothing."""
PATH_JOINT: Final = " > "
SECONDS_UP_TO: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of work that `parent` handed on.

    `awaits`: the parent waits for its end. `cost_micros` are of its own model calls. `run` is where its run stands, None
    before that begins. `asks` are tools about whose calls it asks people now; one that asks for words has an empty name.
    """

    child: Child
    parent: RunId
    awaits: bool = True
    cost_micros: int = 0
    run: RunState | None = None
    asks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """All that was handed on below one run, the first one first: what was asked of it, by whom, and where."""

    root: RunId
    room: Address
    by: str
    request: str
    pieces: tuple[Piece, ...] = ()

    @property
    def is_open(self) -> bool:
        return any(piece.child.state is ChildState.OPEN for piece in self.pieces)


class Branch(NamedTuple):
    """A piece in its place: how deep below the root, what it and all below it cost, and the agents for which it waits."""

    piece: Piece
    depth: int
    cost_micros: int
    waits_for: tuple[str, ...]


def branches(pieces: Sequence[Piece], root: RunId) -> list[Branch]:
    """All below `root`, each one followed by what it handed on itself."""
    return list(_below(pieces, root, 0))


def _below(pieces: Sequence[Piece], parent: RunId, depth: int) -> Iterator[Branch]:
    for piece in pieces:
        if piece.parent == parent:
            inner = list(_below(pieces, piece.child.id, depth + 1))
            cost = piece.cost_micros + sum(one.piece.cost_micros for one in inner)
            yield Branch(piece, depth, cost, waited_for(pieces, piece.child.id))
            yield from inner


def waited_for(pieces: Sequence[Piece], run: RunId) -> tuple[str, ...]:
    """Agents whose answers a run awaits now, each once."""
    awaited = (one.child for one in pieces if one.parent == run and one.awaits)
    return tuple(dict.fromkeys(child.agent for child in awaited if child.state is ChildState.OPEN))


def stands(branch: Branch) -> str:
    """State of a piece of work in words; empty for one that answered as it was to."""
    piece = branch.piece
    if piece.child.state is ChildState.DONE:
        return "" if piece.child.valid else say("its answer doesn't fit the schema")
    if piece.child.state is not ChildState.OPEN:
        return say(ENDINGS[piece.child.state])
    if piece.asks:
        return _asking(piece.asks)
    if branch.waits_for:
        return say("waits for {waits_for}", waits_for=listed(branch.waits_for))
    return say("at work") if piece.run else say("not begun")


def _asking(asks: Sequence[str]) -> str:
    tools = [f"`{tool}`" for tool in dict.fromkeys(asks) if tool]
    return say("waits for approval of {tools}", tools=listed(tools)) if tools else say("waits for an answer")


def lasted(child: Child, now: datetime | None) -> timedelta | None:
    """Time that it took, or as of `now` has taken; None where that is not known."""
    until = child.ended_at or now
    return until - child.created_at if child.created_at and until else None


# ------------------------------------------------------------------------------------------------------------ as text


def tree_text(pieces: Sequence[Piece], root: RunId, now: datetime | None = None) -> str:
    """The tree below a run, a line a piece, indented by its depth. Without `now` only what is over tells its time."""
    return "\n".join(f"{'  ' * one.depth}- {_line(one, now)}" for one in branches(pieces, root))


def _line(branch: Branch, now: datetime | None) -> str:
    child = branch.piece.child
    mark = ASKS_MARK if branch.piece.asks and child.state is ChildState.OPEN else MARKS[child.state]
    figures = ", ".join(_figures(branch, now))
    return f"{mark} **{child.agent}**: {_short(child.goal)}{f' ({figures})' if figures else ''}"


def _figures(branch: Branch, now: datetime | None) -> Iterator[str]:
    child = branch.piece.child
    words = stands(branch)
    if words and (now or branch.piece.asks or child.ended_at):  # of what goes on the lines below tell the rest
        yield words
    if (took := lasted(child, now)) is not None:
        yield told_time(took) if child.ended_at else say("{took} so far", took=told_time(took))
    if branch.cost_micros >= LEAST_SHOWN and took is not None:
        of = say(" of {budget_micros}", budget_micros=dollars(child.budget_micros)) if child.budget_micros else ""
        yield f"{dollars(branch.cost_micros)}{of}"


def task_cards(pieces: Sequence[Piece], root: RunId) -> TaskCards:
    """The same tree for a platform that has cards for pieces of work, one below the other: each is led by its path."""
    told = branches(pieces, root)
    over = sum(one.piece.child.state is not ChildState.OPEN for one in told)
    return TaskCards(say("Handed on: {over} of {told} over", over=over, told=len(told)), tuple(map(_card, told)))


def _card(branch: Branch) -> TaskCard:
    child = branch.piece.child
    path = PATH_JOINT.join((*child.chain[1:], child.agent))
    goal = clip(" ".join(legible(child.goal).split()), GOAL_SHOWN)
    note = ", ".join(_figures(branch, None)).replace("`", "")
    return TaskCard(child.id, f"{path}: {goal}", _card_state(branch.piece), note)


def _card_state(piece: Piece) -> CardState:
    match piece.child.state:
        case ChildState.DONE:
            return CardState.DONE
        case ChildState.OPEN:
            return CardState.WAITING if piece.asks else CardState.WORKING
        case _:
            return CardState.FAILED


def told_time(took: timedelta) -> str:
    if took < timedelta(seconds=1):
        return "< 1 s"
    return f"{took.total_seconds():.0f} s" if took < SECONDS_UP_TO else briefly(took)


def _short(text: str) -> str:
    return plainly(clip(" ".join(text.split()), GOAL_SHOWN))


def handed_on(trees: Sequence[Tree], now: datetime, mark: str) -> str:
    """Answer to `/children`: trees at work, or else the newest that is over."""
    if not trees:
        return say(NOTHING_HANDED_ON)
    if not trees[0].is_open:
        ended = max(one.child.ended_at or now for one in trees[0].pieces)
        return say(
            "{nothing} The last was over {ago}:\n\n{trees}",
            nothing=say(NOTHING_HANDED_ON),
            ago=ago(now - ended),
            trees=_tree(trees[0], now),
        )
    told = [_tree(tree, now) for tree in trees]
    return "\n\n".join([say("Handed on for you here:"), *told, say(ENDS_ALL, mark=mark)])


def _tree(tree: Tree, now: datetime) -> str:
    return f"{_heading(tree)}\n\n{tree_text(tree.pieces, tree.root, now)}"


def _heading(tree: Tree) -> str:
    agent, waits = tree.pieces[0].child.chain[0], waited_for(tree.pieces, tree.root)
    asked = say("“{text}”", text=_short(tree.request)) if tree.request.strip() else say("Work without a message")
    return (
        say("{asked}: **{agent}** waits for {waits}.", asked=asked, agent=agent, waits=listed(waits))
        if waits
        else say("{asked}, handed on by **{agent}**:", asked=asked, agent=agent)
    )
