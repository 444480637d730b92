"""A mail as bytes, to what we know of it. Whatever is in there, it never fails: what can't be read is left out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import getaddresses
from typing import Final

from signalbox_email.ids import digest, ids_in, is_mail_address
from signalbox_email.incoming.html_text import HTML_MOST_CHARS, text_of_html

TEXT_MOST_CHARS: Final = 200_000
PARTS_MOST: Final = 200
HEADER_MOST_CHARS: Final = 20_000
PLAIN_HEAD: Final = re.compile(rb"(?:[!-9;-~]++:[^\r\n\0]*+\r?\n(?:[ \t][^\r\n\0]*+\r?\n)*+)++(?:\r?\n|\Z)")
"""Headers that each program reads alike. Python takes a bare CR for the end of a line, and what is no header for the text:
of a mail with such a thing its signature would cover another text than the one that is read here."""
BLANKS: Final = b" \t\r\n\v\f"
"""What a signature may leave out of account."""
RESULTS_MOST: Final = 50
NO_CHARSETS: Final = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
"""Encodings of Python's that no mail is in; some take hours."""
NAME_MOST_CHARS: Final = 120
TOO_DEEP: Final = "[This mail can't be read: its parts are nested too deep.]"
CUT_NOTE: Final = "\n\n[The rest of this mail is left out: it is too long.]"

Named = tuple[str, str]
"""Somebody: their name and their address, in lower case."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A file in a mail. `place` is its number among all parts."""

    name: str
    mime: str
    size: int
    place: int


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail as it was read. `key` is its Message-ID, or a digest of all of it where it has none.

    `sender` is who it says it is from; nothing here tells that it is true. `references` are the ids of the mails before it
    in its thread, oldest first. `results` are the headers in which servers tell what they checked, the newest first.
    `clear`: each program reads its headers alike. `content` is a digest of what stands below them.
    """

    key: str
    message_id: str
    sender: Named
    to: Sequence[Named]
    cc: Sequence[Named]
    subject: str
    references: Sequence[str]
    parent: str
    text: str
    files: Sequence[Attached]
    results: Sequence[str]
    head: Message
    clear: bool
    content: str


def mail_of(raw: bytes, *, key: str = "") -> Mail:
    """`key` stands for a Message-ID where it has none, if `raw` is not all of it."""
    try:
        message = message_from_bytes(raw, policy=policy.compat32)
        text, files = _contents(message)
    except RecursionError:
        message = BytesHeaderParser(policy=policy.compat32).parsebytes(raw)
        text, files = TOO_DEEP, []
    ids = ids_in(header(message, "Message-ID"))
    references = ids_in(header(message, "References"))
    parents = ids_in(header(message, "In-Reply-To"))
    parent = parents[0] if parents else (references[-1] if references else "")
    senders = _named(message, "From")
    told = PLAIN_HEAD.match(raw)
    return Mail(
        key=ids[0] if ids else key or digest(raw),
        message_id=ids[0] if ids else "",
        # Of several, also where some are no addresses, nobody knows who speaks.
        sender=senders[0] if len(senders) == 1 and is_mail_address(senders[0][1]) else ("", ""),
        to=people(message, "To"),
        cc=people(message, "Cc"),
        subject=" ".join(decoded(header(message, "Subject")).split())[:500],
        references=references or parents[:1],
        parent=parent,
        text=text,
        files=files,
        results=[unfolded(str(one)) for one in (message.get_all("Authentication-Results") or [])[:RESULTS_MOST]],
        head=message,
        clear=told is not None,
        content=digest((raw[told.end() :] if told else raw).translate(None, BLANKS)),
    )


def header(message: Message, name: str) -> str:
    """The first header of that name, unfolded; as it stands there."""
    return unfolded(str(message.get(name) or ""))


def unfolded(value: str) -> str:
    return " ".join(line.strip() for line in value[:HEADER_MOST_CHARS].splitlines()).strip()


def decoded(value: str) -> str:
    """Its encoded words as text; one that can't be decoded stays as it is."""
    try:
        pieces = decode_header(value)
    except (ValueError, LookupError, UnicodeError):
        return value
    return "".join(one if isinstance(one, str) else _text(one, charset or "ascii") for one, charset in pieces)


def people(message: Message, name: str) -> list[Named]:
    """The people whom a header names, as far as they have addresses."""
    return [(who, address) for who, address in _named(message, name) if is_mail_address(address)]


def _named(message: Message, name: str) -> list[Named]:
    """All that a header names, addresses or not."""
    raw = [unfolded(str(one)) for one in message.get_all(name) or []]
    return [
        (" ".join(decoded(who).split())[:NAME_MOST_CHARS], address.strip().lower())
        for who, address in getaddresses(raw)
    ]


def parts_of(message: Message) -> Iterator[tuple[int, Message]]:
    """All parts that hold something, each with its number. An attached mail counts as one."""
    waiting, number = [message], 0
    while waiting and number < PARTS_MOST:
        one = waiting.pop()
        inner = one.get_payload()
        if isinstance(inner, list) and one.get_content_maintype() == "multipart":
            waiting += [each for each in reversed(inner) if isinstance(each, Message)]
            continue
        number += 1
        yield number, one


def bytes_of(part: Message) -> bytes:
    """The content of a part, decoded."""
    inner = part.get_payload()
    if isinstance(inner, list):  # an attached mail
        return b"\n".join(each.as_bytes() for each in inner if isinstance(each, Message))
    held = part.get_payload(decode=True)
    return held if isinstance(held, bytes) else b""


def _contents(message: Message) -> tuple[str, list[Attached]]:
    """Text of a mail, from its plain parts where there are any; and its files."""
    plain: list[str] = []
    rich: list[str] = []
    files: list[Attached] = []
    for place, part in parts_of(message):
        kind, disposition = part.get_content_type(), (part.get_content_disposition() or "")
        is_text = kind in ("text/plain", "text/html") and disposition != "attachment" and not part.get_filename()
        if not is_text:
            files.append(Attached(_name(part, place), kind, len(bytes_of(part)), place))
        elif kind == "text/plain":
            plain.append(_text(bytes_of(part), part.get_content_charset() or "utf-8"))
        else:
            rich.append(_text(bytes_of(part), part.get_content_charset() or "utf-8"))
    text = "\n".join(plain) if any(one.strip() for one in plain) else "\n".join(map(text_of_html, rich))
    is_cut = len(text) > TEXT_MOST_CHARS or (not plain and sum(map(len, rich)) > HTML_MOST_CHARS)
    return text[:TEXT_MOST_CHARS] + (CUT_NOTE if is_cut else ""), files


def _name(part: Message, place: int) -> str:
    named = part.get_filename()
    if named:
        return decoded(unfolded(named))[:200]
    if part.get_content_type() == "message/rfc822":
        return f"mail-{place}.eml"
    return f"part-{place}.{part.get_content_subtype()}"[:60]


def _text(raw: bytes, charset: str) -> str:
    try:
        text = raw.decode(
            "utf-8" if codecs.lookup(charset).name.replace("_", "-") in NO_CHARSETS else charset, "replace"
        )
    except (LookupError, UnicodeError, ValueError):
        text = raw.decode("utf-8", "replace")
    return text.replace("\0", "")
