"""Kinds of documents, by their first bytes, or else what was said about them. No I/O beyond the open file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath
from typing import BinaryIO, Final
from zipfile import BadZipFile, ZipFile

from tools.documents.parts import BROKEN_FILE, Unreadable

PEEK_BYTES: Final = 8_192
PDF_BEGINS: Final = b"%PDF-"
ZIP_BEGINS: Final = b"PK\x03\x04"
OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MIME_NAME_MAX_BYTES: Final = 100


class Kind(StrEnum):
    """Form of a document, by the ending that its files have."""

    PDF = "pdf"
    WORD = "docx"
    SHEETS = "xlsx"
    SLIDES = "pptx"
    BOOK = "epub"
    TABLE = "csv"
    PAGE = "html"
    MAIL = "eml"
    TEXT = "txt"


KIND_OF_ENDING: Final = {
    **{kind.value: kind for kind in Kind},
    "htm": Kind.PAGE,
    "xhtml": Kind.PAGE,
    "tsv": Kind.TABLE,
    "mht": Kind.MAIL,
    "mhtml": Kind.MAIL,
}
KIND_OF_MEDIA: Final = {
    "text/csv": Kind.TABLE,
    "text/tab-separated-values": Kind.TABLE,
    "text/html": Kind.PAGE,
    "application/xhtml+xml": Kind.PAGE,
    "message/rfc822": Kind.MAIL,
}
KIND_OF_FOLDER: Final = {"word/": Kind.WORD, "xl/": Kind.SHEETS, "ppt/": Kind.SLIDES}
READ_HERE: Final = (
    "PDF, Word (.docx), Excel (.xlsx), PowerPoint (.pptx), EPUB, CSV, HTML, mail (.eml) and plain text are read."
)


def kind_of(file: BinaryIO, name: str, media: str) -> Kind:
    """The kind of an open document. What it begins with counts more than its name. Errors: Unreadable for one of no kind."""
    file.seek(0)
    start = file.read(PEEK_BYTES)
    file.seek(0)
    if PDF_BEGINS in start[:1024]:
        return Kind.PDF
    if start.startswith(ZIP_BEGINS):
        return _packed(file)
    if start.startswith(OLD_OFFICE):
        raise Unreadable(
            "It is an old Office file (.doc, .xls, .ppt) or has a password. Ask for a .docx, .xlsx, .pptx or PDF without one."
        )
    if not start.strip():
        raise Unreadable("The file is empty.")
    ending = KIND_OF_ENDING.get(PurePosixPath(name).suffix.lower().lstrip("."))
    kind = KIND_OF_MEDIA.get(media.partition(";")[0].strip().lower()) or ending or _guessed(start)
    if kind in KIND_OF_FOLDER.values() or kind in (Kind.PDF, Kind.BOOK):
        raise Unreadable(f"The file is broken, or no {kind.value} at all: it doesn't begin as one. Ask for it again.")
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(f"This kind of file isn't read here. {READ_HERE}")
    return kind


def is_document(data: bytes, name: str, media: str) -> bool:
    """True for what is read by its kind alone: no text, or a mail."""
    is_mail = PurePosixPath(name).suffix.lower() == ".eml" or media.startswith("message/rfc822")
    return PDF_BEGINS in data[:1024] or data.startswith((ZIP_BEGINS, OLD_OFFICE)) or is_mail


def _packed(file: BinaryIO) -> Kind:
    try:
        with ZipFile(file) as archive:
            names = archive.namelist()
            mime = archive.getinfo("mimetype") if "mimetype" in names else None
            if mime and mime.file_size < MIME_NAME_MAX_BYTES and archive.read(mime).strip() == b"application/epub+zip":
                return Kind.BOOK
    except (BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise Unreadable(BROKEN_FILE) from error
    finally:
        file.seek(0)
    if "[Content_Types].xml" in names:
        for folder, kind in KIND_OF_FOLDER.items():
            if any(name.startswith(folder) for name in names):
                return kind
    raise Unreadable(
        f"It is an archive of {len(names):,} files, not a document. Ask for the documents in it. {READ_HERE}"
    )


def _guessed(start: bytes) -> Kind:
    begins = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return Kind.PAGE if begins.startswith((b"<!doctype html", b"<html")) else Kind.TEXT
