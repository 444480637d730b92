"""Several photos sent as one: Telegram tells of each by an update of its own, with one `media_group_id`.

An album is handed on as one request. While it may still grow, that is while its chat tells nothing after it, its updates
are held: not confirmed, so that after a kill the platform tells all of them again. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from telegram import Update

Bundle = tuple[Update, ...]
"""One update, or those of an album, in order."""
Album = tuple[int, str]
"""A chat and the id of a media group."""

ALBUM_MAX_MESSAGES: Final = 10
"""Messages of one album. Source: core.telegram.org/bots/api#sendmediagroup, read 2026-11."""


def album_of(update: Update) -> Album | None:
    message = update.message
    return (message.chat.id, message.media_group_id) if message and message.media_group_id else None


def chat_of(update: Update) -> int:
    """Id with which an update is in order: its chat, or else its person."""
    if update.effective_chat:
        return update.effective_chat.id
    return update.effective_user.id if update.effective_user else 0


def bundled(updates: Iterable[Update]) -> list[Bundle]:
    """`updates` in their order, an album as one where its first stands."""
    made: dict[object, Bundle] = {}
    for update in updates:
        key = album_of(update) or update.update_id
        made[key] = (*made.get(key, ()), update)
    return list(made.values())


def growing(bundles: Sequence[Bundle], before: Mapping[Album, int]) -> list[Bundle]:
    """Albums that may still grow: the last of their chat, not full, and larger than they were a moment `before`."""
    last = {chat_of(bundle[0]): bundle for bundle in bundles}
    albums = [(album_of(bundle[0]), bundle) for bundle in last.values()]
    return [
        bundle
        for album, bundle in albums
        if album and len(bundle) < ALBUM_MAX_MESSAGES and len(bundle) > before.get(album, 0)
    ]


def sizes(bundles: Iterable[Bundle]) -> dict[Album, int]:
    return {album: len(bundle) for bundle in bundles if (album := album_of(bundle[0]))}


def lanes(bundles: Iterable[Bundle]) -> list[list[Bundle]]:
    """The bundles of each chat, which are taken in one after the other."""
    made: dict[int, list[Bundle]] = {}
    for bundle in bundles:
        made.setdefault(chat_of(bundle[0]), []).append(bundle)
    return list(made.values())
