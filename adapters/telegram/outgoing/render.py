"""Delivery to wire: JSON that holds everything a call needs. Pure.

    {"text": …, "entities": […], "buttons": [["Approve", "<id>:approve"], …], "reply_to": "<chat>:<id>"}
    {"reaction": "👍", …}            an emoji for the message that it edits
    {"file": "report.pdf", "name": …, "mime": …, "text": "", …}      a file of the session's workspace; `holds`: its text

The plain twin has the text without entities, with the addresses of its links written out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from adapters.telegram.outgoing.entities import MESSAGE_MAX_ENTITIES, Entity, written
from runtime.contract import VOICE_NOTE, WITH_REASON, Button, Choice, Delivery, FileRef, Mention, Whole, Wire
from runtime.markup import Document, once, parse, split, split_made, to_plain
from runtime.markup.attachment import abridged, opening
from runtime.markup.headline import headline
from runtime.markup.mentions import WAITING
from runtime.text.emoji import bare
from runtime.text.glyphs import clip, legible
from runtime.text.lengths import utf16

REPEATED: Final = "(repeated) "
"""Stands before a message of which nobody could tell whether it is there already."""
TEXT_LIMIT: Final = 4096
"""UTF-16 units of a message, after entities. Source: core.telegram.org/bots/api#sendmessage, read 2026-11."""
TEXT_MAX_UNITS: Final = TEXT_LIMIT - len(REPEATED)
CAPTION: Final = 1024 - len(REPEATED)
"""… of what stands under a file."""
PER_ENTITY: Final = TEXT_MAX_UNITS // MESSAGE_MAX_ENTITIES + 1
"""So a text with more entities than the platform keeps counts as too long."""
LABEL: Final = 64
DENY_WHY: Final = "Deny with a reason…"
NAME_MAX_CHARS: Final = 40
WHOLE_FILE: Final = "call-{}.txt"
MISSING: Final = "The file {} could not be sent here. The whole call is on the console."
EMPTY_TEXT: Final = "(no text)"
PHOTOS: Final = ("image/jpeg", "image/png", "image/webp")
PLAYED: Final = ("audio/mpeg", "audio/mp4")
"""Types of recordings with a player. Source: core.telegram.org/bots/api#sendaudio, read 2026-11."""
PHOTO_MOST: Final = 10 * 1024 * 1024
"""Bytes of a photo; a larger picture goes as a document. Source: core.telegram.org/bots/api#sendphoto, read 2026-11."""


Forms = tuple[tuple[str, list[Entity]], str]


@dataclass(frozen=True, slots=True)
class Body:
    """One wire message. `file` is relative to the session's workspace; with one, `text` is its caption.

    `holds` is the text of a file that lies nowhere.
    """

    text: str
    entities: tuple[Entity, ...] = ()
    buttons: tuple[tuple[str, str], ...] = ()
    reply_to: str = ""
    file: str = ""
    name: str = ""
    mime: str = ""
    size: int = 0
    holds: str = ""
    reaction: str = ""

    @property
    def is_photo(self) -> bool:
        return self.mime in PHOTOS and self.size <= PHOTO_MOST

    @property
    def is_voice(self) -> bool:
        return self.mime == VOICE_NOTE

    @property
    def is_recording(self) -> bool:
        """True for what Telegram plays: a voice note, or a file with a player."""
        return self.is_voice or self.mime in PLAYED

    def to_json(self) -> str:
        said: dict[str, Any] = {"text": self.text, "entities": list(self.entities)}
        said["buttons"] = [list(pair) for pair in self.buttons]
        if self.reply_to:
            said["reply_to"] = self.reply_to
        if self.file:
            said |= {"file": self.file, "name": self.name, "mime": self.mime, "size": self.size}
        if self.holds:
            said["holds"] = self.holds
        if self.reaction:
            said["reaction"] = self.reaction
        return json.dumps(said, ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Body:
        raw = json.loads(text)
        raw["entities"] = tuple(raw["entities"])
        raw["buttons"] = tuple((label, payload) for label, payload in raw["buttons"])
        return cls(**raw)

    def repeated(self) -> Body:
        """With the mark of a message that perhaps is there already."""
        by = len(REPEATED)
        moved = tuple({**entity, "offset": entity["offset"] + by} for entity in self.entities)
        return replace(self, text=REPEATED + self.text, entities=moved)


def render(delivery: Delivery) -> list[Wire]:
    """Text first, then a message for each file. The first answers, the last has the buttons."""
    content, document = delivery.content, parse(delivery.content.text)
    if content.reaction:
        return [Wire(Body("", reaction=bare(content.reaction)).to_json())]
    above, rest = headline(document) if content.threaded else (Document(()), document)
    if not above.blocks:
        return _rendered(delivery, document)
    if not (rest.blocks or content.files or content.text_file):
        return _rendered(delivery, above)
    first = pieces(above)
    return [*(Wire(rich.to_json(), plain.to_json()) for rich, plain in first), *_rendered(delivery, rest)]


def _rendered(delivery: Delivery, document: Document) -> list[Wire]:
    content = delivery.content
    if content.whole is not None:
        return _card(delivery, document, content.whole)
    if content.text_file is not None:
        return _as_file(delivery, document, content.text_file)
    pairs = pieces(document) if document.blocks or not content.files else []
    if content.folded:
        pairs += [_texts(Document(()), piece) for piece in split(parse(content.folded), _length, TEXT_MAX_UNITS)]
    pairs += [_file(file) for file in content.files]
    buttons = keys(content.buttons)
    pairs[0] = tuple(replace(body, reply_to=delivery.reply_to) for body in pairs[0])
    pairs[-1] = tuple(replace(body, buttons=buttons) for body in pairs[-1])
    return [Wire(rich.to_json(), plain.to_json()) for rich, plain in pairs]


def _card(delivery: Delivery, document: Document, whole: Whole) -> list[Wire]:
    """One message with its buttons, and the whole call as a file after it where that is asked about for the first time."""
    content, is_new = delivery.content, delivery.edits is None or not delivery.ordinal  # an edit, or over a preview
    folded = parse(content.folded) if content.folded else None
    called = _called(content.mentions)
    room = TEXT_MAX_UNITS - utf16(called.text)
    measured = once(partial(_length, folded=folded))
    short = abridged(document, whole, measured, room, asks=content.asks)
    if measured(short.document) <= room:
        pairs = [_texts(short.document, folded)]
    else:
        pairs = pieces(Document((*document.blocks, *(folded.blocks if folded else ()))))
    rich, plain = (replace(body, reply_to=delivery.reply_to) for body in pairs[0])
    pairs[0] = _with(rich, called, content.buttons), _with(plain, replace(called, entities=()), content.buttons)
    if short.file and content.asks and is_new:
        name = WHOLE_FILE.format(whole.sha256)
        sent = Body("", file=name, name=name, mime="text/plain", holds=short.file)
        pairs.append((sent, Body(MISSING.format(name))))
    return [Wire(rich.to_json(), plain.to_json()) for rich, plain in pairs]


def _with(body: Body, called: Body, buttons: Sequence[Button]) -> Body:
    """`body` with a line that calls people, and with buttons."""
    by = utf16(body.text)
    moved = tuple({**entity, "offset": entity["offset"] + by} for entity in called.entities)
    return replace(body, text=body.text + called.text, entities=(*body.entities, *moved), buttons=keys(buttons))


def _called(mentions: Sequence[Mention]) -> Body:
    """A line that notifies those it names: each name is a link to its person."""
    if not mentions:
        return Body("")
    text, entities = f"\n\n{WAITING}", list[Entity]()
    for number, one in enumerate(mentions):
        text += ", " if number else ""
        name = legible(clip(" ".join(one.name.split()), NAME_MAX_CHARS)) or "you"
        url = f"tg://user?id={one.identity.rpartition(':')[2]}"
        entities.append({"type": "text_link", "offset": utf16(text), "length": utf16(name), "url": url})
        text += name
    return Body(f"{text}.", tuple(entities))


def _as_file(delivery: Delivery, document: Document, file: FileRef) -> list[Wire]:
    """The opening of a long text, on the file that holds all of it. If the file is refused, the whole text follows plainly.

    A message of text cannot become one with a file: over a preview the two are messages of their own. Other files stand
    between the two.
    """
    buttons, reply_to = keys(delivery.content.buttons), delivery.reply_to
    brief, plain = _texts(opening(document, file.name, _length, CAPTION))
    *before, last = (plainly for _, plainly in pieces(document))
    first, *more = [*before, replace(last, buttons=buttons)]
    sent = replace(_sent(file), buttons=buttons)
    others = [Wire(rich.to_json(), plain.to_json()) for rich, plain in map(_file, delivery.content.files)]
    if delivery.edits or others:
        brief, plain = (replace(body, reply_to="" if delivery.edits else reply_to) for body in (brief, plain))
        return [Wire(brief.to_json(), plain.to_json()), *others, _refusable(sent, first, more)]
    sent = replace(sent, text=brief.text, entities=brief.entities, reply_to=reply_to)
    return [_refusable(sent, replace(first, reply_to=reply_to), more)]


def _refusable(file: Body, first: Body, more: list[Body]) -> Wire:
    return Wire(file.to_json(), first.to_json(), tuple(body.to_json() for body in more))


def pieces(document: Document) -> list[tuple[Body, ...]]:
    """`document` in bodies and plain twins that each fit one message."""
    return [_bodies(made) for made in forms(document)]


def forms(document: Document) -> list[Forms]:
    """The forms of the pieces that each fit one message, both as they look and as plain text."""
    return split_made(document, _forms, _size, TEXT_MAX_UNITS)


def _length(document: Document, folded: Document | None = None) -> int:
    return _size(_forms(document, folded))


def _size(made: Forms) -> int:
    (text, entities), plain = made
    return max(utf16(text), utf16(plain), PER_ENTITY * len(entities))


def _texts(document: Document, folded: Document | None = None) -> tuple[Body, ...]:
    return _bodies(_forms(document, folded))


def _bodies(made: Forms) -> tuple[Body, ...]:
    (text, entities), plain = made
    if not is_visible(text):
        return Body(EMPTY_TEXT), Body(EMPTY_TEXT)
    return Body(text, tuple(entities)), Body(plain.strip())


def _forms(document: Document, folded: Document | None = None) -> Forms:
    """The text with its entities, and its plain twin."""
    plain = to_plain(Document((*document.blocks, *folded.blocks)) if folded else document)
    return written(document, folded), plain


def _file(file: FileRef) -> tuple[Body, ...]:
    return _sent(file), Body(
        f"The file {file.name} could not be sent here. It is in the workspace: {file.path}"[:TEXT_MAX_UNITS]
    )


def _sent(file: FileRef) -> Body:
    return Body("", file=file.path, name=file.name, mime=file.mime, size=file.size)


def is_visible(text: str) -> bool:
    """True if a person sees anything: the platform takes no message without."""
    return any(character.isprintable() and not character.isspace() for character in text)


def key_rows(keys: Sequence[tuple[str, str]]) -> list[Sequence[tuple[str, str]]]:
    """Two in a row, since three labels side by side are cut on a phone; on a list those of one call stand together."""
    edits = [number for number, (_, payload) in enumerate(keys) if payload.endswith(f":{Choice.EDIT}")]
    cut = edits[0] if len(edits) > 1 else len(keys)
    return [some[at : at + 2] for some in (keys[:cut], keys[cut:]) for at in range(0, len(some), 2)]


def keys(buttons: Sequence[Button]) -> tuple[tuple[str, str], ...]:
    """Label and payload of each. A denial may say why: that asks for the words."""
    made: list[tuple[str, str]] = []
    for button in buttons:
        made.append((button.label[:LABEL], f"{button.approval_id}:{button.choice}"))
        if button.choice is Choice.DENY:
            made.append((DENY_WHY, f"{button.approval_id}:{WITH_REASON}"))
    return tuple(made)
