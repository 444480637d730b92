"""Cards that list several calls of one answer: which calls share one, and what it says. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from runtime.chat.cards import card_facts, open_cards, settled_cards
from runtime.chat.cards.calls import ShownCall, whole_call
from runtime.chat.cards.remarks import remarks
from runtime.contract import ApprovalId, ApprovalKind, Button, Choice, Content, Effect, Mention, Whole
from runtime.domain.approvals import LISTED_CALLS, LISTED_WITH, Approval, ApprovalState, Home, choices
from runtime.domain.ids import digest
from runtime.text.glyphs import clip, plainly
from runtime.text.retold import retold
from runtime.text.words import briefly, marked, moment, say, several

OPEN_CARDS_MAX: Final = 5
"""Cards of one person that are open in one conversation; what is asked beyond them joins the last."""
PLAN_MAX_CHARS: Final = 1500
"""Of the model's words above the calls of a plan."""
EACH_MAX: Final = 4
"""Calls of a list that have buttons of their own; of a longer one people choose in a form."""
ALONE: Final = (Choice.EDIT, Choice.WHY)
"""Choices about one call of a list, which gets a card of its own then."""
ONE_ANSWER: Final = marked("One answer applies to all of them.")
PLAN: Final = "plan"
"""In `Approval.card`: what the model said it would do."""


def on_cards(asked: Sequence[Approval], open_cards: int, *, is_plan: bool = False) -> list[tuple[Approval, ...]]:
    """The questions of one answer, each group of them on one card; `open_cards` are those that are open already.

    All that a plan would change is one card. Calls share a card only where they are asked on the same terms.
    """
    groups: list[tuple[Approval, ...]] = []
    plan = [one for one in asked if is_plan and may_be_planned(one)]
    groups += _by_terms(plan)
    groups += [(one,) for one in asked if one not in plan]
    left = max(OPEN_CARDS_MAX - open_cards, 1)
    if len(groups) > left:
        alone, rest = groups[: left - 1], [one for group in groups[left - 1 :] for one in group]
        groups = [*alone, *((one,) for one in rest if not _is_call(one)), *_by_terms(list(filter(_is_call, rest)))]
    return groups


def may_be_planned(one: Approval) -> bool:
    """True for a call that would change something."""
    return _is_call(one) and one.effect is not Effect.READ


def _is_call(one: Approval) -> bool:
    return one.kind is ApprovalKind.CALL


def _by_terms(asked: Sequence[Approval]) -> list[tuple[Approval, ...]]:
    terms = list(dict.fromkeys(one.terms for one in asked))
    return [tuple(one for one in asked if one.terms == each) for each in terms]


def leading(group: Sequence[Approval]) -> Approval:
    """The question that has the card: one that is as strict about who may decide as any of them."""
    return max(group, key=lambda one: (one.effect is Effect.DANGER, one.effect is Effect.WRITE, -one.step))


def frozen(
    group: Sequence[Approval], card: str, calls: Mapping[ApprovalId, ShownCall], plan: str = ""
) -> tuple[Approval, ...]:
    """Approvals with their `Approval.card`: the common `card`, and each call as shown. The leading one lists the
    others."""
    lead, is_list = leading(group), len(group) > 1 or bool(plan)
    written = [
        [one.id, one.step, one.tool, one.effect.value, one.arguments, one.caution, shown.text, shown.is_whole]
        for one, shown in ((one, calls[one.id]) for one in group)
    ]
    leads: Mapping[str, Any] = {LISTED_CALLS: written, **({PLAN: plan} if plan else {})} if is_list else {}
    known: dict[str, Any] = json.loads(card) if card else {}
    made = []
    for one in group:
        more = leads if one is lead else {LISTED_WITH: lead.id}
        made.append(
            replace(one, card=card_facts.frozen(json.dumps({**known, **more}), calls[one.id], one.arguments_hash))
        )
    return tuple(made)


def unlisted(card: str) -> str:
    """Card facts for a question with its own card."""
    known = json.loads(card) if card else {}
    rest = {name: value for name, value in known.items() if name not in (LISTED_CALLS, LISTED_WITH, PLAN)}
    return json.dumps(rest, ensure_ascii=False) if rest else ""


def without(group: Sequence[Approval], one: Approval) -> list[Approval]:
    """The other questions of a list, with the one that has the card first; a single one is on no list any more."""
    rest = [each for each in group if each.id != one.id]
    if len(rest) < 2:
        return [replace(each, card=unlisted(each.card)) for each in rest]
    old = next(each for each in group if each.id == one.lead)
    lead = old if old in rest else leading(rest)
    known: dict[str, Any] = json.loads(old.card)
    calls = [call for call in known[LISTED_CALLS] if call[0] != one.id]
    plan = {PLAN: known[PLAN]} if PLAN in known else {}
    made = [_with(each, {LISTED_WITH: lead.id}) for each in rest if each is not lead]
    return [_with(lead, {LISTED_CALLS: calls, **plan}), *made]


def _with(one: Approval, more: Mapping[str, Any]) -> Approval:
    known: dict[str, Any] = json.loads(unlisted(one.card) or "{}")
    return replace(one, card=json.dumps({**known, **more}, ensure_ascii=False))


def listed_on(lead: Approval) -> list[Approval]:
    """The questions of a card as it was asked: as far as their calls go, and otherwise like the leading one."""
    calls: list[list[Any]] = json.loads(lead.card)[LISTED_CALLS]
    found = []
    for identity, step, tool, effect, text, caution, drawn, is_whole in calls:
        own = card_facts.frozen(json.dumps({LISTED_WITH: lead.id}), ShownCall(drawn, is_whole), digest(text))
        one = replace(lead, id=ApprovalId(identity), step=step, tool=tool, effect=Effect(effect), caution=caution)
        card = lead.card if one.id == lead.id else own
        found.append(replace(one, arguments=text, arguments_hash=digest(text), card=card))
    return found


def card(
    group: Sequence[Approval],
    now: datetime,
    *,
    home: bool = True,
    voted: Sequence[str] = (),
    again: bool = False,
    mentions: Sequence[Mention] = (),
) -> Content:
    """The card of several calls, as far as they are decided. Only at `home` it tells what was said and returned there."""
    lead = next(one for one in group if one.id == one.lead)
    if not any(one.state is ApprovalState.PENDING for one in group):
        return _decided(lead, group, home)
    asking = _asking(lead, group, now, home, voted, again)
    return replace(asking, mentions=tuple(mentions)) if asking.buttons else asking


# ------------------------------------------------------------------------------------------------------------- asked


def _asking(
    lead: Approval, group: Sequence[Approval], now: datetime, home: bool, voted: Sequence[str], again: bool
) -> Content:
    known, how = json.loads(lead.card), card_facts.home_of(lead) if home else Home.WHOLE
    asks = (
        say("May I go on like this?")
        if PLAN in known
        else say("May I run these {group}?", group=several(len(group), "call"))
    )
    head, below = f"**{say('Reminder: ') if again else ''}{asks}**", open_cards.below(lead, how, voted, home=home)
    if how is Home.TOLD:
        return Content(" ".join(filter(None, [head, below])), elsewhere=True)
    end = say(
        "expires {expires_at} (in {left})",
        expires_at=moment(lead.expires_at),
        left=briefly(lead.expires_at - now),
    )
    parts = [
        head,
        settled_cards.circumstances_of(replace(lead, tool=several(len(group), "call")), marked("asks"), end),
        open_cards.reason_of(lead),
        open_cards.request_of(lead, home=home),
        _plan(known.get(PLAN, "")),
        *(part for number, one in enumerate(group, 1) for part in _open_call(number, one)),
        " ".join(filter(None, [say(ONE_ANSWER) if len(group) > 1 else "", below])),
    ]
    both = () if how is Home.QUIET else (Choice.APPROVE, Choice.DENY)
    buttons = [Button(lead.id, choice, card_facts.LABELS[choice]) for choice in both]
    buttons += _about_one(lead, group) if both and PLAN not in known else ()
    return Content("\n\n".join(filter(None, parts)), tuple(buttons), whole=_whole(group), elsewhere=not both)


def _about_one(lead: Approval, group: Sequence[Approval]) -> Iterator[Button]:
    """Buttons about one call: of each that is open, or of any that a form names."""
    offered = [choice for choice in ALONE if choice in choices(lead)]
    if len(group) > EACH_MAX:
        yield from (Button(lead.id, choice, _label(choice, "one")) for choice in offered)
        return
    for number, one in enumerate(group, 1):
        if one.state is ApprovalState.PENDING:
            yield from (Button(one.id, choice, _label(choice, str(number))) for choice in offered)


def _label(choice: Choice, which: str) -> str:
    """“Edit 2…”, “Why 2?”: the label with its last sign behind the number."""
    label = card_facts.LABELS[choice]
    return f"{label[:-1]} {which}{label[-1]}"


def _whole(group: Sequence[Approval]) -> Whole:
    """All calls as one text, where the card does not show all of each."""
    shown = digest("\n".join(one.arguments_hash for one in group))[: card_facts.SHA256_SHOWN]
    if all(settled_cards.call_of(one)[1] for one in group):
        return Whole(shown)
    texts = (f"{number}. {one.tool}\n\n{whole_call(one.arguments)}" for number, one in enumerate(group, 1))
    return Whole(shown, "\n\n".join(texts))


def _plan(words: str) -> str:
    """The model's words, quoted so that no mark-up in them can leave."""
    lines = clip(words, PLAN_MAX_CHARS).strip().splitlines()
    return "\n".join(f"> {plainly(line)}".rstrip() for line in lines)


def _open_call(number: int, one: Approval) -> Iterator[str]:
    if one.state is not ApprovalState.PENDING:
        yield f"{number}. {settled_cards.MARKS[one.state]} {settled_cards.ruling(one)}: `{one.tool}`"
        return
    yield f"{number}. `{one.tool}` · {one.effect}"
    yield settled_cards.call_of(one)[0]
    yield " ".join(filter(None, [remarks(one.arguments), retold(one.caution)]))


# ----------------------------------------------------------------------------------------------------------- decided


def _decided(lead: Approval, group: Sequence[Approval], home: bool) -> Content:
    """One head where one answer decided all of them; else each says how it was decided."""
    is_one = len({(one.state, one.decided_by, one.decided_at, one.reason) for one in group}) == 1
    calls, mark = several(len(group), "call"), settled_cards.MARKS[lead.state] if is_one else None
    head = f"{mark} {settled_cards.ruling(lead)}: {calls}" if is_one else say("**Decided**: {calls}", calls=calls)
    is_told = home and card_facts.home_of(lead) is Home.TOLD
    parts = [head, "" if is_told else settled_cards.circumstances_of(replace(lead, tool=calls), marked("asked"))]
    folded = []
    for number, one in enumerate(group, 1):
        came, shown = settled_cards.came(json.loads(one.outcome), home=home) if one.outcome else ("", "")
        ruling = "" if is_one else f"{settled_cards.MARKS[one.state]} {settled_cards.ruling(one)}: "
        parts += [f"{number}. {ruling}`{one.tool}`{came}", "" if is_told else settled_cards.call_of(one)[0]]
        parts.append("" if is_one else card_facts.quoted(one.reason))
        folded.append(f"{number}. {shown}" if shown else "")
    text = "\n\n".join(filter(None, [*parts, card_facts.quoted(lead.reason) if is_one else ""]))
    whole = None if is_told else Whole(_whole(group).sha256)
    return Content(text, whole=whole, folded="\n\n".join(filter(None, folded)), mark=mark)
