"""Delivery to wire: JSON that holds everything a call needs. Pure.

    {"text": …, "html": …, "choices": [[approval, choice, label, emoji]], "calls": ["@ada:…"], "reply_to": "$…"}
    {"reaction": "👍"}                                       an emoji for the message that it edits
    {"file": "report.pdf", "name": …, "mime": …, "size": …}      a file of the session's workspace; `holds`: its text

`lasting`: it is more than work under way, so the message that it replaces must be there. The plain twin has no HTML.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from signalbox.channels import Content, Delivery, FileRef, Kind, WholeCall, Wire, said_at
from signalbox.markup import (
    WAITING,
    Document,
    abridged,
    clip,
    headline,
    mass_mentions,
    neutralised,
    neutralised_text,
    once,
    opening,
    parse,
    split_made,
    to_plain,
    utf8,
)
from signalbox_matrix.choices import Offer, as_json, hint, offers
from signalbox_matrix.outgoing.html import to_matrix

TEXT_MAX_BYTES: Final = 16_000
"""Bytes of a message's text. An event has at most 65,536, in which an edit holds the text twice and its HTML once.

Source: spec.matrix.org/v1.16/client-server-api/#size-limits, read 2026-11.
"""
HTML_PER_TEXT: Final = 2.5
"""So many times the text's bytes the HTML of one message may have."""
MENTION_MAX_CHARS: Final = 40
EMPTY_TEXT: Final = "(no text)"
WHOLE_CALL_FILE: Final = "call-{}.txt"
FILE_MISSING: Final = "The file {} could not be sent here. The whole call is on the console."
EVERYBODY: Final = mass_mentions("@room")

Texts = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Body:
    """One wire message. `file` is relative to the session's workspace; `holds` is the text of a file that lies nowhere."""

    text: str = ""
    html: str = ""
    choices: tuple[Offer, ...] = ()
    calls: tuple[str, ...] = ()
    reply_to: str = ""
    file: str = ""
    name: str = ""
    mime: str = ""
    size: int = 0
    holds: str = ""
    reaction: str = ""
    lasting: bool = False

    def to_json(self) -> str:
        told: dict[str, Any] = {name: value for name, value in asdict(self).items() if value}
        if self.choices:
            told["choices"] = as_json(self.choices)
        return json.dumps(told, ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Body:
        told = json.loads(text)
        told["choices"] = tuple(Offer(*row) for row in told.get("choices", ()))
        told["calls"] = tuple(told.get("calls", ()))
        return cls(**told)


def render(delivery: Delivery) -> list[Wire]:
    """Text first, then a message for each file. The first answers, the last text has the choices."""
    content = delivery.content
    if content.reaction:
        return [Wire(Body(reaction=content.reaction).to_json())]
    with said_at(delivery.address):
        return [_lasting(wire) if delivery.kind is not Kind.PROGRESS else wire for wire in _wires(delivery)]


def _wires(delivery: Delivery) -> list[Wire]:
    content = delivery.content
    document = neutralised(parse(content.text), EVERYBODY)
    threaded = content.threaded and not delivery.address.thread  # a thread has no threads
    above, rest = headline(document) if threaded else (Document(()), document)
    if not above.blocks:
        return _rendered(delivery, document)
    if not (rest.blocks or content.files or content.text_file):
        return _rendered(delivery, above)
    return [*map(_wire, _pieces(above)), *_rendered(delivery, rest)]


def _rendered(delivery: Delivery, document: Document) -> list[Wire]:
    content = delivery.content
    if content.whole is not None:
        return _card(delivery, document, content.whole)
    if content.text_file is not None:
        return _as_file(delivery, document, content.text_file)
    blocks = (*document.blocks, *_folded(content).blocks, *_hint(content).blocks)
    bodies = _pieces(Document(blocks)) if blocks or not content.files else []
    if bodies:
        bodies[0] = replace(bodies[0], reply_to=delivery.reply_to)
        bodies[-1] = replace(bodies[-1], choices=offers(content.buttons))
    return [*map(_wire, bodies), *map(_file, content.files)]


def _card(delivery: Delivery, document: Document, whole: WholeCall) -> list[Wire]:
    """One message with its choices, and the whole call as a file after it where that is asked about for the first time."""
    content, is_new = delivery.content, delivery.edits is None or not delivery.ordinal  # an edit, or over a preview
    below = (*_folded(content).blocks, *_hint(content).blocks, *_called(content).blocks)
    measured = once(lambda part: _size(_texts(Document((*part.blocks, *below)))))
    short = abridged(document, whole, measured, TEXT_MAX_BYTES, asks=content.asks)
    first, *others = _pieces(Document((*short.document.blocks, *below)))
    calls = tuple(one.identity.partition(":")[2] for one in content.mentions)
    bodies = [replace(first, reply_to=delivery.reply_to, calls=calls), *others]
    bodies[-1] = replace(bodies[-1], choices=offers(content.buttons))
    wires = list(map(_wire, bodies))
    if short.file and content.asks and is_new:
        name = WHOLE_CALL_FILE.format(whole.sha256)
        sent = Body(file=name, name=name, mime="text/plain", holds=short.file)
        wires.append(Wire(sent.to_json(), Body(FILE_MISSING.format(name)).to_json()))
    return wires


def _as_file(delivery: Delivery, document: Document, file: FileRef) -> list[Wire]:
    """The opening of a long text, and the file that holds all of it. If the file is refused, the whole text follows plainly."""
    brief = replace(_body(_texts(opening(document, file.name, _measure, TEXT_MAX_BYTES))), reply_to=delivery.reply_to)
    brief = replace(brief, choices=offers(delivery.content.buttons))
    first, *more = (replace(body, html="").to_json() for body in _pieces(document))
    return [_wire(brief), *map(_file, delivery.content.files), Wire(_sent(file).to_json(), first, tuple(more))]


def _hint(content: Content) -> Document:
    return parse(hint(offers(content.buttons))) if content.buttons else Document(())


def _folded(content: Content) -> Document:
    return neutralised(parse(content.folded), EVERYBODY) if content.folded else Document(())


def _called(content: Content) -> Document:
    """A line that notifies those it names: each name is a link to its person."""
    if not content.mentions:
        return Document(())
    people = (f"[{_name(one.name)}](https://matrix.to/#/{one.identity.partition(':')[2]})" for one in content.mentions)
    return parse(f"{WAITING}{', '.join(people)}.")


def _name(name: str) -> str:
    return clip(" ".join(name.replace("[", "").replace("]", "").replace("\\", "").split()), MENTION_MAX_CHARS) or "you"


def _pieces(document: Document) -> list[Body]:
    return [_body(texts) for texts in split_made(document, _texts, _size, TEXT_MAX_BYTES)]


def _measure(document: Document) -> int:
    return _size(_texts(document))


def _size(texts: Texts) -> int:
    plain, html = texts
    return max(utf8(plain), int(utf8(html) / HTML_PER_TEXT) + 1)


def _texts(document: Document) -> Texts:
    """Plain text, and HTML."""
    return neutralised_text(to_plain(document), EVERYBODY).strip(), to_matrix(document)


def _body(texts: Texts) -> Body:
    plain, html = texts
    is_seen = any(character.isprintable() and not character.isspace() for character in plain)
    return Body(plain, html) if is_seen else Body(EMPTY_TEXT)


def _wire(body: Body) -> Wire:
    return Wire(body.to_json(), replace(body, html="").to_json())


def _file(file: FileRef) -> Wire:
    missing = f"The file {file.name} could not be sent here. It is in the workspace: {file.path}"
    return Wire(_sent(file).to_json(), Body(missing).to_json())


def _sent(file: FileRef) -> Body:
    return Body(file=file.path, name=file.name, mime=file.mime, size=file.size)


def _lasting(wire: Wire) -> Wire:
    made = (replace(Body.of(body), lasting=True).to_json() for body in (wire.body, *wire.more))
    body, *more = made
    fallback = None if wire.fallback is None else replace(Body.of(wire.fallback), lasting=True).to_json()
    return Wire(body, fallback, tuple(more))
