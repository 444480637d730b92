"""Words of a notification: its kind, a short title and where it leads. Pure.

A notification is read on locked screens, and by whoever holds the phone: the call itself is never in it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal
from urllib.parse import quote

from runtime.chat import inbox
from runtime.chat.inbox import OpenQuestion
from runtime.contract import ApprovalKind
from runtime.domain.approvals import asked_in_private
from runtime.store.web_push.store import Mention
from runtime.text.glyphs import clip, visible

Words = Literal["short", "full"]
NOTICE_TITLE_MAX_CHARS: Final = 120
NEEDS_APPROVAL: Final = "A question waits for your approval."
NEEDS_ANSWER: Final = "A question waits for your answer."
WAS_MENTIONED: Final = "You were mentioned."
ASKS: Final = "{requester} needs approval for {tool} in {room}."
ASKS_NOWHERE: Final = "{requester} needs approval for {tool}."
SOMEBODY: Final = "The agent"
MENTION_TTL: Final = timedelta(hours=12)
TTL_MAX: Final = timedelta(days=28)
"""Longest time that push services keep a message for a browser that is off."""


def of_question(question: OpenQuestion, words: Words, now: datetime) -> dict[str, str]:
    """About an open question; in full only where its card may be shown to that person alone."""
    shown = inbox.waiting(question, now)
    link = f"/#/approvals/{quote(shown.id, safe='')}"
    if shown.kind in (ApprovalKind.ANSWER, ApprovalKind.PERSON):
        return {"kind": "approval", "title": NEEDS_ANSWER, "link": link}
    if words == "short" or not asked_in_private(question.approval):
        return {"kind": "approval", "title": NEEDS_APPROVAL, "link": link}
    known = {"requester": _name(shown.requester) or SOMEBODY, "tool": _name(shown.tool), "room": _name(shown.room)}
    title = (ASKS if shown.room else ASKS_NOWHERE).format(**known)
    return {"kind": "approval", "title": clip(title, NOTICE_TITLE_MAX_CHARS), "link": link}


def of_mention(mention: Mention) -> dict[str, str]:
    return {
        "kind": "mention",
        "title": WAS_MENTIONED,
        "link": f"/#{mention.address.room}/{quote(mention.delivery, safe='')}.1",  # parts count from one
    }


def lasts(question: OpenQuestion, now: datetime) -> timedelta:
    """The time for which a push service keeps what is about a question: after its end nobody needs it."""
    return min(max(question.approval.expires_at - now, timedelta()), TTL_MAX)


def _name(text: str) -> str:
    return clip(visible(text, one_line=True), 40)
