"""Delivery to wire: JSON that the page, the CLI and other clients of the API read."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from runtime.contract import (
    FORM_CHOICES,
    NOTHING_RAN,
    Author,
    Button,
    Closed,
    Content,
    Delivery,
    Entry,
    FileRef,
    RanTool,
    Waiting,
    Wire,
    WorkBehind,
)
from runtime.markup import Document, parse, to_html, to_plain
from runtime.markup.attachment import Abridged, folding
from runtime.markup.moments import in_words
from runtime.markup.tree import CodeBlock, List, Paragraph, Strong
from runtime.text.glyphs import legible, visible
from runtime.text.words import say, several


def render(delivery: Delivery) -> Wire:
    """One wire message, however long: the page has no limit of its own. HTML is made here, once."""
    content = delivery.content
    if content.reaction:
        return Wire(json.dumps({"reaction": content.reaction}, ensure_ascii=False))
    document = parse(content.all_text)
    body: dict[str, Any] = {
        "kind": delivery.kind,
        "markdown": in_words(content.all_text),
        "html": html(content, document),
        "buttons": [_button(button) for button in content.buttons],
        "files": [file(ref) for ref in content.files],
    }
    if content.rewritten:
        body["rewritten"] = True
    if content.failed:
        body["failed"] = True
    if content.elsewhere:
        body["elsewhere"] = True
    if content.schedule:
        body["schedule"] = visible(content.schedule, one_line=True)
    if content.mark:
        body |= {"mark": content.mark.name.lower(), "ended": _ended(document)}
    return Wire(json.dumps(body, ensure_ascii=False), to_plain(document))


def html(content: Content, whole: Document | None = None) -> str:
    """The text without its mark, which the page draws; of a long call both ends; and what is folded, folded.

    `whole` is all of it as it was parsed already, so that it is not parsed twice where that is what is shown.
    """
    text = content.text.removeprefix(content.mark or "").lstrip()
    document = whole if whole is not None and text == content.all_text else parse(text)
    short = folding(document, content.whole) if content.whole else Abridged(document)
    shown = [to_html(short.document)]
    if short.file:
        shown.append(
            _details(
                say("Show all {characters}", characters=several(len(short.file), "character")),
                to_html(Document((CodeBlock(short.file),))),
            )
        )
    if content.folded:
        shown.append(_folded(parse(content.folded)))
    return "\n".join(shown)


def _folded(document: Document) -> str:
    """Under its first line; several results of a list each keep their number."""
    first, *rest = document.blocks
    if isinstance(first, List):
        return _details(say("Results"), to_html(document))
    return _details(to_plain(Document((first,))).strip().rstrip(":"), to_html(Document(tuple(rest))))


def _ended(document: Document) -> str:
    """The word for how it ended, by which a settled card begins."""
    words = document.blocks[0].children if document.blocks and isinstance(document.blocks[0], Paragraph) else ()
    return next((to_plain(Document((Paragraph(one.children),))) for one in words if isinstance(one, Strong)), "")


def _details(summary: str, inner: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{inner}</details>"


def entry(entry: Entry) -> dict[str, Any]:
    """One entry as the timeline tells it. Only an agent's body is ours: what people wrote stays text."""
    made: dict[str, Any] = {
        "id": entry.id,
        "author": entry.author,
        "name": entry.name,
        "at": entry.at.isoformat(),
        "version": entry.version,
        "answered": entry.answered,
        "files": [file(ref) for ref in entry.files],
    }
    if entry.run:
        made["run"] = entry.run
    if entry.replaces:
        made["replaces"] = entry.replaces
    if entry.is_notice:
        made["notice"] = True
    if entry.reactions:
        made["reactions"] = [json.loads(body)["reaction"] for body in entry.reactions]
    if entry.author is Author.SUMMARY:
        return {**made, "summary": summary(entry.body)}
    body = _body(entry.body) if entry.author is Author.AGENT else None
    if entry.behind != NOTHING_RAN:
        made |= {"ran": [ran(one) for one in entry.behind.ran], "thought": bool(entry.behind.thoughts)}
    if body is None:
        return {**made, "text": entry.body}
    return {**made, **body, "files": [*made["files"], *body.get("files", [])]}


def ran(one: RanTool) -> dict[str, Any]:
    return {"tool": visible(one.tool, one_line=True), "seconds": round(one.seconds, 3)}


def work_behind(work: WorkBehind) -> dict[str, Any]:
    """All that led to an answer. What models and tools wrote stays text, with codes for what would not be seen."""
    return {
        "ran": [{**ran(one), "arguments": visible(one.arguments), "result": legible(one.result)} for one in work.ran],
        "thoughts": list(map(legible, work.thoughts)),
    }


def summary(body: str) -> dict[str, Any]:
    """A summary as the page folds it. A model wrote its text: it is shown as Markdown, as all that models write."""
    told: dict[str, Any] = json.loads(body)
    return {**told, "html": to_html(parse(told["text"]))}


def question(one: Waiting) -> dict[str, Any]:
    """A question that waits for whoever asks, as a card; without buttons where it can be answered in its room alone."""
    return {
        "id": one.id,
        "kind": one.kind,
        "tool": one.tool,
        "effect": one.effect,
        "room": visible(one.room, one_line=True),
        "place": one.address.room if one.address.channel == "web" else "",
        "requester": visible(one.requester, one_line=True),
        "asked_at": one.asked_at.isoformat(),
        "expires_at": one.expires_at.isoformat(),
        "html": html(one.card) if one.card else "",
        "buttons": [_button(button) for button in one.card.buttons] if one.card else [],
    }


def closed(one: Closed) -> dict[str, Any]:
    """A question that no longer waits for whoever asks, with its end."""
    return {
        "id": one.id,
        "tool": one.tool,
        "room": visible(one.room, one_line=True),
        "state": one.state,
        "by": visible(one.by, one_line=True),
        "at": one.at.isoformat() if one.at else None,
        "reason": visible(one.reason),
    }


def brief(entry: Entry) -> dict[str, Any]:
    """An entry that the page has already: enough to see that it is still the same."""
    told = {"id": entry.id, "version": entry.version, "answered": entry.answered}
    return told | {"run": entry.run} if entry.run else told  # a message has none until its run begins


def file(ref: FileRef) -> dict[str, Any]:
    return {"name": ref.name, "path": ref.path, "size": ref.size}


def _button(button: Button) -> dict[str, str | bool]:
    shown: dict[str, str | bool] = {
        "approval_id": button.approval_id,
        "choice": button.choice,
        "label": button.label,
    }
    return shown | ({"form": True} if button.choice in FORM_CHOICES else {})


def _body(text: str) -> dict[str, Any] | None:
    """Body that `render` made, or None."""
    try:
        body = json.loads(text)
    except ValueError:
        return None
    return body if isinstance(body, dict) and {"markdown", "html", "buttons"} <= body.keys() else None
