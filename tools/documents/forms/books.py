"""Chapters of a book in EPUB."""

from __future__ import annotations

import posixpath
from typing import BinaryIO, Final
from urllib.parse import unquote
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from tools.documents.archives import opened, undeclaring, without_declarations
from tools.documents.forms.texts import markdown_of
from tools.documents.parts import PARTS_READ_MAX, Document, Part, Unreadable, blocks_of, pieces

CONTAINER: Final = "META-INF/container.xml"
ENCRYPTION: Final = "META-INF/encryption.xml"
CHAPTER_MAX_BYTES: Final = 8 << 20


def book(file: BinaryIO) -> Document:
    """Errors: Unreadable."""
    archive = without_declarations(opened(file))
    try:
        title, chapters = _spine(archive)
        sealed = archive.read(ENCRYPTION).decode(errors="replace") if ENCRYPTION in archive.namelist() else ""
        if any(f'"{unquote(path)}"' in unquote(sealed) for path in chapters):
            raise Unreadable("The book is protected against copying. Ask for one that isn't.")
        parts = [part for number, path in enumerate(chapters, 1) for part in _chapter(archive, number, path)]
    except (KeyError, BadZipFile, ElementTree.ParseError, ValueError, RuntimeError) as error:
        raise Unreadable("The book is broken. Ask for it again.") from error
    return Document.of("Book", parts, title=title)


def _spine(archive: ZipFile) -> tuple[str, list[str]]:
    """The title, and the files of the book in the order in which they are read."""
    found = ElementTree.fromstring(undeclaring(archive, CONTAINER)).find(".//{*}rootfile")  # noqa: S314 - it declares no entities
    package = found.attrib["full-path"] if found is not None else ""
    root = ElementTree.fromstring(undeclaring(archive, package))  # noqa: S314
    files = {one.attrib["id"]: one.attrib["href"] for one in root.iterfind(".//{*}manifest/{*}item")}
    wanted = [files[one.attrib["idref"]] for one in root.iterfind(".//{*}spine/{*}itemref")]
    folder = posixpath.dirname(package)
    paths = [posixpath.normpath(posixpath.join(folder, unquote(one))) for one in wanted[:PARTS_READ_MAX]]
    title = root.find(".//{*}title")
    return " ".join((title.text or "").split())[:200] if title is not None else "", paths


def _chapter(archive: ZipFile, number: int, path: str) -> list[Part]:
    if archive.getinfo(path).file_size > CHAPTER_MAX_BYTES:
        return [Part(f"chapter {number}", "[This chapter is too large to be read.]")]
    return pieces(blocks_of(markdown_of(archive.read(path))), f"chapter {number}")
