"""Words and files of a message: its own, those it passes on, and those that programs put into embeds and components. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Final

from runtime.contract import FileRef

Raw = Mapping[str, Any]

USER: Final = re.compile(r"<@!?(\d+)>")
ROLE_MENTION: Final = re.compile(r"<@&(\d+)>")
EDGES: Final = " \t\n,:\u00a0"
INBOX_FOLDER: Final = "inbox"  # where files are put in the workspace
UNSAFE: Final = re.compile(r"[^\w.\- ]+")
FILE_NAME_MAX_CHARS: Final = 100  # characters of a file name
TEXT_DISPLAY: Final = 10
UNREADABLE: Final[Mapping[str, str]] = {
    "poll": "a poll",
    "sticker_items": "a sticker",
    "message_snapshots": "a forwarded message without text",
}
"""Parts of messages that carry neither words nor files, and what they are called to people."""


def words(raw: Raw, identity: str, roles: frozenset[str]) -> str:
    """The text without the mention that called us, others named as people read them."""
    names = {str(user["id"]): user.get("global_name") or user["username"] for user in raw.get("mentions") or ()}
    content = _written(raw)

    def user(found: re.Match[str]) -> str:
        name = names.get(found[1])
        return found[0] if name is None else f"@{name}"

    text = _without(_without(content, USER, {identity}), ROLE_MENTION, roles)
    return USER.sub(user, text).strip()


def unreadable(raw: Raw) -> str:
    """The name of something that has no words and no files; "" for a message that is merely empty."""
    return next((name for field, name in UNREADABLE.items() if raw.get(field)), "")


def attachments(raw: Raw) -> list[Raw]:
    """The message's own attachments, and those it passes on."""
    return [one for told in (raw, *_passed_on(raw)) for one in told.get("attachments") or ()]


def files_of(raw: Raw) -> tuple[FileRef, ...]:
    """Attachments, by a handle: their links end after a day, and need no token."""
    return tuple(_file(raw, number, one) for number, one in enumerate(attachments(raw), 1))


def safe(name: str) -> str:
    """A file name that leads nowhere else; its end, which says the kind, is kept."""
    plain = UNSAFE.sub("_", PurePosixPath(name.replace("\\", "/")).name).strip(". ") or "file"
    return plain[-FILE_NAME_MAX_CHARS:]


def _written(raw: Raw) -> str:
    """The content; without one, that of what was passed on, else the text of embeds and components."""
    content = str(raw.get("content") or "")
    return content or "\n\n".join(filter(None, map(_written, _passed_on(raw)))) or "\n".join(_shown(raw))


def _passed_on(raw: Raw) -> list[Raw]:
    return [snapshot.get("message") or {} for snapshot in raw.get("message_snapshots") or ()]


def _shown(raw: Raw) -> Iterator[str]:
    """Texts that only programs can write: titles and descriptions of embeds, texts of components."""
    for embed in raw.get("embeds") or ():
        yield from filter(None, (embed.get("title"), embed.get("description")))
    yield from _displayed(raw.get("components") or ())


def _displayed(components: Iterable[Raw]) -> Iterator[str]:
    for one in components:
        if one.get("type") == TEXT_DISPLAY and one.get("content"):
            yield str(one["content"])
        yield from _displayed(chain(one.get("components") or (), filter(None, [one.get("component")])))


def _without(text: str, mention: re.Pattern[str], own: frozenset[str] | set[str]) -> str:
    """`text` without our mentions, and without the comma or colon behind the first where it stands in front."""
    ours = [found for found in mention.finditer(text) if found[1] in own]
    for found in reversed(ours):
        before, behind = text[: found.start()], text[found.end() :]
        text = before + (behind.lstrip(EDGES) if not before.strip() else behind)
    return text.strip() if ours else text


def _file(raw: Raw, number: int, attachment: Raw) -> FileRef:
    name = str(attachment["filename"])
    return FileRef(
        name=name,
        path=f"{INBOX_FOLDER}/{raw['id']}-{number}-{safe(name)}",
        size=int(attachment.get("size") or 0),
        remote=f"{raw['channel_id']}/{raw['id']}/{attachment['id']}",
        mime=str(attachment.get("content_type") or ""),
    )
