"""Shapes of A2A on the wire, in both versions. Pure.

Source: A2A specification 1.0.1, sections 4 and 9 (JSON-RPC binding), and 0.3.0, sections 6 and 7, read 2026-11.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from mimetypes import guess_type
from typing import Any, Final
from urllib.parse import quote, unquote

from runtime.contract import Address, FileRef
from runtime.domain.programs.followed import Followed, FollowState

Shown = dict[str, Any]


class Dialect(StrEnum):
    """Versions of the protocol that are spoken here."""

    ONE = "1.0"
    OLD = "0.3"


class Method(StrEnum):
    """Requests that are answered here, by their names in 1.0."""

    SEND = "SendMessage"
    STREAM = "SendStreamingMessage"
    GET = "GetTask"
    LIST = "ListTasks"
    CANCEL = "CancelTask"
    SUBSCRIBE = "SubscribeToTask"
    CARD = "GetExtendedAgentCard"
    PUSH_CREATE = "CreateTaskPushNotificationConfig"
    PUSH_GET = "GetTaskPushNotificationConfig"
    PUSH_LIST = "ListTaskPushNotificationConfigs"
    PUSH_DELETE = "DeleteTaskPushNotificationConfig"


OLD_NAMES: Final[Mapping[str, Method]] = {
    "message/send": Method.SEND,
    "message/stream": Method.STREAM,
    "tasks/get": Method.GET,
    "tasks/cancel": Method.CANCEL,
    "tasks/resubscribe": Method.SUBSCRIBE,
    "agent/getAuthenticatedExtendedCard": Method.CARD,
    "tasks/pushNotificationConfig/set": Method.PUSH_CREATE,
    "tasks/pushNotificationConfig/get": Method.PUSH_GET,
    "tasks/pushNotificationConfig/list": Method.PUSH_LIST,
    "tasks/pushNotificationConfig/delete": Method.PUSH_DELETE,
}


class Code(StrEnum):
    """Reasons of errors, as their numbers of JSON-RPC."""

    PARSE = "-32700"
    INVALID_REQUEST = "-32600"
    NO_METHOD = "-32601"
    INVALID_PARAMS = "-32602"
    TASK_NOT_FOUND = "-32001"
    TASK_NOT_CANCELABLE = "-32002"
    PUSH_NOTIFICATION_NOT_SUPPORTED = "-32003"
    UNSUPPORTED_OPERATION = "-32004"
    CONTENT_TYPE_NOT_SUPPORTED = "-32005"
    VERSION_NOT_SUPPORTED = "-32009"


class A2aError(Exception):
    """A request that is answered by an error of the protocol."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


OLD_STATES: Final[Mapping[FollowState, str]] = {
    FollowState.QUEUED: "submitted",
    FollowState.WORKING: "working",
    FollowState.ASKING: "input-required",
    FollowState.DONE: "completed",
    FollowState.KEPT: "completed",
    FollowState.FAILED: "failed",
    FollowState.STOPPED: "canceled",
    FollowState.REFUSED: "rejected",
}
ASKS_PEOPLE: Final = "People have to decide before this goes on: {tools}. The task goes on by itself once they did."
NOT_TEXT: Final = "Only text, data and the bytes of files are taken as parts of a message, no addresses of files."
BAD_FILE: Final = "A file of the message is no base64."
NO_PARTS: Final = "The message has no text."
NO_MESSAGE_ID: Final = "`messageId` is missing: a text of 1 to 200 characters."
ID_MAX_CHARS: Final = 200
ARTIFACT_NAME: Final = "answer"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that came within a message."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Meant:
    """A message of a client. `context` is empty where it begins a conversation, and `task` where it begins a task."""

    id: str
    text: str
    context: str = ""
    task: str = ""
    files: tuple[SentFile, ...] = ()


def meant_by(message: object) -> Meant:
    """The message of either version. Errors: A2aError."""
    given = message if isinstance(message, dict) else {}
    read = [_file(part) or _words(part) for part in _list(given.get("parts"))]
    if not any(read):
        raise A2aError(Code.INVALID_PARAMS, NO_PARTS)
    return Meant(
        _id(given.get("messageId")) or _missing(),
        "\n\n".join(one for one in read if isinstance(one, str)),
        _id(given.get("contextId")),
        _id(given.get("taskId")),
        tuple(one for one in read if isinstance(one, SentFile)),
    )


def _missing() -> str:
    raise A2aError(Code.INVALID_PARAMS, NO_MESSAGE_ID)


def _id(value: object) -> str:
    if value in (None, ""):
        return ""
    if not isinstance(value, str) or len(value) > ID_MAX_CHARS:
        raise A2aError(Code.INVALID_PARAMS, NO_MESSAGE_ID)
    return value


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _file(part: object) -> SentFile | None:
    """The bytes of 1.0, or of 0.3 where they are within `file`. Errors: A2aError."""
    given = part if isinstance(part, dict) else {}
    within = given.get("file")
    old: Shown = within if isinstance(within, dict) else {}
    data, name = given.get("raw", old.get("bytes")), given.get("filename", old.get("name"))
    if not isinstance(data, str):
        return None
    try:
        return SentFile(name if isinstance(name, str) else "", base64.b64decode(data, validate=True))
    except ValueError as error:
        raise A2aError(Code.INVALID_PARAMS, BAD_FILE) from error


def _words(part: object) -> str:
    given = part if isinstance(part, dict) else {}
    if isinstance(text := given.get("text"), str):
        return text
    if "data" in given:
        return f"```json\n{json.dumps(given['data'], ensure_ascii=False, indent=1)}\n```"
    raise A2aError(Code.CONTENT_TYPE_NOT_SUPPORTED, NOT_TEXT)


def key_of_message(context: str, message: str) -> str:
    """The key under which a message is stored: it tells both ids, so that nothing else has to be kept."""
    return f"a2a {quote(context, safe='')} {quote(message, safe='')}"


def key_of_context(context: str) -> str:
    """Beginning of the keys of a context's messages; of all of them where it is empty."""
    return f"a2a {quote(context, safe='')} " if context else "a2a "


def ids_in(body: str) -> tuple[str, str] | None:
    """The context and the message in the key of a stored message, None where it came in by another door."""
    pieces = body.rpartition("#")[0].split(" ")
    if len(pieces) != 3 or pieces[0] != "a2a":
        return None
    return unquote(pieces[1]), unquote(pieces[2])


# ------------------------------------------------------------------------------------------------------------- answers


FileLink = Callable[[Address, FileRef], str]
"""Address at which a program gets a file of its task, with its token."""


def link_of(public_url: str, named: Callable[[Address], str]) -> FileLink:
    """Links to the REST API; without a public address they are relative to where the program asks."""

    def link(room: Address, file: FileRef) -> str:
        return f"{public_url}/api/v1/rooms/{quote(named(room), safe='')}/files/{quote(file.path)}"

    return link


def task(found: Followed, dialect: Dialect, link: FileLink, own: bool = True) -> Shown:
    """A task as it stands."""
    context, message = ids_in(found.body) or ("", found.id)
    made: Shown = {"id": found.id, "contextId": context, "status": _status(found, context, dialect)}
    if found.state.is_over and (found.text or found.files):
        made["artifacts"] = [_artifact(found, dialect, link)]
    if own:
        said = {"messageId": message, "contextId": context, "taskId": found.id, "parts": [_text(found.own, dialect)]}
        made["history"] = [_kind({**said, "role": _role("user", dialect)}, "message", dialect)]
    return _kind(made, "task", dialect)


def updates(found: Followed, dialect: Dialect, link: FileLink) -> Sequence[Shown]:
    """Events that tell a change: the answer as an artifact, where there is one, and then the state."""
    context, _ = ids_in(found.body) or ("", "")
    about = {"taskId": found.id, "contextId": context}
    status: Shown = {**about, "status": _status(found, context, dialect)}
    events = []
    if found.state.is_over and (found.text or found.files):
        artifact = {**about, "artifact": _artifact(found, dialect, link), "append": False, "lastChunk": True}
        events.append(_named(artifact, "artifactUpdate", "artifact-update", dialect))
    if dialect is Dialect.OLD:
        status["final"] = found.state.is_over or bool(found.questions)
    events.append(_named(status, "statusUpdate", "status-update", dialect))
    return events


def _status(found: Followed, context: str, dialect: Dialect) -> Shown:
    word = OLD_STATES[found.state]
    at = (found.ended_at or found.at).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    state = word if dialect is Dialect.OLD else f"TASK_STATE_{word.upper().replace('-', '_')}"
    made: Shown = {"state": state, "timestamp": at}
    if words := _words_of(found):
        said = {"messageId": f"{found.id}-{word}", "contextId": context, "taskId": found.id}
        body = {**said, "role": _role("agent", dialect), "parts": [_text(words, dialect)]}
        made["message"] = _kind(body, "message", dialect)
    return made


def _words_of(found: Followed) -> str:
    if asked := [one.text for one in found.questions if one.text]:
        return "\n\n".join(asked)
    if found.questions:
        return ASKS_PEOPLE.format(tools=", ".join(sorted({one.tool or one.kind for one in found.questions})))
    return found.error if found.state in (FollowState.FAILED, FollowState.REFUSED) else ""


def _artifact(found: Followed, dialect: Dialect, link: FileLink) -> Shown:
    parts = [_text(found.text, dialect)] if found.text else []
    parts += [_file_part(file, link(found.address, file), dialect) for file in found.files]
    return {"artifactId": f"{found.id}-answer", "name": ARTIFACT_NAME, "parts": parts}


def _file_part(file: FileRef, url: str, dialect: Dialect) -> Shown:
    kind = guess_type(file.name)[0] or "application/octet-stream"
    if dialect is Dialect.OLD:
        return {"kind": "file", "file": {"uri": url, "name": file.name, "mimeType": kind}}
    return {"url": url, "filename": file.name, "mediaType": kind}


def _text(words: str, dialect: Dialect) -> Shown:
    return {"kind": "text", "text": words} if dialect is Dialect.OLD else {"text": words}


def _role(word: str, dialect: Dialect) -> str:
    return word if dialect is Dialect.OLD else f"ROLE_{word.upper()}"


def _kind(made: Shown, kind: str, dialect: Dialect) -> Shown:
    return {**made, "kind": kind} if dialect is Dialect.OLD else made


def _named(made: Shown, name: str, old: str, dialect: Dialect) -> Shown:
    return {**made, "kind": old} if dialect is Dialect.OLD else {name: made}


def failure(error: A2aError, dialect: Dialect) -> Shown:
    """An error of JSON-RPC; 1.0 wants its reason beside it."""
    made: Shown = {"code": int(error.code), "message": error.sentence}
    if dialect is Dialect.ONE and error.code.name != "PARSE":
        about = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": error.code.name}
        made["data"] = [{**about, "domain": "a2a-protocol.org"}]
    return made
