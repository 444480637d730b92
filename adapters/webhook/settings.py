"""The slice of the settings that one webhook needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

from runtime.contract import Identity, Urgency

ROUTE: Final = "/hooks/{name}"

TOKEN_HEADER: Final = "X-Signalbox-Token"  # noqa: S105 - the header's name
SIGNATURE_HEADER: Final = "X-Hub-Signature-256"
SIGNATURE_PREFIX: Final = "sha256="
# Source: docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries, read 2026-08.


def identity_of(name: str) -> Identity:
    """As whom the hook called `name` speaks, where the settings name nobody."""
    return Identity(f"hook:{name}")


@dataclass(frozen=True, slots=True)
class Proof:
    """Proof that a sender is allowed to call the hook.

    "token": it shows `secret` in `header`, or as `Authorization: Bearer`. "hmac": `header` holds, behind `prefix`, the
    HMAC-SHA256 of `signed`, in which `{body}`, `{timestamp}` and `{id}` stand for the body as it came and the two headers;
    a timestamp may be `tolerance` away from our time.
    """

    kind: Literal["token", "hmac"]
    secret: str = field(repr=False)
    header: str = TOKEN_HEADER
    prefix: str = SIGNATURE_PREFIX
    signed: str = "{body}"
    timestamp_header: str = ""
    id_header: str = ""
    tolerance: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook. `to` is a room and `person` an identity as the settings write them; without a person it is a program.

    `headers` and `fields` are what the model is told beside and of the payload; without fields all of it. At most
    `per_minute` are taken in a minute; 0: as many as come. `dedupe_within` holds for requests that carry no id.
    """

    name: str
    to: str
    proof: Proof
    prompt: str = ""
    urgency: Urgency = Urgency.NORMAL
    person: str = ""
    dedupe_header: str = ""
    dedupe_within: timedelta = timedelta(minutes=5)
    headers: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    per_minute: int = 60

    @property
    def platform(self) -> str:
        """Under which its signals are known."""
        return identity_of(self.name)
