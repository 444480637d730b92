"""Files that come with a message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

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


UNREADABLE: Final[Mapping[str, str]] = {
    "venue": "a venue",  # before the location that comes with it
    "location": "a location",
    "contact": "a contact",
    "poll": "a poll",
    "dice": "a roll of dice",
    "story": "a story",
    "game": "a game",
    "checklist": "a checklist",
    "sticker": "a sticker without an emoji",
    "paid_media": "paid media",
    "giveaway": "a giveaway",
    "giveaway_winners": "a giveaway",
    "invoice": "an invoice",
}
"""Messages of people that carry neither words nor files, and what they are called to them."""


def unreadable(message: Message) -> str:
    """Name for a message that has nothing to read; "" for what Telegram itself says, such as a pin."""
    return next((words for name, words in UNREADABLE.items() if getattr(message, name, None) is not None), "")


def _ref(file: Any, unnamed: str, mime: str) -> FileRef:
    name = getattr(file, "file_name", None) or unnamed
    return FileRef(name, "", file.file_size or 0, remote=file.file_id, mime=getattr(file, "mime_type", None) or mime)
