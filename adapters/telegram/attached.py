"""Files that come with a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from telegram import Message

from runtime.contract import FileRef


def files_of(message: Message) -> tuple[FileRef, ...]:
    return tuple(_ref(*found) for found in _found(message))


def _found(message: Message) -> Iterator[tuple[Any, str, str]]:
    """Each file, the name it has without one of its own, and what it is then called."""
    if message.photo:
        yield max(message.photo, key=lambda size: size.width * size.height), "photo.jpg", "image/jpeg"
    if message.animation:
        yield message.animation, "animation.mp4", "video/mp4"
    elif message.document:  # an animation comes as a document too
        yield message.document, "document", "application/octet-stream"
    if message.voice:
        yield message.voice, "voice.ogg", "audio/ogg"
    if message.audio:
        yield message.audio, "audio.mp3", "audio/mpeg"
    if message.video:
        yield message.video, "video.mp4", "video/mp4"
    if message.video_note:
        yield message.video_note, "video.mp4", "video/mp4"


def _ref(file: Any, unnamed: str, mime: str) -> FileRef:
    name = getattr(file, "file_name", None) or unnamed
    return FileRef(name, "", file.file_size or 0, remote=file.file_id, mime=getattr(file, "mime_type", None) or mime)
