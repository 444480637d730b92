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
            raise ValueError(f"{setting} beside it, which says where {{{place}}} is")
    if template and "timestamp" not in places and info.data.get("timestamp_header"):
        raise ValueError("{timestamp} in it: a time that is not signed can be any time")
    return template


HeaderName = Annotated[str, AfterValidator(_header)]


class HookTable(Section):
    """A webhook. A program posts to `/hooks/NAME`, and the agent gets a message: [hooks.md](hooks.md)."""

    name: AccountName = Field(
        description="What its address ends with, and what people call it: lowercase letters, digits and dashes."
    )
    to: Annotated[Text, AfterValidator(_room)] = Field(
        description='Address of the room that reads it and its answer, such as "slack:work/C1".'
    )
    secret: Proof = Field(
        default=None, description="What proves that a sender may: at least 16 characters, each hook's its own."
    )
    secret_env: str = Field(default="", description="Name of the variable or sealed secret that holds `secret`.")
    verify: Literal["token", "hmac"] = Field(
        default="token",
        description='"token": the sender shows the secret; "hmac": it signs with it (HMAC-SHA256, as hex or base64).',
    )
    header: HeaderName = Field(
        default="",
        description="Header with the proof; empty: X-Signalbox-Token (or Authorization: Bearer), with hmac "
        "X-Hub-Signature-256.",
    )
    prefix: str = Field(default="sha256=", description="What stands before a signature in its header.")
    timestamp_header: HeaderName = Field(
        default="",
        description="Header with the time of a signed request in seconds, or with its part `t=…`; empty: none.",
    )
    tolerance_seconds: Number = Field(
        default=300, gt=0, le=86_400, description="How far that time may be from ours, before or after."
    )
    dedupe_header: HeaderName = Field(
        default="",
        description="Header with the id that a repeat has too; a request without it is refused. Empty: "
        "Idempotency-Key, X-GitHub-Delivery, webhook-id or X-Gitlab-Event-UUID, whichever is there.",
    )
    dedupe_seconds: Number = Field(
        default=300,
        ge=0,
        le=86_400,
        description="Where no id is there: the same body again within this time is a repeat, and after twice this time "
        "none; 0: never.",
    )
    signed: Annotated[str, AfterValidator(_content)] = Field(
        default="",
        description='What is signed, with {body}, {timestamp} and {id}; empty: "{body}", or with a timestamp '
        '"{timestamp}.{body}".',
    )
    prompt: str = Field(default="", description="What the agent reads before the payload: what to do with it.")
    headers: tuple[HeaderName, ...] = Field(
        default=(), description='Headers that are told along, such as "X-GitHub-Event".'
    )
    fields: tuple[Text, ...] = Field(
        default=(),
        description='What is told of JSON or a form, such as "repository.full_name" or "commits[0].message". Empty: all '
        "of it.",
    )
    urgency: Urgency = Field(
        default=Urgency.NORMAL,
        description='"low" is kept as context; "normal" is answered; "high" and "critical" are answered now: what is at '
        "work in the room ends first.",
    )
    person: IdentityName | Literal[""] = Field(
        default="",
        description='Identity of the person as whom it acts, such as "slack:work/U1". Empty: it is a program of its own, '
        "`hook:NAME`, with the rights of a user.",
    )
    per_minute: Whole = Field(
        default=60, ge=0, le=100_000, description="Most that each process takes in a minute; 0: as many as come."
    )

    @property
    def tolerance(self) -> timedelta:
        return timedelta(seconds=self.tolerance_seconds)

    @property
    def dedupe_within(self) -> timedelta:
        return timedelta(seconds=self.dedupe_seconds)
