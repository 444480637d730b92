"""Delivery to wire: JSON that holds everything the sender needs. Pure.

{"text": …, "blocks": […]}     a message; without blocks it is a plain twin
{…, "listed": …}               a message with task cards, and the blocks that stand in their place where Slack has none
{…, "as": {"name", …}}         one in the name of an agent: "text" and "blocks" without that, where Slack shows it as the author
{…, "stream": …}               a preview: what a stream says so far; `text` and `blocks` where there is no stream
{"reaction": "👍"}             an emoji for the message that it edits
{"file": {"name", "path", "size"}, "comment": …}    "text" in place of "path" is what it holds
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from adapters.slack.interactions import BUTTON
from adapters.slack.outgoing.dialect import NOBODY, to_slack
from adapters.slack.outgoing.mrkdwn import blocks_of
from adapters.slack.outgoing.plan import plan_of
from adapters.slack.text import escaped
from runtime.contract import (
    WITH_REASON,
    Button,
    Choice,
    Content,
    Delivery,
    FileRef,
    Kind,
    Mention,
    TaskCards,
    Whole,
    Wire,
)
from runtime.markup import Document, neutralised, neutralised_text, once, parse, split_made, to_plain
from runtime.markup.attachment import abridged, opening
from runtime.markup.headline import headline
from runtime.markup.mentions import WAITING
from runtime.markup.speaker import without_speaker
from runtime.text.glyphs import head

# Source: docs.slack.dev/reference/block-kit, read 2026-08. All blocks of a message together bear some 13,200
# characters, which Slack does not document; how it counts them is not known either, so we count as JSON is written.
MARKDOWN: Final = 12_000  # characters of all markdown blocks of a message
SECTION: Final = 3_000
TEXT: Final = 40_000  # characters of `text`
ELEMENTS: Final = 25  # in one actions block
LABEL: Final = 75
SUMMARY: Final = 3_000  # of `text` beside blocks, which notifications and searches read

GROWING: Final = " …"
"""Ends a text that is a preview."""
EMPTY_TEXT: Final = "(nothing to read)"
STYLES: Final = {Choice.APPROVE: "primary", Choice.DENY: "danger"}
CALLING: Final = 500  # characters for a line that calls people
WHOLE_FILE: Final = "call-{}.txt"
MISSING: Final = "Slack didn't accept the file {} here. The whole call is on the console."
DENY_WHY: Final = "Deny with a reason…"

Json = dict[str, Any]


class Made(NamedTuple):
    """A document, as Slack's Markdown, and its plain twin."""

    document: Document
    marked: str
    plain: str


def render(delivery: Delivery) -> list[Wire]:
    """Wire messages of `delivery`, each valid alone. Buttons stand under the last one with text."""
    content = delivery.content
    if content.reaction:
        return [Wire(_dumped({"reaction": content.reaction}))]
    document = neutralised(parse(content.all_text), NOBODY)
    if not content.threaded or delivery.address.thread:  # a thread has no threads
        return _rendered(delivery, document)
    above, rest = headline(document)
    if not above.blocks:
        return _rendered(delivery, document)
    if not (rest.blocks or content.files or content.text_file):
        return [_wire(_made(above), content.buttons)]
    return [*map(_wire, _pieces(above)), *_rendered(delivery, rest)]


def _rendered(delivery: Delivery, document: Document) -> list[Wire]:
    content = delivery.content
    if content.whole is not None:
        return _card(delivery, document, content.whole)
    pieces = _pieces(document)
    if content.text_file is not None:
        return _with_file(content, document, pieces, content.text_file, over=delivery.edits is not None)
    if content.files and not document.blocks and not content.buttons:
        return _files(content.files)
    if content.tasks is not None and len(pieces) == 1:
        return [_with_cards(pieces[0], content.tasks)]
    if delivery.kind is Kind.PROGRESS:
        return [_named(_preview(content.text, pieces[0]), content.speaker)]
    wires = [*(_wire(piece) for piece in pieces[:-1]), _wire(pieces[-1], content.buttons)]
    if content.speaker:
        wires[0] = _in_its_name(wires[0], pieces[0], content)
    return [*wires, *_files(content.files)]


def _card(delivery: Delivery, document: Document, whole: Whole) -> list[Wire]:
    """One message with its buttons, and the whole call as a file under it where that is asked about for the first time."""
    content, is_new = delivery.content, delivery.edits is None or not delivery.ordinal  # an edit, or over a preview
    made = once(_made)
    short = abridged(document, whole, lambda part: _size(made(part)), MARKDOWN - CALLING, asks=content.asks)
    first, *others = split_made(short.document, made, _size, MARKDOWN - CALLING)
    card = [_wire(first, content.buttons, content.mentions), *map(_wire, others)]
    if not (short.file and content.asks and is_new):
        return card
    name = WHOLE_FILE.format(whole.sha256)
    size_ = len(short.file.encode("utf-8", "replace"))
    body = {"file": {"name": name, "text": short.file, "size": size_}, "comment": ""}
    return [*card, Wire(_dumped(body), _dumped({"text": MISSING.format(name)}))]


def size(document: Document) -> int:
    """Size against the limit of a Markdown block, of the larger form: Markdown or its plain twin."""
    return _size(_made(document))


def _pieces(document: Document) -> list[Made]:
    return split_made(document, _made, _size, MARKDOWN)


def _made(document: Document) -> Made:
    return Made(document, to_slack(document), to_plain(document))


def _size(made: Made) -> int:
    _, marked, plain = made
    return max(len(_dumped(marked)), len(_dumped(plain)), len(escaped(plain)) * MARKDOWN // TEXT)


def _in_its_name(wire: Wire, piece: Made, content: Content) -> Wire:
    """With what it says where the name that leads it is the author's."""
    rest = without_speaker(piece.document, content.speaker)
    if rest is None or content.buttons:
        return wire
    bare = json.loads(_wire(_made(rest)).body)
    return _named(wire, content.speaker, **bare)


def _named(wire: Wire, speaker: str, **more: Any) -> Wire:
    if not speaker:
        return wire
    return replace(wire, body=_dumped({**json.loads(wire.body), "as": {"name": speaker, **more}}))


def _with_cards(piece: Made, tasks: TaskCards) -> Wire:
    wire = _wire(piece)
    if (plan := plan_of(tasks)) is None:
        return wire
    body = json.loads(wire.body)
    return replace(wire, body=_dumped({**body, "blocks": [plan], "listed": body["blocks"]}))


def _preview(text: str, piece: Made) -> Wire:
    """A text that grows: as it is, so that what comes next only adds to it. A stream shows by itself that it grows."""
    so_far = neutralised_text(text.removesuffix(GROWING), NOBODY)
    wire = _wire(piece)
    if len(so_far) > MARKDOWN or not so_far.strip():
        return wire
    return replace(wire, body=_dumped({**json.loads(wire.body), "stream": so_far}))


def _wire(made: Made, buttons: Sequence[Button] = (), mentions: Sequence[Mention] = ()) -> Wire:
    document, marked, plain = made
    if plain.strip():
        blocks = blocks_of(document, marked)
    else:
        plain = EMPTY_TEXT
        blocks = [{"type": "markdown", "text": EMPTY_TEXT}]
    rows = actions(buttons)
    blocks += _called(mentions)
    body: Json = {"text": escaped(head(plain, SUMMARY)), "blocks": [*blocks, *rows]}
    return Wire(_dumped(body), _dumped(_twin(plain, rows)))


def _called(mentions: Sequence[Mention]) -> list[Json]:
    """A line that notifies those it names."""
    users = ", ".join(f"<@{one.identity.rpartition('/')[2]}>" for one in mentions)
    return [{"type": "section", "text": {"type": "mrkdwn", "text": f"{WAITING}{users}."}}] if users else []


def _twin(plain: str, rows: list[Json]) -> Json:
    """Plain twin of a message. Buttons need blocks, whose text Slack doesn't parse either."""
    if not rows:
        return {"text": escaped(plain)}
    sections = [{"type": "section", "text": _plain(piece)} for piece in _cut(plain, SECTION)]
    return {"text": escaped(head(plain, SUMMARY)), "blocks": [*sections, *rows]}


def actions(buttons: Sequence[Button]) -> list[Json]:
    """Rows of buttons. A denial may say why: that opens a form."""
    first: list[Json] = []
    elements: list[Json] = []
    for button in buttons:
        elements.append(_button(button.approval_id, button.choice, button.label, STYLES.get(button.choice)))
        if button.choice is Choice.DENY:  # what else may be answered stands in rows of its own
            first, elements = [*elements, _button(button.approval_id, WITH_REASON, DENY_WHY, None)], []
    rows = [first, *(elements[start : start + ELEMENTS] for start in range(0, len(elements), ELEMENTS))]
    return [{"type": "actions", "elements": row} for row in rows if row]


def _button(approval: str, word: str, label: str, style: str | None) -> Json:
    made: Json = {
        "type": "button",
        "text": _plain(label[:LABEL]),
        "action_id": f"{BUTTON}{word}:{approval}",
        "value": f"{approval}:{word}",
    }
    return made | ({"style": style} if style else {})


def _with_file(
    content: Content, document: Document, pieces: Sequence[Made], file: FileRef, *, over: bool
) -> list[Wire]:
    """The opening of a long text with a file that holds all of it; the text in parts in case the file is refused.

    `over` an existing message, that message becomes the opening: a message cannot become a file. Other files stand
    between the two.
    """
    beginning = opening(document, file.name, size, SECTION)
    apart = over or bool(content.files)
    comment = "" if apart else escaped(to_plain(beginning))
    parts = [_wire(piece).body for piece in pieces]
    whole = Wire(_dumped({"file": _file(file), "comment": comment}), parts[0], tuple(parts[1:]))
    return [_wire(_made(beginning)), *_files(content.files), whole] if apart else [whole]


def _files(files: Sequence[FileRef]) -> list[Wire]:
    """Each in a message of its own; who cannot have it is told so."""
    return [Wire(_dumped({"file": _file(file), "comment": ""}), _dumped({"text": _missing(file)})) for file in files]


def _missing(file: FileRef) -> str:
    return escaped(f"Slack didn't accept the file {file.name} here.")


def _file(file: FileRef) -> Json:
    return {"name": file.name, "path": file.path, "size": file.size}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": False}


def _cut(text: str, most: int) -> list[str]:
    pieces = []
    while text:
        pieces.append(head(text, most))
        text = text[len(pieces[-1]) :]
    return pieces


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
