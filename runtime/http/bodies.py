"""Bodies of requests: read within a bound, and what people say and press in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from aiohttp import web

from runtime.contract import ApprovalId, Choice, Clicked, Form, SignalId
from runtime.http.errors import Refusal
from runtime.workspace.safe_fs import BadPath, parts

BODY_LIMIT: Final = 1024 * 1024  # bytes of a body that is read whole
TEXT_LIMIT: Final = 100_000  # characters of one message
REASON_LIMIT: Final = 1_000  # characters
FIELDS_LIMIT: Final = 5  # of a form
FILES_LIMIT: Final = 20  # files named by one message
EVENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
SIGNAL_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
APPROVAL_ID: Final = re.compile(r"[\x21-\x7e]{1,64}")
TOO_LONG: Final = (
    "This message is too long: at most {limit}. Upload the text as a file instead, and say here what to do with it."
)


async def read(request: web.Request, limit: int = BODY_LIMIT) -> bytes | None:
    """The body; None for more than `limit` bytes, of which no more is read than tells so."""
    if (request.content_length or 0) > limit:
        return None
    raw = bytearray()
    async for chunk in request.content.iter_chunked(64 * 1024):
        raw += chunk
        if len(raw) > limit:
            return None
    return bytes(raw)


async def read_object(request: web.Request, limit: int = BODY_LIMIT) -> dict[str, Any]:
    """The JSON object in the body. Errors: Refusal 413 beyond `limit`, 400 for anything that is no JSON object."""
    raw = await read(request, limit)
    if raw is None:
        raise Refusal(413, TOO_LONG.format(limit=f"{limit // (1024 * 1024)} MiB a request"))
    try:
        body = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refusal(400, f"The request is not valid UTF-8 (at byte {error.start}).") from error
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "The request is not valid JSON.") from error
    if not isinstance(body, dict):
        raise Refusal(400, "The request must be a JSON object.")
    return body


def event_id(body: Mapping[str, Any]) -> str:
    """The id that the page made for this event: the same for every try of it."""
    value = body.get("id")
    if not isinstance(value, str) or not EVENT_ID.fullmatch(value):
        raise Refusal(400, "`id` must be 8 to 64 letters, digits or dashes, a new one for each event.")
    return value


def said(body: dict[str, Any]) -> tuple[str, list[str]]:
    """The text of a message and the paths of its files; one of them is there."""
    text, files = _text(body, "text"), body.get("files", [])
    if len(text) > TEXT_LIMIT:
        raise Refusal(413, TOO_LONG.format(limit=f"{TEXT_LIMIT:,} characters, and this has {len(text):,}"))
    if not isinstance(files, list) or len(files) > FILES_LIMIT or not all(isinstance(path, str) for path in files):
        raise Refusal(400, f"`files` must be a list of at most {FILES_LIMIT} paths of uploaded files.")
    if not text.strip() and not files:
        raise Refusal(400, "The message is empty.")
    return text, [_path(path) for path in files]


def replaced(body: Mapping[str, Any]) -> SignalId | None:
    """The message in whose place this one is said. The id may be forged: only its form is looked at here."""
    value = body.get("replaces")
    if value is None:
        return None
    if not isinstance(value, str) or not SIGNAL_ID.fullmatch(value):
        raise Refusal(400, "`replaces` must be the id of a message.")
    return SignalId(value)


def clicked(approval_id: str, body: dict[str, Any]) -> Clicked:
    """The pressed button. The id may be forged: only its form is looked at here."""
    choice, reason = body.get("choice"), _text(body, "reason")
    if choice not in list(Choice):
        raise Refusal(400, f"`choice` must be one of {', '.join(Choice)}.")
    if len(reason) > REASON_LIMIT:
        raise Refusal(413, f"The reason is too long: at most {REASON_LIMIT:,} characters.")
    if not APPROVAL_ID.fullmatch(approval_id):
        raise Refusal(404, "There is no such approval.")
    return Clicked(ApprovalId(approval_id), Choice(choice), reason.strip(), _typed(body))


def form_json(form: Form | str) -> dict[str, Any]:
    """A form as the page draws it, or `notice` with the words why there is none."""
    if isinstance(form, str):
        return {"notice": form}
    fields = [asdict(field) for field in form.fields]
    return {"choice": form.choice, "title": form.title, "note": form.note, "send": form.send, "fields": fields}


def _typed(body: dict[str, Any]) -> dict[str, str]:
    """Words of the fields of a form, by their names."""
    values = body.get("values", {})
    if not isinstance(values, dict) or len(values) > FIELDS_LIMIT:
        raise Refusal(400, f"`values` must be an object of at most {FIELDS_LIMIT} texts.")
    typed = {name: _text(values, name) for name in values}
    if any(len(text) > TEXT_LIMIT for text in typed.values()):
        raise Refusal(413, f"This is too long: at most {TEXT_LIMIT:,} characters.")
    return typed


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key, "")
    if not isinstance(value, str):
        raise Refusal(400, f"`{key}` must be text.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Refusal(400, f"`{key}` holds half a character (at {error.start}): it is not valid Unicode.") from error
    return value.replace("\0", "\ufffd")  # no database column takes NUL


def _path(path: str) -> str:
    try:
        return "/".join(parts(path))
    except BadPath as error:
        raise Refusal(400, f"{path[:100]!r} is not the path of an uploaded file.") from error
