"""Discord's refusals, in its words. Source: discord.com/developers/docs, opcodes and status codes, read 2026-08."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

Record = dict[str, Any]

CONTENT: Final = 2000  # code points
NONCE: Final = 25
ROWS: Final = 5
BUTTONS: Final = 5
LABEL: Final = 80
CUSTOM_ID: Final = 100
EMBEDS: Final = 10
EMBED_TEXT: Final = 6000
DESCRIPTION: Final = 4096
FILES: Final = 10
UPLOAD: Final = 10 * 1024 * 1024  # bytes of one message where nobody paid for more
MODAL_TITLE: Final = 45
INPUT_LABEL: Final = 45
INPUT_LENGTH: Final = 4000
COMMANDS: Final = 100
THREAD_NAME: Final = 100
COMMAND_NAME: Final = re.compile(r"[-_'\w]{1,32}")
MARKUP: Final = re.compile(r"[*_~`>#\[|]")
EPHEMERAL: Final = 1 << 6
RIGHTS: Final = {
    "ADD_REACTIONS": 1 << 6,
    "VIEW_CHANNEL": 1 << 10,
    "SEND_MESSAGES": 1 << 11,
    "EMBED_LINKS": 1 << 14,
    "ATTACH_FILES": 1 << 15,
    "READ_MESSAGE_HISTORY": 1 << 16,
    "CREATE_PUBLIC_THREADS": 1 << 35,
    "SEND_MESSAGES_IN_THREADS": 1 << 38,
}
"""What everybody may do, unless a test takes it away."""


@dataclass(frozen=True)
class Refusal(Exception):
    """An error answer."""

    status: int
    code: int
    message: str
    more: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def answer(self) -> web.Response:
        body = {"message": self.message, "code": self.code, **self.more}
        return web.json_response(body, status=self.status, headers=dict(self.headers))

    @classmethod
    def form(cls, where: str, code: str, message: str) -> Refusal:
        """`where` is a path such as `components.0.label`."""
        error: Record = {"_errors": [{"code": code, "message": message}]}
        for key in reversed(where.split(".")):
            error = {key: error}
        return cls(400, 50035, "Invalid Form Body", {"errors": error})

    @classmethod
    def busy(cls, seconds: float, *, everywhere: bool = False) -> Refusal:
        """Without `Via` the libraries take it for a ban by the proxy before Discord."""
        headers = {"Retry-After": f"{seconds:g}", "Via": "1.1 google", "X-RateLimit-Scope": "user"}
        if everywhere:
            headers["X-RateLimit-Global"] = "true"
        more = {"retry_after": seconds, "global": everywhere}
        return cls(429, 0, "You are being rate limited.", more, headers)


UNAUTHORIZED: Final = Refusal(401, 0, "401: Unauthorized")
UNKNOWN_CHANNEL: Final = Refusal(404, 10003, "Unknown Channel")
UNKNOWN_GUILD: Final = Refusal(404, 10004, "Unknown Guild")
UNKNOWN_MESSAGE: Final = Refusal(404, 10008, "Unknown Message")
UNKNOWN_EMOJI: Final = Refusal(400, 10014, "Unknown Emoji")
UNKNOWN_WEBHOOK: Final = Refusal(404, 10015, "Unknown Webhook")
UNKNOWN_INTERACTION: Final = Refusal(404, 10062, "Unknown interaction")
ACKNOWLEDGED: Final = Refusal(400, 40060, "Interaction has already been acknowledged.")
TOO_LARGE: Final = Refusal(413, 40005, "Request entity too large")
MISSING_ACCESS: Final = Refusal(403, 50001, "Missing Access")
NOT_YOURS: Final = Refusal(403, 50005, "Cannot edit a message authored by another user")
NO_THREADS: Final = Refusal(400, 50024, "Cannot execute action on this channel type")
EMPTY: Final = Refusal(400, 50006, "Cannot send an empty message")
NO_DM: Final = Refusal(403, 50007, "Cannot send messages to this user")
MISSING_PERMISSIONS: Final = Refusal(403, 50013, "Missing Permissions")
ARCHIVED: Final = Refusal(400, 50083, "Thread is archived")
NO_REPLIES: Final = Refusal(400, 160002, "Cannot reply without permission to read message history")
THREAD_EXISTS: Final = Refusal(400, 160004, "A thread has already been created for this message")
LOCKED: Final = Refusal(403, 160005, "Thread is locked")


def check_message(raw: Mapping[str, Any], *, files: int, changes: bool = False) -> None:
    """Errors: Refusal for a message that Discord does not take. `changes` one that is there."""
    content = raw.get("content") or ""
    _text("content", content, CONTENT)
    _check_embeds(raw.get("embeds") or ())
    _check_components(raw.get("components") or ())
    _check_nonce(raw.get("nonce"))
    _check_files(raw.get("attachments"), files)
    if not (changes or content.strip() or raw.get("embeds") or raw.get("components") or files):
        raise EMPTY


def is_rich(raw: Mapping[str, Any]) -> bool:
    """True if a message has any markup."""
    return MARKUP.search(raw.get("content") or "") is not None


def check_response(raw: Mapping[str, Any]) -> None:
    """Errors: Refusal for an answer to an interaction that Discord does not take."""
    data = raw.get("data") or {}
    match raw.get("type"):
        case 1 | 5 | 6:
            return
        case 4:
            check_message(data, files=0)
        case 7:
            check_message(data, files=0, changes=True)
        case 8:
            if not isinstance(data.get("choices"), list):
                raise Refusal.form("data.choices", "BASE_TYPE_REQUIRED", "This field is required")
        case 9:
            _check_modal(data)
        case other:
            raise Refusal.form("type", "BASE_TYPE_CHOICES", f"{other!r} is no type of answer")


def check_commands(commands: Any) -> None:
    """Errors: Refusal for application commands that Discord does not take."""
    if not isinstance(commands, list) or len(commands) > COMMANDS:
        raise Refusal.form("_", "BASE_TYPE_MAX_LENGTH", f"at most {COMMANDS} commands")
    for number, command in enumerate(commands):
        _check_command(f"{number}", command)
        for place, option in enumerate(command.get("options") or ()):
            _check_command(f"{number}.options.{place}", option)


def _check_command(where: str, command: Mapping[str, Any]) -> None:
    name, text = command.get("name", ""), command.get("description", "")
    if not COMMAND_NAME.fullmatch(name) or name != name.lower():
        raise Refusal.form(f"{where}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    if not 1 <= len(text) <= 100:
        raise Refusal.form(f"{where}.description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")


def _check_modal(data: Mapping[str, Any]) -> None:
    _needed("custom_id", data.get("custom_id"), CUSTOM_ID)
    _needed("title", data.get("title"), MODAL_TITLE)
    rows = data.get("components") or ()
    if not 1 <= len(rows) <= ROWS:
        raise Refusal.form("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    for row in rows:
        for field_ in row.get("components", [row.get("component")]):
            _needed("custom_id", field_.get("custom_id"), CUSTOM_ID)
            _text("placeholder", field_.get("placeholder") or "", 100)
            if field_.get("max_length", 1) > INPUT_LENGTH:
                raise Refusal.form("max_length", "NUMBER_TYPE_MAX", f"at most {INPUT_LENGTH}")


def _check_embeds(embeds: Sequence[Mapping[str, Any]]) -> None:
    if len(embeds) > EMBEDS:
        raise Refusal.form("embeds", "BASE_TYPE_MAX_LENGTH", f"Must be {EMBEDS} or fewer in length.")
    for number, embed in enumerate(embeds):
        _text(f"embeds.{number}.description", embed.get("description") or "", DESCRIPTION)
        _text(f"embeds.{number}.title", embed.get("title") or "", 256)
    if sum(len(embed.get("description") or "") + len(embed.get("title") or "") for embed in embeds) > EMBED_TEXT:
        raise Refusal.form("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBED_TEXT}")


def _check_components(rows: Sequence[Mapping[str, Any]]) -> None:
    if len(rows) > ROWS:
        raise Refusal.form("components", "BASE_TYPE_MAX_LENGTH", f"Must be {ROWS} or fewer in length.")
    seen: set[str] = set()
    for number, row in enumerate(rows):
        where = f"components.{number}"
        if row.get("type") != 1 or not 1 <= len(row.get("components") or ()) <= BUTTONS:
            raise Refusal.form(f"{where}.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
        for place, button in enumerate(row["components"]):
            _check_button(f"{where}.components.{place}", button, seen)


def _check_button(where: str, button: Mapping[str, Any], seen: set[str]) -> None:
    if button.get("type") != 2 or button.get("style") not in range(1, 7):
        raise Refusal.form(f"{where}.style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
    _needed(f"{where}.label", button.get("label"), LABEL)
    _needed(f"{where}.custom_id", button.get("custom_id"), CUSTOM_ID)
    if button["custom_id"] in seen:
        raise Refusal.form(
            f"{where}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated"
        )
    seen.add(button["custom_id"])


def _check_nonce(nonce: object) -> None:
    if nonce is None or (isinstance(nonce, int) and not isinstance(nonce, bool)):
        return
    if not isinstance(nonce, str) or len(nonce) > NONCE:
        raise Refusal.form("nonce", "NONCE_TYPE_INVALID", "Nonce must be a string of at most 25 characters or a number")


def _check_files(named: Any, files: int) -> None:
    if files > FILES:
        raise Refusal.form("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {FILES} or fewer in length.")
    fresh = [entry for entry in named or () if len(str(entry.get("id", ""))) < 5]  # others are there already
    if named is not None and len(fresh) != files:
        raise Refusal.form("attachments", "ATTACHMENT_NOT_FOUND", "Attachment data not found for ID")


def _text(where: str, text: object, most: int) -> None:
    if not isinstance(text, str):
        raise Refusal.form(where, "BASE_TYPE_STRING", "Not a well formed string.")
    if len(text) > most:
        raise Refusal.form(where, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def _needed(where: str, text: object, most: int) -> None:
    if not text:
        raise Refusal.form(where, "BASE_TYPE_REQUIRED", "This field is required")
    _text(where, text, most)
