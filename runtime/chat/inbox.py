"""Questions that wait for one person: what of each they may be shown alone, and the answer to `/approvals`. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.chat.cards import card_facts, open_cards
from runtime.contract import Address, ApprovalId, ApprovalKind, Asking, Closed, Content, Waiting
from runtime.domain.approvals import Approval, Home, asked_in_private
from runtime.markup.moments import roughly, several
from runtime.text.glyphs import in_a_line, plainly, visible
from runtime.text.naming import listed

LISTED: Final = 5
"""Cards of one answer to `/approvals`: more would bury the chat."""
OTHERS_MOST: Final = 8
"""Lines about questions that others answer: a private answer is short."""
CALL_MAX_CHARS: Final = 60  # characters of a call in a list
SEEN_THERE: Final = "another room"
"""Stands in the place of a room's name where nobody knows it."""
NOTHING: Final = "No questions are waiting for you."
CHAT_CARDS_MAX: Final = 10
"""Cards that are open in one private chat: beyond them nobody finds the one that matters."""
ASKED_AGAIN: Final = "A backup was restored, so these questions have been asked again."
NONE_DEFERRED: Final = "No more questions are waiting behind these cards."


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for somebody; `voted` are the names of those who said yes so far."""

    approval: Approval
    voted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to `/approvals`: questions as cards, and where those are that may not be shown here.

    `fresh`: those come first that had no card in this chat.
    """

    shown: Sequence[OpenQuestion] = ()
    more: int = 0
    elsewhere: Sequence[str] = ()
    others: Sequence[Approval] = ()
    fresh: bool = False


def answer_to(
    found: Sequence[OpenQuestion], at: Address, here: Sequence[Approval], behind: Collection[ApprovalId] = ()
) -> Answer:
    """Sorts what waits for a person who asks at `at`, where nobody else reads; `here` are all questions of that room.

    First come those `behind` the cards that stand there.
    """
    found = sorted(found, key=lambda one: one.approval.id not in behind)
    mine = {one.approval.id for one in found}
    shown = [one for one in found if _may_show(one.approval, at)]
    kept = [room_of(one.approval) or SEEN_THERE for one in found if not _may_show(one.approval, at)]
    others = [one for one in here if one.id not in mine]
    return Answer(shown[:LISTED], len(shown[LISTED:]), kept, others, bool(behind))


def card(question: OpenQuestion, at: Address | None, now: datetime) -> Content:
    """Its card as one person sees it at `at`, or on a surface that is no room."""
    approval = question.approval
    if approval.kind is ApprovalKind.PERSON:
        return open_cards.stranger(approval.id, approval.arguments)
    home = at is not None and _is_home(approval, at) and card_facts.home_of(approval) is Home.WHOLE
    return open_cards.pending(approval, now, home=home, voted=question.voted, at=None if home else at)


def waiting(question: OpenQuestion, now: datetime) -> Waiting:
    """Open question as shown to one person.

    A conversation of the page has no name: its title is made of what was said there, which is for those who read it.
    """
    approval = question.approval
    return Waiting(
        id=approval.id,
        kind=approval.kind,
        tool=approval.tool,
        effect=approval.effect,
        address=approval.address,
        room=room_of(approval),
        requester=approval.requester_name,
        asked_at=approval.asked_at,
        expires_at=approval.expires_at,
        card=card(question, None, now) if asked_in_private(approval) else None,
    )


def closed(approval: Approval) -> Closed:
    """A closed question as shown to one person."""
    return Closed(
        id=approval.id,
        tool=approval.tool,
        room=room_of(approval),
        state=approval.state,
        by=approval.decided_name,
        at=approval.decided_at,
        reason=approval.reason if asked_in_private(approval) else "",
    )


def room_of(approval: Approval) -> str:
    """Name of its room as it was when it was asked; empty where nobody knew one."""
    return str(json.loads(approval.card).get("room", "")) if approval.card else ""


def told(answer: Answer, now: datetime) -> str:
    """Words around the cards. They may stand above or beneath them: a platform shows cards first."""
    lines = [_waiting(answer), _elsewhere(answer.elsewhere)]
    if answer.others:
        lines.append(f"{several(len(answer.others), 'question')} here that others can answer:")
    head = "\n\n".join(filter(None, lines)) or NOTHING
    return "\n".join(
        [head, *([""] if answer.others else []), *(f"- {_line(one, now)}" for one in answer.others[:OTHERS_MOST])]
    )


def deferred(number: int, newest: str = "", mark: str | None = None) -> str:
    """The line in a full private chat, about questions that have no card there yet; `newest` is what was asked last.

    `mark` stands before a command there, where that is known.
    """
    command = "the command `approvals`" if mark is None else f"`{mark}approvals`"
    are = "is" if number == 1 else "are"
    head = f"**{several(number, 'more question')} {are} waiting for you.** {newest}".strip()
    return f"{head}\n\nThey get cards here as you decide the others. Send {command} to see them now."


def newest(requester: str, tool: str, calls: int) -> str:
    """Words about the question that was asked last, for the line; none where nobody is known who asked."""
    what = several(calls, "call") if calls > 1 else f"`{tool}`"
    return f"The newest, from {plainly(requester)}: {what}." if requester else ""


def told_aside(answer: Answer, now: datetime, mark: str, *, is_sent: bool) -> str:
    """Summary for a shared room, where one person's questions stay private; `mark` stands before a command."""
    number = len(answer.shown) + answer.more
    if number and is_sent:
        sent = (
            (f"{LISTED} of them" if answer.fresh else f"the {LISTED} oldest")
            if answer.more
            else "them"
            if number > 1
            else "it"
        )
        mine = f"{_counted(number)} waiting for you. I've sent {sent} to our private chat."
    elif number:
        mine = f"{_counted(number)} waiting for you. Send me `{mark}approvals` in a private chat to see {'them' if number > 1 else 'it'}."
    else:
        mine = ""
    rest = (
        told(Answer(elsewhere=answer.elsewhere, others=answer.others), now) if answer.elsewhere or answer.others else ""
    )
    return "\n\n".join(filter(None, [mine, rest])) or NOTHING


def _waiting(answer: Answer) -> str:
    number = len(answer.shown) + answer.more
    if not number:
        return ""
    head = f"{_counted(number)} waiting for you."
    which = f"{LISTED} of them" if answer.fresh else f"the {LISTED} oldest"
    return f"{head} Here are {which}." if answer.more else head


def _counted(number: int) -> str:
    return f"{several(number, 'question')} {'is' if number == 1 else 'are'}"


def _elsewhere(rooms: Sequence[str]) -> str:
    """A sentence on the questions that their rules keep in their rooms."""
    if not rooms:
        return ""
    names = listed(list(dict.fromkeys(plainly(one) for one in rooms)))
    return f"{several(len(rooms), 'question')} can only be answered in {names}."


def _line(one: Approval, now: datetime) -> str:
    since, left = roughly(now - one.asked_at), roughly(one.expires_at - now)
    if one.kind is ApprovalKind.ANSWER:
        asking = Asking.from_json(one.card)
        whom = f"for {visible(asking.to, one_line=True)}" if asking.to else "for anybody here"
        return f"{in_code(card_facts.call_in_words(one))} {whom}, asked {since} ago, expires in {left}"
    call = "" if card_facts.home_of(one) is Home.TOLD else f" {in_code(one.arguments)}"
    return f"`{one.tool}`{call}, asked {since} ago, expires in {left}"


def in_code(arguments: str) -> str:
    """A call's arguments in one short line of code."""
    line = in_a_line(arguments, CALL_MAX_CHARS)
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    gap = " " if "`" in (line[:1], line[-1:]) else ""
    return f"{fence}{gap}{line}{gap}{fence}"


def _may_show(approval: Approval, at: Address) -> bool:
    return asked_in_private(approval) or _is_home(approval, at)


def _is_home(approval: Approval, at: Address) -> bool:
    return approval.address.whole_room == at.whole_room
