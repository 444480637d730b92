"""Pages of a PDF, each read when it's needed."""

from __future__ import annotations

from typing import BinaryIO, Final

from pypdf import PageObject, PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import DictionaryObject

from tools.documents.parts import Document, Part, Unreadable

PDF_WORDS_MAX_CHARS: Final = 200
PASSWORD_NEEDED: Final = "It needs a password. Ask for a copy without one."  # noqa: S105 - a sentence


def pdf(file: BinaryIO) -> Document:
    """Errors: Unreadable for one that is broken, or needs a password."""
    try:
        reader = PdfReader(file, strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable(PASSWORD_NEEDED)
        count = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise Unreadable("The PDF is broken. Ask for it again.") from error
    if not count:
        raise Unreadable("The PDF has no pages.")
    return Document("PDF", "page", count, lambda place: _page(reader, place), _titled(reader))


def _titled(reader: PdfReader) -> str:
    try:
        title = reader.metadata.title if reader.metadata else None
    except Exception:  # noqa: BLE001 - a title is a courtesy, and pypdf raises anything for a broken one
        return ""
    return " ".join(str(title or "").split())[:PDF_WORDS_MAX_CHARS]


def _page(reader: PdfReader, place: int) -> Part:
    label = f"page {place + 1}"
    try:
        page = reader.pages[place]
        text = page.extract_text().strip()
        return Part(label, text, pictures=not text and _has_pictures(page))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - pypdf raises anything for a broken page, and others are whole
        return Part(label, f"[This page can't be read: {_words(error)}.]")


def _has_pictures(page: PageObject) -> bool:
    resources = page.get("/Resources")
    found = resources.get_object() if resources else None
    return isinstance(found, DictionaryObject) and "/XObject" in found


def _words(error: Exception) -> str:
    return (" ".join(str(error).split())[:PDF_WORDS_MAX_CHARS] or type(error).__name__).rstrip(".")
