"""Answers that a card offers beside yes and no: kept with its question, and shown as buttons. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from runtime.contract import Address, Choice
from runtime.domain.approvals import GRANTING, Approval, offered
from runtime.text.words import say, several


def frozen(card: str, offers: Sequence[Choice], form: str, others: Sequence[str], plain: Sequence[Address]) -> str:
    """`Approval.card` with the choices that its card offers, and the form of the tool that is asked about.

    `others` are the tools of the calls that one click may approve along with it. `plain` are the rooms of copies whose
    readers may approve this call, and none for later.
    """
    known = json.loads(card) if card else {}
    more = {"offers": list(offers), "form": form, "others": list(others), "plain": list(map(str, plain))}
    return json.dumps(known | {name: value for name, value in more.items() if value}, ensure_ascii=False)


def shown(approval: Approval, at: Address | None) -> list[Choice]:
    """Choices on the copy in the room `at`, or on its card at home."""
    found = offered(approval)
    if not found:
        return []
    hidden = GRANTING if str(at) in json.loads(approval.card).get("plain", ()) else ()
    return [choice for choice in found if choice not in hidden]


def calls_too(approval: Approval, label: str) -> str:
    """The other calls that the button `label` approves; empty on a card without it."""
    others = json.loads(approval.card).get("others", ()) if approval.card else ()
    tools = ", ".join(f"`{tool}`" for tool in others)
    return (
        say(
            "“{label}” also approves {others}: {tools}.",
            label=label,
            others=several(len(others), "earlier call"),
            tools=tools,
        )
        if others
        else ""
    )
