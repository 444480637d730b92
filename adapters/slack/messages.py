"""Messages and their edits: who they are for, and what they say."""

from __future__ import annotations

import re
from typing import Final

from adapters.slack.blocks import text_of
from adapters.slack.bot_user import BotUser
from adapters.slack.envelope import Happening, Raw
from adapters.slack.text import names_me, readable
from runtime.contract import COMMANDS, Addressing, Amended, Body, Commanded, FileRef, Said, Signal, Stopped

SPOKEN: Final = frozenset({None, "file_share", "thread_broadcast", "bot_message", "me_message"})
"""Kinds of messages in which somebody says something; joins, topics and the like are no words to us."""

FILE_GONE: Final = frozenset({"tombstone", "hidden_by_limit"})
"""Modes of files that nobody can read any more: deleted, or older than the workspace's plan shows."""
COMMAND: Final = re.compile(rf"!({'|'.join(COMMANDS)})\b\s*(.*)", re.IGNORECASE | re.DOTALL)
UNSAFE_IN_FILE_NAME: Final = re.compile(r"[^\w.() -]+")


def message(happened: Happening) -> Signal | None:
    """None for our own messages, and for what is nobody's words."""
    event, me = happened.body["event"], happened.me
    if event.get("subtype") == "message_changed":
        return _changed(happened)
    if event.get("subtype") not in SPOKEN or _is_mine(event, me):
        return None
    files = tuple(_file(file) for file in event.get("files") or () if file.get("mode") not in FILE_GONE)
    text = readable(_text(event), me)
    if not text and not files and not names_me(text_of(event), me):
        return None
    return _heard(happened, event, _said(text, files), natural_key=f"{event['channel']}:{event['ts']}")


def _changed(happened: Happening) -> Signal | None:
    """Somebody edited their words; a preview of a link is no edit."""
    event, me = happened.body["event"], happened.me
    after, before = event["message"], event.get("previous_message") or {}
    unchanged = not after.get("edited") or text_of(after) == text_of(before)
    if unchanged or after.get("subtype") not in SPOKEN or _is_mine(after, me):
        return None
    told = {**after, "channel": event["channel"], "channel_type": event.get("channel_type")}
    return _heard(happened, told, Amended(readable(_text(after), me)))


def _heard(happened: Happening, event: Raw, said: Body, *, natural_key: str | None = None) -> Signal:
    direct = is_direct(event)
    thread = event.get("thread_ts") or ("" if direct else event["ts"])
    return happened.signal(
        happened.body["event_id"],
        happened.address(event["channel"], thread),
        said,
        natural_key=natural_key,
        reach=Addressing.DIRECT if direct else _reach(event, said, happened.me),
        message_id=event["ts"],
        joinable=not direct,
        by_bot=bool(event.get("bot_id")),
    )


def _reach(event: Raw, said: Body, me: BotUser) -> Addressing:
    """In a thread that hangs on a message of ours, and for a command in a thread, no mention is needed."""
    in_thread = event.get("thread_ts") not in (None, event["ts"])
    named = event["type"] == "app_mention" or names_me(text_of(event), me)
    answers = in_thread and event.get("parent_user_id") == me.user
    orders = in_thread and isinstance(said, Commanded | Stopped)
    return Addressing.MENTION if named or answers or orders else Addressing.OVERHEARD


def is_direct(event: Raw) -> bool:
    """True if a person is alone with the bot there."""
    return event.get("channel_type") == "im" or str(event["channel"]).startswith("D")


def _is_mine(told: Raw, me: BotUser) -> bool:
    return told.get("user") == me.user or (bool(me.bot) and told.get("bot_id") == me.bot)


def _text(told: Raw) -> str:
    """The words, and those of a message that was shared along."""
    shared = [a for a in told.get("attachments") or () if a.get("is_share") or a.get("is_msg_unfurl")]
    quotes = ["\n".join(f"> {line}" for line in str(a.get("text") or "").splitlines()) for a in shared]
    return "\n\n".join(filter(None, [text_of(told), *quotes]))


def _said(text: str, files: tuple[FileRef, ...]) -> Body:
    """Words, or a command that they are: where slash commands do not work, `!help` does. A bare mention asks for help."""
    if not text and not files:
        return Commanded("help")
    found = COMMAND.fullmatch(text)
    if found is None or files:
        return Said(text, files)
    return ordered(found[1].lower(), found[2].strip())


def ordered(name: str, argument: str) -> Commanded | Stopped:
    """The command of that name."""
    return Stopped() if name == "stop" else Commanded(name, argument)


def _file(file: Raw) -> FileRef:
    """A file that is still at Slack. Its id is the handle: the link would need the token."""
    name = str(file.get("name") or file.get("title") or file["id"])
    safe = UNSAFE_IN_FILE_NAME.sub("_", name.rpartition("/")[2]).lstrip(". ")[-100:] or file["id"]
    size, mime = int(file.get("size") or 0), str(file.get("mimetype") or "")
    return FileRef(name, f"inbox/{file['id']}/{safe}", size, file["id"], mime)
