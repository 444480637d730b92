"""Documents that are text: tables, pages, mails and plain ones."""

from __future__ import annotations

import codecs
import csv
import io
import warnings
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import BinaryIO, Final

from tools.documents.parts import Document, Unreadable, blocks_of, pieces, row_of
from tools.web.charsets import decoded

SAMPLE_CHARS: Final = 8_192
DELIMITERS: Final = ",;\t|"
FIELD_MAX_CHARS: Final = 1 << 20
MAIL_HEADERS: Final = ("From", "To", "Cc", "Reply-To", "Date", "Subject")
HEADER_MAX_CHARS: Final = 1_000
ATTACHMENTS_MAX: Final = 100
MARKDOWN_MAX_CHARS: Final = 2_000_000


def text(file: BinaryIO) -> Document:
    return Document.of("Text", pieces(blocks_of(_words(file.read()))))


def _words(data: bytes) -> str:
    """Text of a file that says nothing of its letters: those of today, else those that Excel writes into a CSV."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decoded(data, "")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def page(file: BinaryIO) -> Document:
    return Document.of("HTML page", pieces(blocks_of(markdown_of(file.read()))))


def markdown_of(data: bytes) -> str:
    from bs4 import XMLParsedAsHTMLWarning

    from tools.web.page_worker import markdown

    with warnings.catch_warnings():  # chapters of books are both
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return markdown(decoded(data, ""), url="", most=MARKDOWN_MAX_CHARS)


# ------------------------------------------------------------------------------------------------------------- tables


def table(file: BinaryIO) -> Document:
    """A table of values with something between them, whichever that is."""
    whole = _words(file.read()).lstrip("\ufeff")
    csv.field_size_limit(FIELD_MAX_CHARS)
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(whole[:SAMPLE_CHARS], DELIMITERS)
    except csv.Error:
        dialect = csv.excel
    try:
        rows = [row_of(row) for row in csv.reader(io.StringIO(whole), dialect)]
    except csv.Error as error:
        raise Unreadable("The table is broken. Ask for it again.") from error
    return Document.of("Table", pieces(_numbered(rows)), about=f" {len(rows):,} rows, numbered.")


def _numbered(rows: list[str]) -> Iterator[str]:
    yield from (f"{number}: {row}" for number, row in enumerate(rows, 1))


# -------------------------------------------------------------------------------------------------------------- mails


def mail(file: BinaryIO) -> Document:
    """Headers that people read, the text, and names of what is attached."""
    message = BytesParser(policy=policy.default).parse(file)
    if not isinstance(message, EmailMessage) or not message.keys():
        raise Unreadable("It is no mail: it has no headers.")
    attached = list(_attached(message))
    heads = [f"{name}: {_header(message, name)}" for name in MAIL_HEADERS if message[name]]
    title = _header(message, "Subject") if message["Subject"] else ""
    return Document.of("Mail", pieces([*heads, "", *blocks_of(_body(message)), "", *attached]), title=title)


def _header(message: EmailMessage, name: str) -> str:
    return " ".join(str(message[name]).split())[:HEADER_MAX_CHARS]


def _body(message: EmailMessage) -> str:
    """The plain text, else that of its page."""
    body = message.get_body(("plain", "html"))
    if not isinstance(body, EmailMessage):
        return "[It has no text.]"
    data = body.get_payload(decode=True)
    raw = data if isinstance(data, bytes) else b""
    if body.get_content_subtype() == "html":
        return markdown_of(raw)
    return decoded(raw, body.get_content_charset() or "")


def _attached(message: EmailMessage) -> Iterator[str]:
    parts = list(message.iter_attachments()) if message.is_multipart() else []
    for part in parts[:ATTACHMENTS_MAX]:
        data = part.get_payload(decode=True)
        size = f"{len(data):,} bytes" if isinstance(data, bytes) else "a mail in it"
        yield f"Attached: {part.get_filename() or 'without a name'} ({part.get_content_type()}, {size})"
    if len(parts) > ATTACHMENTS_MAX:
        yield f"… and {len(parts) - ATTACHMENTS_MAX:,} more"
