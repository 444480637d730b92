"""Cards of open questions: about a call, about one that was cut off, to a person, about a stranger. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from runtime.chat.cards import offers
from runtime.chat.cards.asked_back import told
from runtime.chat.cards.calls import shown_call, whole_call
from runtime.chat.cards.card_facts import LABELS, SHA256_SHOWN, asked, facts_in, home_of, name_in, posed, whom_for
from runtime.chat.cards.remarks import remarks
from runtime.chat.cards.settled_cards import call_of, circumstances_of
from runtime.contract import (
    CHOICES,
    HAND_OVER,
    Address,
    ApprovalId,
    ApprovalKind,
    Asking,
    Button,
    Choice,
    Content,
    Mention,
    Whole,
)
from runtime.domain.agents.delegation import STOPPED_AT
from runtime.domain.approvals import OPTIONS, Approval, Home
from runtime.text.glyphs import clip, legible, plainly
from runtime.text.retold import retold
from runtime.text.words import briefly, listed, marked, moment, say

LET_IN: Final = (Choice.USER, Choice.NO, Choice.OTHER)
ROLES: Final = (Choice.USER, Choice.VIEWER, Choice.OPERATOR, Choice.NO)
NOBODY_HERE: Final = marked("Nobody here can answer this. An operator can, on the console.")
NOBODY_REACHED: Final = marked(
    "I have no private chat with anybody who can decide this. They can open one and send me "
    "the command `approvals`. Operators can also use the console."
)
CONTINUE_ONCE: Final = "Continue once"
"""Lets one more hand-over through, in place of Approve."""
LABEL_MAX_CHARS: Final = 60
"""Of an answer on a button. The least that a channel shows is 64, in UTF-16 units; it stands in full above where it is cut."""


def stranger(approval_id: ApprovalId, arguments: str, choices: Sequence[Choice] = LET_IN) -> Content:
    """The card about an unknown person."""
    buttons = tuple(Button(approval_id, choice, LABELS[choice]) for choice in choices)
    return Content(
        say("**Let {name} in?**\n\n{facts}", name=name_in(arguments), facts=facts_in(arguments)),
        buttons,
    )


def question(
    approval_id: ApprovalId,
    kind: ApprovalKind,
    tool: str,
    arguments: str,
    caution: str,
    above: str = "",
    below: str = "",
    before: str = "",
    call: str = "",
) -> Content:
    """The card with its buttons. `above` the call stands who asks for it, `below` it who was asked. `call` is how it is shown."""
    labels, stop = LABELS, ""
    if tool == HAND_OVER and caution.startswith(STOPPED_AT):
        stop, _, caution = caution.partition("\n\n")
        labels = {**LABELS, Choice.APPROVE: CONTINUE_ONCE}
    head = f"**{before}{stop or asked(kind, f'`{tool}`')}**"
    if kind is not ApprovalKind.CALL:
        head += say(" I can't tell, so I haven't run it again.")
    buttons = tuple(Button(approval_id, choice, labels[choice]) for choice in CHOICES[kind])
    return Content(
        "\n\n".join(
            filter(None, [head, above, call or shown_call(arguments).text, remarks(arguments), retold(caution), below])
        ),
        buttons,
    )


def pending(
    approval: Approval,
    now: datetime,
    *,
    home: bool = True,
    voted: Sequence[str] = (),
    again: bool = False,
    mentions: Sequence[Mention] = (),
    at: Address | None = None,
) -> Content:
    """The card of an open question. Only at `home`, the room it comes from, it tells what was said there.

    `voted` are those who said yes so far, where it takes several; `again`: it was asked before. `mentions` are called by it.
    `at` is the room of a copy.
    """
    if approval.lead == approval.id:
        from runtime.chat.cards import listing  # which needs this module

        return listing.card(listing.listed_on(approval), now, home=home, voted=voted, again=again, mentions=mentions)
    how = home_of(approval) if home else Home.WHOLE
    whom = below(approval, how, voted, home=home)
    if how is Home.TOLD:
        asks = f"**{asked(approval.kind, f'`{approval.tool}`')}**"
        return Content(" ".join(filter(None, [asks, whom])), elsewhere=True)
    if approval.kind is ApprovalKind.ANSWER:
        return _to_person(approval, now, how, whom, again=again, mentions=mentions)
    above = [circumstances_of(approval, marked("asks"), _ends(approval, now)), reason_of(approval)]
    above.append(request_of(approval, home=home))
    call, is_whole = call_of(approval)
    card = question(
        approval.as_shown,
        approval.kind,
        approval.tool,
        approval.arguments,
        approval.caution,
        "\n\n".join(filter(None, above)),
        "\n\n".join(filter(None, [whom, offers.calls_too(approval, LABELS[Choice.ALL]), told(approval, home=home)])),
        say("Reminder: ") if again else "",
        call,
    )
    whole = Whole(approval.arguments_hash[:SHA256_SHOWN], "" if is_whole else whole_call(approval.arguments))
    if how is Home.QUIET:
        return replace(card, whole=whole, buttons=(), elsewhere=True)
    if not approval.terms.editable:
        card = replace(card, buttons=tuple(one for one in card.buttons if one.choice is not Choice.EDIT))
    more = tuple(Button(approval.as_shown, choice, LABELS[choice]) for choice in offers.shown(approval, at))
    return replace(card, whole=whole, buttons=(*card.buttons, *more), mentions=tuple(mentions))


def _ends(approval: Approval, now: datetime) -> str:
    left = briefly(approval.expires_at - now)
    return say("expires {expires_at} (in {left})", expires_at=moment(approval.expires_at), left=left)


def reason_of(approval: Approval) -> str:
    """The words of the rule that asks, for those who decide."""
    return (
        say("Why this asks: {reason}", reason=plainly(retold(approval.terms.reason))) if approval.terms.reason else ""
    )


def request_of(approval: Approval, *, home: bool) -> str:
    """The request behind it, quoted at home alone, and a link to its message."""
    known = json.loads(approval.card) if approval.card else {}
    link = f"[{say('message') if home else say('original message')}]({known['link']})" if "link" in known else ""
    return " · ".join(filter(None, [plainly(approval.request) if home else "", link]))


def below(approval: Approval, how: Home, voted: Sequence[str], *, home: bool) -> str:
    """Below the call: whom the question reaches, and the votes so far."""
    known = json.loads(approval.card) if approval.card else {}
    asked_too = _asked_too(known.get("asked", ()), known.get("away", ()), how) if home else ""
    return " ".join(filter(None, [asked_too, _votes(voted, approval.terms.quorum)]))


def _votes(voted: Sequence[str], quorum: int) -> str:
    if voted:
        return say(
            "{names} approved: {voted} of {quorum}.",
            names=listed([plainly(name) for name in voted]),
            voted=len(voted),
            quorum=quorum,
        )
    return say("{quorum} people must approve this.", quorum=quorum) if quorum > 1 else ""


def _asked_too(names: Sequence[str], away: Sequence[tuple[str, str]], how: Home) -> str:
    """Sentences for the room of a question: the people asked elsewhere, and the people who are away."""
    gone = [
        say("{name} is away until {until}.", name=plainly(name), until=moment(datetime.fromisoformat(until)))
        for name, until in away
    ]
    if names:
        return " ".join([say("I've asked {names}.", names=listed([plainly(name) for name in names])), *gone])
    nobody = {Home.QUIET: say(NOBODY_HERE), Home.TOLD: say(NOBODY_REACHED)}.get(how, "")
    return " ".join(filter(None, [nobody, *gone]))


def _to_person(
    approval: Approval, now: datetime, how: Home, asked_too: str, *, again: bool, mentions: Sequence[Mention]
) -> Content:
    """The card of a question that the agent asks a person."""
    asking = Asking.from_json(approval.card)
    labels = [clip(legible(option), LABEL_MAX_CHARS) for option in asking.options]
    offered = [*zip(OPTIONS, labels, strict=False), (Choice.TEXT, LABELS[Choice.TEXT])]
    buttons = tuple(Button(approval.id, choice, label) for choice, label in offered)
    is_cut = any(len(option) > LABEL_MAX_CHARS for option in asking.options)
    listed_options = [f"{number}. {plainly(option)}" for number, option in enumerate(asking.options, 1)]
    left = _ends(approval, now)
    lines = [
        posed(f"{say('Reminder: ') if again else ''}{asking.question}", "**"),
        " · ".join(filter(None, [whom_for(approval, asking), left])),
        "\n".join(listed_options) if is_cut or how is Home.QUIET else "",
        retold(approval.caution),
        asked_too,
    ]
    if how is Home.QUIET:
        return Content("\n\n".join(filter(None, lines)), elsewhere=True)
    return Content("\n\n".join(filter(None, lines)), buttons, mentions=tuple(mentions))
