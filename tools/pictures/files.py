"""Pictures and recordings of a workspace: their kinds, told by what they begin with, and their bounds."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath
from typing import Final

from runtime.contract import VOICE_NOTE
from runtime.errors import ToolFailed
from runtime.markup.moments import several
from tools.files.workspace import attached, named, opened

MEDIA_MAX_BYTES: Final = 20 << 20
PICTURES: Final = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpg", b"GIF87a": "gif", b"GIF89a": "gif"}
WEBP: Final = (b"RIFF", b"WEBP")  # at 0 and at 8
RECORDINGS: Final = ("flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "opus", "wav", "webm", "amr", "aac")
SOUND_MIME: Final = {
    "mp3": "audio/mpeg",
    "ogg": VOICE_NOTE,
    "wav": "audio/wav",
    "flac": "audio/flac",
    "aac": "audio/aac",
    "m4a": "audio/mp4",
}
"""Kinds of recordings that models of voices make."""
OPUS_AT: Final = 28
"""Bytes of an Ogg page before what it holds, where that is a stream's first packet. Source: RFC 7845, section 5.1."""
MIME: Final = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


def picture_kind(data: bytes) -> str:
    """Ending of a picture by its first bytes; empty for anything else."""
    if data[:4] == WEBP[0] and data[8:12] == WEBP[1]:
        return "webp"
    return next((kind for sign, kind in PICTURES.items() if data.startswith(sign)), "")


def sound_kind(data: bytes) -> str:
    """Ending of a recording by its first bytes; empty for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "wav"
    if data[:4] == b"OggS" and data[OPUS_AT : OPUS_AT + 8] == b"OpusHead":
        return "ogg"
    if data[:4] == b"fLaC":
        return "flac"
    if data[4:8] == b"ftyp":
        return "m4a"
    if data[:3] == b"ID3":
        return "mp3"
    if (
        len(data) > 3 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0
    ):  # a frame begins: MPEG audio, or AAC where its layer is 0
        return "mp3" if data[1] & 0x06 else "aac"
    return ""


def picture_at(workspace: Path, path: str) -> tuple[str, bytes]:
    """The path of a picture and what it holds. Errors: ToolFailed."""
    path, data = _read(workspace, path)
    if not picture_kind(data):
        raise ToolFailed(f"{named(path)} is no picture that can be looked at; PNG, JPEG, GIF and WebP can.")
    return path, data


def recording_at(workspace: Path, path: str) -> tuple[str, bytes]:
    """A name for a recording with its ending, and what it holds. Errors: ToolFailed."""
    path, data = _read(workspace, path)
    ending = PurePosixPath(path).suffix.lower().removeprefix(".")
    if ending not in RECORDINGS:
        raise ToolFailed(f"{named(path)} is no recording that can be written down; {', '.join(RECORDINGS)} can.")
    return f"recording.{ending}", data


def _read(workspace: Path, path: str) -> tuple[str, bytes]:
    path = attached(workspace, path)
    with opened(workspace, path) as file:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise ToolFailed(f"{named(path)} is no file.")
        if not 0 < found.st_size <= MEDIA_MAX_BYTES:
            raise ToolFailed(
                f"{named(path)} has {several(found.st_size, 'byte')}; it may have 1 to {MEDIA_MAX_BYTES:,}."
            )
        with open(file, "rb", closefd=False) as data:
            return path, data.read(MEDIA_MAX_BYTES)
