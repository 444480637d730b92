"""Archives that documents are kept in, bounded before anything is unpacked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from tools.documents.parts import BROKEN_FILE, Unreadable

UNPACKED_MAX_BYTES: Final = 256 << 20
"""Of all files of an archive together, as it says itself; none is read further than it says."""
ENTRIES_MAX: Final = 5_000
RATIO_MAX: Final = 200
RATIO_COUNTS_BYTES: Final = 1 << 20
"""Size from which the ratio of a file counts: little files of spaces are packed well, and honest."""
XML_ENDINGS: Final = (".xml", ".rels", ".opf", ".ncx", ".vml")
DECLARES: Final = re.compile(rb"<\x00?!\x00?(?:D\x00?O\x00?C\x00?T\x00?Y\x00?P\x00?E|E\x00?N\x00?T\x00?I\x00?T\x00?Y)")
"""A declaration of XML, also in UTF-16."""
CHUNK_BYTES: Final = 1 << 20
OVERLAP_BYTES: Final = 32
IS_SEALED: Final = 0x1
BOMB: Final = "It unpacks to far more than its size ({what}), so it's left unread. Ask for an ordinary file."


def opened(file: BinaryIO) -> ZipFile:
    """An archive that may be unpacked. Errors: Unreadable."""
    try:
        archive = ZipFile(file)
    except (BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable(BROKEN_FILE) from error
    entries = archive.infolist()
    if len(entries) > ENTRIES_MAX:
        raise Unreadable(BOMB.format(what=f"{len(entries):,} files in it"))
    total = sum(one.file_size for one in entries)
    if total > UNPACKED_MAX_BYTES:
        raise Unreadable(BOMB.format(what=f"{total / 1e6:,.0f} MB"))
    for one in entries:
        if one.file_size > RATIO_COUNTS_BYTES and one.file_size > RATIO_MAX * max(one.compress_size, 1):
            raise Unreadable(BOMB.format(what=f"{one.file_size // max(one.compress_size, 1):,} times"))
        if one.flag_bits & IS_SEALED:
            raise Unreadable("It needs a password. Ask for a copy without one.")
    return archive


def without_declarations(archive: ZipFile) -> ZipFile:
    """The archive again, where no XML in it declares entities: office files never do. Errors: Unreadable."""
    for one in archive.infolist():
        if one.filename.lower().endswith(XML_ENDINGS):
            _refuse_declarations(archive, one)
    return archive


def undeclaring(archive: ZipFile, path: str) -> bytes:
    """A file of XML that declares no entities, whatever it is called. Errors: Unreadable; KeyError if it isn't there."""
    _refuse_declarations(archive, archive.getinfo(path))
    return archive.read(path)


def _refuse_declarations(archive: ZipFile, entry: ZipInfo) -> None:
    if any(map(DECLARES.search, _chunks(archive, entry))):
        raise Unreadable("It declares entities of XML, which no office program writes. It's left unread.")


def _chunks(archive: ZipFile, entry: ZipInfo) -> Iterator[bytes]:
    before = b""
    try:
        with archive.open(entry) as file:
            while data := file.read(CHUNK_BYTES):
                yield before + data
                before = data[-OVERLAP_BYTES:]
    except (BadZipFile, EOFError, OSError, NotImplementedError, ValueError) as error:
        raise Unreadable(BROKEN_FILE) from error
