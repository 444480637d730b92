"""Delivery to wire: JSON that holds everything a mail needs but its thread. Pure.

{"subject": …, "text": …, "html": …, "reply_to": "<…>", "approval": "…", "choices": [["approve", "Approve"], …],
 "files": [[name, path, mime], …], "holds": [[name, text], …]}
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, Final
from urllib.parse import quote

from signalbox.channels import Content, Delivery, Wire, say
from signalbox.markup import Document, characters, opening, parse, to_html, to_plain

SUBJECT_MOST_CHARS: Final = 78
"""Source: RFC 5322, 2.1.1."""
OPENING_MOST_CHARS: Final = 1_500
"""Of a long text that is attached as a file."""
NO_TEXT: Final = "(no text)"
REPEATED: Final = "(repeated) "
WHOLE_FILE: Final = "call-{}.txt"


@dataclass(frozen=True, slots=True)
class Body:
    """One mail. `choices` are words of choices with their labels; `files` are in the workspace, `holds` are texts that lie nowhere."""

    text: str
    html: str
    subject: str = ""
    reply_to: str = ""
    approval: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str, str], ...] = ()
    holds: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if value}, ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Body:
        raw: dict[str, Any] = json.loads(text)
        for name in ("choices", "files", "holds"):
            raw[name] = tuple(tuple(one) for one in raw.get(name, ()))
        return cls(**{"text": "", "html": "", **raw})


def render(delivery: Delivery) -> list[Wire]:
    """One mail, with its files; and for a text that is a file, all of the text in its place should the file be refused."""
    content, document = delivery.content, parse(delivery.content.all_text)
    subject = _subject(content, document)
    files = tuple((one.name, one.path, one.mime) for one in content.files)
    body = replace(_written(document, content), subject=subject, reply_to=delivery.reply_to, files=files)
    if content.whole is not None and content.whole.text and content.asks:
        body = replace(body, holds=((WHOLE_FILE.format(content.whole.sha256[:12]), content.whole.text),))
    if content.text_file is None:
        return [Wire(body.to_json())]
    file = content.text_file
    brief = _written(opening(document, file.name, _length, OPENING_MOST_CHARS), content)
    sent = replace(
        body, text=brief.text, html=brief.html, files=(*files, (file.name, file.path, file.mime or "text/markdown"))
    )
    return [Wire(sent.to_json(), replace(body, files=()).to_json())]


def _length(document: Document) -> int:
    return characters(to_plain(document))


def _subject(content: Content, document: Document) -> str:
    """For a mail that begins a thread: the name of the schedule, or the text's first line."""
    words = " ".join((content.schedule or to_plain(document).strip().partition("\n")[0]).split())
    return words if len(words) <= SUBJECT_MOST_CHARS else f"{words[: SUBJECT_MOST_CHARS - 2].rstrip()} …"


def _written(document: Document, content: Content) -> Body:
    text = to_plain(document)
    if not any(one.isprintable() and not one.isspace() for one in text):
        return Body(NO_TEXT, f"<p>{NO_TEXT}</p>") if not content.files else Body("", "")
    approval = content.buttons[0].approval_id if content.buttons else ""
    choices = tuple((f"{one.choice.value} {one.approval_id}", one.label) for one in content.buttons)
    return Body(text, to_html(document), approval=approval, choices=choices)


def text_of(body: Body, *, repeated: bool) -> str:
    """The plain part of a mail."""
    pieces = [f"{REPEATED if repeated else ''}{body.text}"]
    if body.choices:
        width = max(len(line) for line, _ in body.choices)
        pieces.append(say("To decide, reply with one of these lines:"))
        pieces.append("\n".join(f"    {line.ljust(width)}   {label}" for line, label in body.choices))
    return "\n\n".join(pieces)


def html_of(body: Body, address: str, *, repeated: bool) -> str:
    """The rich part: the same, with a link for each choice that writes the mail."""
    mark = f"<p>{REPEATED}</p>" if repeated else ""
    choices = ""
    if body.choices:
        subject = quote(body.subject)
        links = "\n".join(
            f'<li><a href="mailto:{escape(quote(address, safe="@"))}?subject={subject}&amp;body={quote(line)}">'
            f"{escape(label)}</a> <code>{escape(line)}</code></li>"
            for line, label in body.choices
        )
        choices = f"<p>{escape(say('To decide, reply with one of these lines:'))}</p>\n<ul>\n{links}\n</ul>"
    return f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n{mark}{body.html}\n{choices}</body></html>\n'
