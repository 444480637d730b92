"""Places that a program wants to be told at, in the shapes of both versions. Pure.

Source: A2A specification 1.0.1, sections 3.1.7 to 3.1.10 and 4.3, and 0.3.0, sections 6.8 to 6.10, 7.5 to 7.8 and 9.5, read
2026-11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from bot.doors.a2a.wire import A2aError, Code, Dialect, Shown
from runtime.domain.ids import digest
from runtime.domain.programs.token import is_vouched

PLACE_ID_CHARS: Final = 16
PLACE_TEXT_MAX_CHARS: Final = 2_000
AUTH_SCHEME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,40}")
TOKEN_HEADER: Final = "X-A2A-Notification-Token"  # noqa: S105 - the name of a header
BAD_PLACE: Final = (
    "A place for push notifications has a `url`, and perhaps an `id`, a `token` and `authentication`: texts of at most "
    "2,000 characters without control characters."
)

ONLY_PROGRAMS: Final = "Push notifications are for programs with a token of Signalbox. Follow the task by SubscribeToTask, or ask by GetTask."


@dataclass(frozen=True, slots=True)
class PushPlace:
    """An address that is told of a task, with what proves to it who sends."""

    name: str
    url: str = field(repr=False)
    token: str = field(default="", repr=False)
    scheme: str = ""
    credentials: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        made = {TOKEN_HEADER: self.token} if self.token else {}
        if self.scheme and self.credentials:
            made["Authorization"] = f"{self.scheme} {self.credentials}"
        return made

    def as_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> PushPlace:
        return cls(**json.loads(text))


def may_be_told(identity: str) -> None:
    """Errors: A2aError for somebody whom a provider vouches for: whether it still does is known only while they ask."""
    if is_vouched(identity):
        raise A2aError(Code.PUSH_NOTIFICATION_NOT_SUPPORTED, ONLY_PROGRAMS)


def place_in(given: object) -> PushPlace | None:
    """The place that a request names, None for none. Errors: A2aError."""
    if not given:
        return None
    if not isinstance(given, Mapping):
        raise A2aError(Code.INVALID_PARAMS, BAD_PLACE)
    asked = given.get("authentication") or {}
    if not isinstance(asked, Mapping):
        raise A2aError(Code.INVALID_PARAMS, BAD_PLACE)
    url, scheme = _text(given.get("url")), _scheme(asked)
    if not url or (scheme and not AUTH_SCHEME.fullmatch(scheme)):
        raise A2aError(Code.INVALID_PARAMS, BAD_PLACE)
    name = _text(given.get("id")) or digest(url)[:PLACE_ID_CHARS]
    return PushPlace(name, url, _text(given.get("token")), scheme, _text(asked.get("credentials")))


def _scheme(asked: Mapping[str, Any]) -> str:
    """The one of 1.0, or the first of those that 0.3 names."""
    several = asked.get("schemes")
    return _text(several[0] if isinstance(several, list) and several else asked.get("scheme"))


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > PLACE_TEXT_MAX_CHARS or not value.isprintable():
        raise A2aError(Code.INVALID_PARAMS, BAD_PLACE)
    return value


def asked_place(given: Shown, dialect: Dialect) -> PushPlace:
    """The place that is to be kept. Errors: A2aError."""
    found = place_in(given.get("pushNotificationConfig") if dialect is Dialect.OLD else given)
    if found is None:
        raise A2aError(Code.INVALID_PARAMS, BAD_PLACE)
    return found


def place_beside(given: Shown, dialect: Dialect) -> PushPlace | None:
    """The place that comes with a message. Errors: A2aError."""
    terms = given.get("configuration")
    if not isinstance(terms, Mapping):
        return None
    return place_in(terms.get("pushNotificationConfig" if dialect is Dialect.OLD else "taskPushNotificationConfig"))


def names_in(given: Shown, dialect: Dialect) -> tuple[object, str]:
    """The task and the place that a request is about; the latter empty where it names none."""
    if dialect is Dialect.OLD:
        return given.get("id"), _text(given.get("pushNotificationConfigId"))
    return given.get("taskId"), _text(given.get("id"))


def shown_place(task: str, place: PushPlace, dialect: Dialect) -> Shown:
    """The place as its program is told of it: its credentials are never shown again."""
    made: Shown = {"id": place.name, "url": place.url}
    if place.token:
        made["token"] = place.token
    if place.scheme:
        made["authentication"] = {"schemes": [place.scheme]} if dialect is Dialect.OLD else {"scheme": place.scheme}
    if dialect is Dialect.OLD:
        return {"taskId": task, "pushNotificationConfig": made}
    return {"taskId": task, **made}
