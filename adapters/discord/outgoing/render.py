"""Delivery to wire: messages within Discord's limits, as the JSON that `show` sends. Pure.

    {"content": "…", "components": […], "files": [{"name": "…", "path": "…"}], "reply_to": "…", "calls": ["…"]}

    {"reaction": "👍"}      an emoji for the message that it edits

`text` in place of a file's path is what it holds; `calls` are users whom the message notifies.

Limits: discord.com/developers/docs/resources/message and …/components/reference, read 2026-08.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from adapters.discord.interactions import payload
from adapters.discord.outgoing.dialect import to_discord
from runtime.contract import WITH_REASON, Button, Choice, Content, Delivery, FileRef, Mention, Whole, Wire
from runtime.markup import Document, parse, to_plain
from runtime.markup.attachment import abridged, opening
from runtime.markup.headline import headline
from runtime.markup.mentions import NOTHING_WIDE, WAITING, mass_mentions, neutralised, neutralised_text
from runtime.markup.split import once, split_made
from runtime.text.lengths import characters

REPEAT_MARK: Final = "(repeated)\n"  # on a line of its own: a heading or a fence begins its line
CONTENT: Final = 2000  # characters
LIMIT: Final = CONTENT - len(REPEAT_MARK)
ROW: Final = 5  # buttons
LABEL: Final = 80  # characters
FILES: Final = 10  # of one message
EVERYBODY: Final = mass_mentions("@everyone", "@here")
EMPTY_TEXT: Final = "(nothing)"  # Discord takes no empty message
WHOLE_FILE: Final = "call-{}.txt"
MISSING: Final = "Discord didn't accept the file {}. The whole call is on the console."
REASON_LABEL: Final = "Deny with a reason…"

ACTION_ROW, BUTTON = 1, 2  # types of components
GREY, GREEN, RED = 2, 3, 4  # styles of buttons
STYLES: Final = {Choice.APPROVE: GREEN, Choice.DENY: RED}

Body = dict[str, Any]
Texts = tuple[str, str]


def render(delivery: Delivery) -> list[Wire]:
    """The messages of `delivery`; buttons and files are under the last, and only the first is a reply."""
    content = delivery.content
    if content.reaction:
        return [Wire(json.dumps({"reaction": content.reaction}, ensure_ascii=False))]
    document = neutralised(parse(content.all_text), EVERYBODY)
    threaded = content.threaded and not delivery.address.thread  # a thread has no threads
    above, rest = headline(document) if threaded else (Document(()), document)
    if not above.blocks:
        return _rendered(delivery, document)
    if not (rest.blocks or content.files or content.text_file):
        return _rendered(delivery, above)
    return [*(_wire(texts) for texts in _pieces(above)), *_rendered(delivery, rest)]


def _rendered(delivery: Delivery, document: Document) -> list[Wire]:
    content, reply_to = delivery.content, reply_of(delivery)
    if content.whole is not None:
        return _card(delivery, document, content.whole)
    if content.text_file is not None:
        return [_as_file(content, document, content.text_file, reply_to)]
    *before, last = _pieces(document)
    replies = [reply_to, *[""] * len(before)]
    wires = [_wire(texts, reply_to=to) for texts, to in zip(before, replies, strict=False)]
    return [*wires, _last(last, content, replies[-1]), *_further(content.files[FILES:])]


def _card(delivery: Delivery, document: Document, whole: Whole) -> list[Wire]:
    """One message: the card, its buttons, and the whole call as a file. An edit takes files away that it does not bring."""
    content = delivery.content
    called, texts = _called(content.mentions), once(_texts)

    short = abridged(document, whole, lambda part: _longer(texts(part)), LIMIT - len(called), asks=content.asks)
    first, *others = split_made(short.document, texts, _longer, LIMIT - len(called))
    rows, users = buttons(content.buttons), [one.identity.rpartition(":")[2] for one in content.mentions]
    text, plain = (f"{form}{called}" for form in (first[0], _spared(first[1])))
    files = list[Body]()
    fallback = _json(plain, rows)
    if short.file and content.asks:
        name = WHOLE_FILE.format(whole.sha256)
        files = [{"name": name, "text": short.file}]
        missing = f"{plain}\n\n{MISSING.format(name)}"
        fallback = _json(missing if len(missing) <= LIMIT else plain, rows)
    extra: Body = {**({"files": files} if files else {}), **({"calls": users} if users else {})}
    card = Wire(json.dumps(json.loads(_json(text, rows)) | extra, ensure_ascii=False), fallback)
    return [_replying(card, reply_of(delivery)), *map(_wire, others)]


def _called(mentions: Sequence[Mention]) -> str:
    """A line that notifies those it names."""
    users = ", ".join(f"<@{one.identity.rpartition(':')[2]}>" for one in mentions)
    return f"\n\n{WAITING}{users}." if users else ""


def reply_of(delivery: Delivery) -> str:
    """The message that is answered, where it stands in the same room: one that began a thread does not."""
    return "" if delivery.reply_to == delivery.address.thread else delivery.reply_to


def measure(document: Document) -> int:
    """Length in characters of the longer form: Discord's Markdown or its plain twin."""
    return _longer(_texts(document))


def _longer(texts: Texts) -> int:
    return max(map(characters, texts))


def _pieces(document: Document) -> list[Texts]:
    return split_made(document, _texts, _longer, LIMIT)


def _texts(document: Document) -> Texts:
    """Discord's Markdown and its plain twin."""
    return to_discord(document), to_plain(document)


def _wire(texts: Texts, content: Content | None = None, reply_to: str = "") -> Wire:
    rows = buttons(content.buttons) if content else []
    return Wire(_json(texts[0], rows, reply_to=reply_to), _json(_spared(texts[1]), rows, reply_to=reply_to))


def _last(texts: Texts, content: Content, reply_to: str) -> Wire:
    files = content.files[:FILES]
    if not files:
        return _wire(texts, content, reply_to)
    rows = buttons(content.buttons)
    return _replying(Wire(_json(texts[0], rows, files), _without_files(_spared(texts[1]), rows, files)), reply_to)


def _further(files: Sequence[FileRef]) -> Iterator[Wire]:
    """Messages of nothing but files, where there are more than one message holds."""
    for start in range(0, len(files), FILES):
        some = files[start : start + FILES]
        yield Wire(_json("", [], some), _without_files("", [], some))


def _as_file(content: Content, document: Document, file: FileRef, reply_to: str) -> Wire:
    """The opening of a long text with a file that holds all of it; the text in parts in case the file is refused."""
    rows = buttons(content.buttons)
    text = to_discord(opening(document, file.name, measure, LIMIT))
    *before, last = (marked for marked, _ in _pieces(document))
    parts = [_json(marked) for marked in before] + [_json(last, rows)]
    first, *more = parts
    files = (file, *content.files)[:FILES]
    return _replying(Wire(_json(text, rows, files), first, tuple(more)), reply_to)


def _replying(wire: Wire, reply_to: str) -> Wire:
    if not reply_to:
        return wire
    fallback = None if wire.fallback is None else _with(wire.fallback, reply_to)
    return Wire(_with(wire.body, reply_to), fallback, wire.more)


def _with(body: str, reply_to: str) -> str:
    return json.dumps({**json.loads(body), "reply_to": reply_to}, ensure_ascii=False)


def _spared(plain: str) -> str:
    """A plain twin that calls nobody."""
    return neutralised_text(plain, EVERYBODY)


def _without_files(text: str, rows: list[Body], files: Sequence[FileRef]) -> str:
    """Text where Discord refuses a file: its name, as far as there is room."""
    names = "Not accepted by Discord: " + ", ".join(file.name for file in files)
    joined = "\n\n".join(filter(None, [text, neutralised_text(names, EVERYBODY)]))
    return _json(joined if len(joined) <= LIMIT else text or joined[:LIMIT], rows)


def _json(text: str, rows: Sequence[Body] = (), files: Sequence[FileRef] = (), reply_to: str = "") -> str:
    is_seen = text.replace(NOTHING_WIDE, "").strip()
    body: Body = {"content": text if is_seen else "" if files else EMPTY_TEXT, "components": list(rows)}
    if files:
        body["files"] = [{"name": file.name, "path": file.path} for file in files]
    if reply_to:
        body["reply_to"] = reply_to
    return json.dumps(body, ensure_ascii=False)


def buttons(shown: Sequence[Button]) -> list[Body]:
    """Rows of buttons. Their payloads outlive every process: nothing is kept in memory for them."""
    first: list[Body] = []
    made: list[Body] = []
    for button in shown:
        made.append(_button(button.approval_id, button.choice, button.label, STYLES.get(button.choice, GREY)))
        if button.choice is Choice.DENY:  # what else may be answered stands in rows of its own
            first, made = [*made, _button(button.approval_id, WITH_REASON, REASON_LABEL, GREY)], []
    rows = [first, *(made[start : start + ROW] for start in range(0, len(made), ROW))]
    return [{"type": ACTION_ROW, "components": row} for row in rows if row]


def _button(approval: str, choice: str, label: str, style: int) -> Body:
    return {"type": BUTTON, "style": style, "label": label[:LABEL], "custom_id": payload(approval, choice)}
