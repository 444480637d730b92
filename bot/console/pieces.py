"""The rows of operations as pieces of pages: questions with their buttons, steps, links, ways to mend."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from adapters.web.adapter import CHANNEL
from bot.console.html import Html, filled, tag
from bot.console.layout import badge, facts, moment, table, where
from bot.console.trace_page import link as trace_link
from bot.operator.api import ROOT
from bot.operator.views import View
from runtime.chat.cards.calls import whole_call
from runtime.chat.cards.card_facts import LABELS, SHA256_SHOWN
from runtime.chat.cards.exchanges import PLAIN_QUESTION, QUESTION_MAX_CHARS
from runtime.contract import Address, ApprovalKind, Choice, Effect, Whole
from runtime.markup import parse, to_html, to_plain
from runtime.markup.attachment import folding
from runtime.text.glyphs import clip, legible, visible
from runtime.text.words import marked, say, several

MENDED: Final = {"held": ("requeue", "discard"), "dead": ("requeue", "discard"), "queued": ("discard",)}
REASON_MAX_CHARS: Final = 1_000
"""Characters of a reason: it is shown in full."""
PLAIN_FROM: Final = 600  # characters of Markdown, of which `plain` makes its line
MAIN: Final = frozenset({Choice.APPROVE, Choice.USER})
ACCOUNT_HEADS: Final = (marked("Account"), marked("State"), marked("Since"), marked("Reason"))
MODE_HEADS: Final = (marked("Room"), marked("Mode"), marked("Set by"), marked("Since"))
VERBS: Final = {"requeue": marked("Send again"), "discard": marked("Give up")}


def question(row: View) -> Html:
    """An open approval as a card with its buttons."""
    name = f"reason-{row['id']}"
    buttons = [
        tag("button", label, name="choice", value=choice, class_="main" if choice in MAIN else None, type="submit")
        for choice, label in row["choices"].items()
    ]
    is_decided = {Choice.APPROVE, Choice.DENY} <= row["choices"].keys()
    return tag(
        "article",
        _chooser(row) if is_decided else None,
        *_asked(row),
        *_exchanges(row["asked_back"]),
        tag("p", row["caution"], class_="faint") if row["caution"] else None,
        tag("p", say("Why this asks: {reason}", reason=legible(row["rule_reason"]))) if row["rule_reason"] else None,
        tag("p", legible(row["votes"])) if row["votes"] else None,
        tag("p", *_asked_by(row), class_="faint"),
        None if row["kind"] == ApprovalKind.PERSON else tag("p", trace_link(row["id"])),
        tag(
            "form",
            tag("label", say("Reason (optional)"), for_=name),
            tag("input", id=name, name="reason", maxlength="1000", autocomplete="off"),
            tag("div", *buttons, class_="buttons"),
            method="post",
            action=f"{ROOT}/approvals/{quote(row['as_shown'], safe='')}",
        ),
        _edit(row) if row["editable"] else None,
        _always(row) if row["always"] else None,
        _ask(row) if row["askable"] else None,
        id=f"q-{row['id']}",
        class_="card",
        tabindex="0",
        data_danger=row["effect"] == Effect.DANGER,
    )


def bulk() -> Html:
    """The bar that decides all selected questions, each for itself; the script shows it."""
    buttons = [
        tag("button", label, type="button", data_bulk=choice, class_="main" if choice in MAIN else None)
        for choice, label in ((Choice.APPROVE, "Approve selected"), (Choice.DENY, "Deny selected"))
    ]
    return tag("div", tag("span", role="status"), *buttons, class_="buttons bulk", hidden=True)


def _chooser(row: View) -> Html:
    box = tag("input", type="checkbox", data_choose=True, autocomplete="off")
    return tag(
        "label",
        box,
        tag("span", say("Select {tool} in {room}", tool=row["tool"], room=row["room"]), class_="hidden"),
        class_="choose",
    )


def _edit(row: View) -> Html:
    """The form that approves the call with other arguments."""
    name = f"edit-{row['id']}"
    return tag(
        "details",
        tag("summary", LABELS[Choice.EDIT]),
        tag(
            "form",
            tag("label", say("Arguments, as JSON"), for_=name),
            tag("textarea", row["edited"], id=name, name="arguments", rows="8", spellcheck="false"),
            tag("div", tag("button", "Approve this", type="submit"), class_="buttons"),
            method="post",
            action=f"{ROOT}/approvals/{quote(row['as_shown'], safe='')}/edit",
        ),
        id=f"edit-of-{row['id']}",
    )


def _always(row: View) -> Html:
    """The form that approves the call, and later ones like it."""
    return tag(
        "details",
        tag("summary", LABELS[Choice.ALWAYS]),
        tag(
            "form",
            *(part for field in row["always"] for part in _input(f"{field['name']}-{row['id']}", field)),
            tag("div", tag("button", "Allow", type="submit"), class_="buttons"),
            method="post",
            action=f"{ROOT}/approvals/{quote(row['as_shown'], safe='')}/always",
        ),
        id=f"always-of-{row['id']}",
    )


def _input(name: str, field: View) -> Iterator[Html]:
    """One field of a form, with its label and what to write into it."""
    yield tag("label", field["label"], for_=name)
    if field["options"]:
        options = [tag("option", one, value=one, selected=one == field["text"]) for one in field["options"]]
        yield tag("select", *options, id=name, name=field["name"])
    elif field["lines"]:
        yield tag("textarea", field["text"], id=name, name=field["name"], rows="4", spellcheck="false")
    else:
        yield tag("input", id=name, name=field["name"], value=field["text"], autocomplete="off")
    if field["hint"]:
        yield tag("small", field["hint"], class_="faint")


def _ask(row: View) -> Html:
    """The form that asks the agent about its call."""
    name = f"ask-{row['id']}"
    return tag(
        "details",
        tag("summary", LABELS[Choice.WHY]),
        tag(
            "form",
            tag("label", say("Your question (empty: {question})", question=say(PLAIN_QUESTION)), for_=name),
            tag("input", id=name, name="question", maxlength=str(QUESTION_MAX_CHARS), autocomplete="off"),
            tag("div", tag("button", say("Ask"), type="submit"), class_="buttons"),
            method="post",
            action=f"{ROOT}/approvals/{quote(row['as_shown'], safe='')}/ask",
        ),
        id=f"ask-of-{row['id']}",
    )


def _exchanges(rows: Sequence[View]) -> Iterator[Html]:
    """Questions of approvers to the agent, and its answers, all of them."""
    for one in rows:
        yield tag(
            "p",
            tag("strong", say("{name} asked:", name=legible(one["by"]))),
            " ",
            visible(one["question"], one_line=True),
        )
        if one["answer"]:
            lines = visible(one["answer"]).splitlines()
            yield tag("blockquote", *(tag("p", line) for line in lines if line.strip()))
        else:
            failed = (
                say("No answer: {reason}", reason=say(one["failed"]))
                if one["failed"]
                else say("The agent is answering.")
            )
            yield tag("p", legible(failed), class_="faint")


def _asked(row: View) -> Iterator[Html]:
    """Subject of a question."""
    if row["kind"] == ApprovalKind.PERSON:
        about = json.loads(row["arguments"])
        yield tag("h3", row["question"])
        yield facts((key, tag("code", value)) for key, value in about.items() if key != "name")
        return
    effect = None if row["kind"] == ApprovalKind.ANSWER else badge(row["effect"])
    yield tag("h3", row["question"], " ", effect, " ", tag("small", *filled(say("in {room}"), room=where(row))))
    if row["kind"] == ApprovalKind.OUTCOME:
        yield tag("p", say("The agent can't tell, so it hasn't repeated the call."), class_="faint")
    yield from _call(row)


def _call(row: View) -> Iterator[Html]:
    """The call as its card shows it; one that is long or not all there has the whole of it folded beneath."""
    whole = Whole(row["sha256"][:SHA256_SHOWN], "" if row["all_shown"] else whole_call(row["arguments"]))
    short = folding(parse(row["shown"]), whole)
    yield Html(to_html(short.document))
    if short.file:
        summary = tag("summary", say("Show all {characters}", characters=several(len(short.file), "character")))
        yield tag("details", summary, tag("pre", short.file), id=f"w-{row['id']}")


def _asked_by(row: View) -> list[str | None]:
    """The person and the rule behind a question, as far as they are known, and its times."""
    who, rule = legible(row["requester"]), legible(row["rule"])
    if who and rule:
        words = say("Asked by {who}, by the rule {rule}, {asked}, expires {expires}")
    elif who:
        words = say("Asked by {who}, {asked}, expires {expires}")
    elif rule:
        words = say("Asked by the rule {rule}, {asked}, expires {expires}")
    else:
        words = say("Asked {asked}, expires {expires}")
    return filled(words, who=who, rule=rule, asked=moment(row["asked_at"]), expires=moment(row["expires_at"]))


def settled(row: View) -> tuple[str, ...]:
    how = row["choices"][row["choice"]] if row["state"] == "answered" else row["state"]
    who = f"{row['decided_by']}: {cut(row['reason'], REASON_MAX_CHARS)}" if row["reason"] else row["decided_by"]
    about = tag("code", row["tool"]) if row["kind"] == ApprovalKind.CALL else row["question"]
    call = tag("pre", row["call"])
    what = tag("details", tag("summary", about), call, *_exchanges(row["asked_back"]), id=f"a-{row['id']}")
    when = moment(row["decided_at"])
    told = when if row["kind"] == ApprovalKind.PERSON else trace_link(row["id"], when)
    return told, what, badge(how), who or "-", where(row)


def own_room(row: View, me: str) -> Html:
    """The room, as a link for whoever began the work there on the page: others can't open the conversation."""
    if row["by"] != me or not row["address"].startswith(f"{CHANNEL}:"):
        return where(row)
    return tag("a", where(row), href=f"/#{Address.parse(row['address']).room}")


def posts(rows: Sequence[View]) -> Html:
    """Messages by their rooms: a link to each on its platform or on the page, else to what the outbox knows of it."""
    return tag("span", *(_post(row) for row in rows), class_="posts")


def _post(row: View) -> Html:
    about = f"/console/outbox/{quote(row['id'], safe='')}"
    name = tag("a", legible(row["room"]), href=row["link"] or about, title=row["address"])
    return tag("span", name, None if row["state"] == "shown" else badge(row["state"]))


def mend(row: View) -> Html:
    verbs = MENDED.get(row["state"], ("discard",) if row["state"] == "open" else ())
    forms = [
        tag(
            "form",
            tag("button", say(VERBS[verb]), type="submit"),
            method="post",
            action=f"{ROOT}/deliveries/{quote(row['id'], safe='')}/{verb}",
            data_ask=say("Give this message up? Nobody will see it, and it is never sent.")
            if verb == "discard"
            else None,
        )
        for verb in verbs
    ]
    return tag("div", *forms, class_="buttons") if forms else Html("")


def accounts(rows: Sequence[View]) -> Iterator[Html]:
    """Table of the accounts' connection status; nothing without `rows`, as when no process runs."""
    if rows:
        lines = ((row["account"], badge(row["state"]), moment(row["since"]), row["reason"] or "-") for row in rows)
        yield tag("h2", say("Channels"))
        yield table(say("Channels"), ACCOUNT_HEADS, lines)


def modes(rows: Sequence[View]) -> Iterator[Html]:
    """Conversations in which more or less runs than the rules say; nothing where there is none."""
    special = [row for row in rows if row["mode"] != "normal"]
    if special:
        yield tag("h2", say("Modes"))
        lines = ((where(row), say(row["meaning"]), row["set_by"] or "-", moment(row["set_at"])) for row in special)
        yield table(say("Modes"), MODE_HEADS, lines)


def run_link(row: View) -> Html:
    return tag("a", moment(row["started_at"]), href=f"/console/runs/{quote(row['id'], safe='')}")


def delivery_link(row: View) -> Html:
    return tag("a", moment(row["created_at"]), href=f"/console/outbox/{quote(row['id'], safe='')}")


def plain(markdown: str) -> str:
    """The beginning of a message as one line."""
    return legible(_short(to_plain(parse(markdown[:PLAIN_FROM])), 120))  # our words: cards have their codes already


def unmarked(markdown: str) -> str:
    """All of a message, without its marks."""
    return legible(to_plain(parse(markdown)))


def cut(text: str, most: int = 120) -> str:
    """The beginning of what others wrote, on one line on which nothing is hidden."""
    return visible(_short(text, most), one_line=True)


def answer_line(markdown: str, most: int) -> str:
    """The beginning of an answer, as `cut` shows it, without its marks.

    >>> answer_line("Written to `tea.txt`:\\n\\n```\\nWrote 3 bytes.\\n```", 80)
    'Written to tea.txt: Wrote 3 bytes.'
    """
    return cut(to_plain(parse(markdown[:PLAIN_FROM])), most)


def _short(text: str, most: int) -> str:
    return clip(" ".join(text.split()), most)
