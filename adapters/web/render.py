"""Delivery to wire: JSON that the page, the CLI and other clients of the API read."""

from __future__ import annotations

import json
from typing import Any

from runtime.contract import FORM_CHOICES, Author, Button, Delivery, Entry, FileRef, Wire
from runtime.markup import parse, to_html, to_plain
from runtime.markup.moments import in_words


def render(delivery: Delivery) -> Wire:
    """One wire message, however long: the page has no limit of its own. HTML is made here, once."""
    content = delivery.content
    document = parse(content.text)
    body = {
        "kind": delivery.kind,
        "markdown": in_words(content.text),
        "html": to_html(document),
        "buttons": [_button(button) for button in content.buttons],
        "files": [file(ref) for ref in content.files],
    }
    return Wire(json.dumps(body, ensure_ascii=False), to_plain(document))


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
    body = _body(entry.body) if entry.author is Author.AGENT else None
    if body is None:
        return {**made, "text": entry.body}
    return {**made, **body, "files": [*made["files"], *body.get("files", [])]}


def brief(entry: Entry) -> dict[str, Any]:
    """An entry that the page has already: enough to see that it is still the same."""
    return {"id": entry.id, "version": entry.version, "answered": entry.answered}


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
