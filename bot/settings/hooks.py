"""`[[hooks]]`: one table for each webhook that brings what other programs say."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from runtime.contract import Address, Urgency
from runtime.settings.accounts import AccountName
from runtime.settings.types import IdentityName, Number, Proof, Section, Text, Whole

PAGE_ROOM: Final = re.compile(r"[a-z0-9]{6,32}")
"""As the page names its rooms; any other would be a room that nobody can open."""
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")  # a token of RFC 9110
_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_NEEDS: Final = {"timestamp": "timestamp_header", "id": "dedupe_header"}


def _room(address: str) -> str:
    found = Address.parse(address)
    if found.channel == "web" and not PAGE_ROOM.fullmatch(found.room):
        raise ValueError('a room of the page with 6 to 32 lowercase letters and digits, such as "web:main/deploys"')
    return address


def _header(name: str) -> str:
    if name and not _HEADER.fullmatch(name):
        raise ValueError('the name of a header, such as "X-Hub-Signature-256"')
    return name


def _content(template: str, info: ValidationInfo) -> str:
    places = set(_PLACE.findall(template)) if template else {"body"}
    if "body" not in places or places - {"body", *_NEEDS}:
        raise ValueError('text with {body} in it, and perhaps {timestamp} and {id}, such as "{timestamp}.{body}"')
    for place, setting in _NEEDS.items():
        if place in places and not info.data.get(setting):
            raise ValueError(f"{setting} beside it, to say where {{{place}}} is")
    if template and "timestamp" not in places and info.data.get("timestamp_header"):
        raise ValueError("{timestamp} in it: an unsigned time proves nothing")
    return template


HeaderName = Annotated[str, AfterValidator(_header)]


class HookTable(Section):
    """A webhook: a program posts to `/hooks/NAME`, and the agent gets a message. See [hooks.md](hooks.md)."""

    name: AccountName = Field(
        description="Its name, with which its address ends: lowercase letters, digits and dashes."
    )
    to: Annotated[Text, AfterValidator(_room)] = Field(
        description='Address of the room for the message and its answer, such as "slack:work/C1".'
    )
    secret: Proof = Field(
        default=None, description="Proof that a sender may call it: at least 16 characters, different for each hook."
    )
    secret_env: str = Field(default="", description="Name of the variable or sealed secret that holds `secret`.")
    verify: Literal["token", "hmac"] = Field(
        default="token",
        description='"token": the sender sends the secret; "hmac": it signs with the secret (HMAC-SHA256, as hex or base64).',
    )
    header: HeaderName = Field(
        default="",
        description="Header with the proof. Empty: X-Signalbox-Token (or Authorization: Bearer); with hmac, X-Hub-Signature-256.",
    )
    prefix: str = Field(default="sha256=", description="Text before the signature in its header.")
    timestamp_header: HeaderName = Field(
        default="",
        description="Header with the time of a signed request, in seconds or as a part `t=…`. Empty: none.",
    )
    tolerance_seconds: Number = Field(
        default=300, gt=0, le=86_400, description="How far that time may be from ours, either way."
    )
    dedupe_header: HeaderName = Field(
        default="",
        description="Header with an id that repeats share; a request without it is refused. Empty: Idempotency-Key, X-GitHub-Delivery, webhook-id or X-Gitlab-Event-UUID, whichever is there.",
    )
    dedupe_seconds: Number = Field(
        default=300,
        ge=0,
        le=86_400,
        description="Without an id: the same body within this time is a repeat; after twice this time it isn't. 0: never a repeat.",
    )
    signed: Annotated[str, AfterValidator(_content)] = Field(
        default="",
        description='The signed text, with {body}, {timestamp} and {id}. Empty: "{body}", or with a timestamp '
        '"{timestamp}.{body}".',
    )
    prompt: str = Field(default="", description="Instructions that the agent reads before the payload.")
    headers: tuple[HeaderName, ...] = Field(
        default=(), description='Headers that the agent sees too, such as "X-GitHub-Event".'
    )
    fields: tuple[Text, ...] = Field(
        default=(),
        description='Fields of JSON or a form that the agent sees, such as "repository.full_name" or '
        '"commits[0].message". Empty: all of it.',
    )
    urgency: Urgency = Field(
        default=Urgency.NORMAL,
        description='"low" is kept as context; "normal" is answered; "high" and "critical" are answered at once, '
        "which ends the work going on in the room.",
    )
    person: IdentityName | Literal[""] = Field(
        default="",
        description='Identity of the person it acts as, such as "slack:work/U1". Empty: it acts as the program '
        "`hook:NAME`, with the rights of a user.",
    )
    per_minute: Whole = Field(
        default=60, ge=0, le=100_000, description="Most calls that each process accepts in a minute; 0: no limit."
    )

    @property
    def tolerance(self) -> timedelta:
        return timedelta(seconds=self.tolerance_seconds)

    @property
    def dedupe_within(self) -> timedelta:
        return timedelta(seconds=self.dedupe_seconds)
