"""What makes a delivery the same as one before: the id that its sender gave it, or else its words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from adapters.webhook.proof import signed_by
from adapters.webhook.settings import Hook

USUAL: Final = ("Idempotency-Key", "X-GitHub-Delivery", "webhook-id", "X-Gitlab-Event-UUID")
"""Headers that carry an id which stays the same when a delivery is repeated."""
LONGEST: Final = 128
"""Characters of an id that is kept as it is; of a longer one its hash."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class NoId(Exception):
    """The header that was agreed upon is not there."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Equal `dedupe` or equal `natural` keys are the same event."""

    dedupe: str
    natural: str | None = None


def keys_of(hook: Hook, headers: Mapping[str, str], body: bytes, now: datetime) -> Keys:
    """Errors: NoId where `dedupe_header` is set and the request has none."""
    if hook.dedupe_header and not headers.get(hook.dedupe_header):
        raise NoId(hook.dedupe_header)
    names = (hook.dedupe_header,) if hook.dedupe_header else USUAL
    given = next(filter(None, (headers.get(name) for name in names)), None)
    return Keys(f"id:{_brief(given)}", _once(hook, headers, body)) if given else _by_words(hook, body, now)


def _once(hook: Hook, headers: Mapping[str, str], body: bytes) -> str | None:
    """A signature over a time counts once: else whoever caught a request could send it again under another id."""
    proof = hook.proof
    if proof.kind == "token" or not proof.timestamp_header:
        return None
    return f"signed:{_hash(signed_by(proof, headers, body))}"


def _by_words(hook: Hook, body: bytes, now: datetime) -> Keys:
    """The same words within the window are the same event, and beyond twice the window never.

    Two rows of windows, each twice as long and half a length apart: two moments that are closer than half a length lie in
    one window of at least one of the rows, wherever the borders are.
    """
    window = max(hook.dedupe_within, 2 * hook.proof.tolerance if hook.proof.timestamp_header else timedelta())
    if not window:
        return Keys(f"at:{now.isoformat()}:{_hash(body)}")
    halves = (now - EPOCH) // window
    words = _hash(body)
    return Keys(f"words:{words}:a{halves // 2}", f"words:{words}:b{(halves + 1) // 2}")


def _brief(given: str) -> str:
    fits = len(given) <= LONGEST and given.isascii() and given.isprintable()
    return given if fits else _hash(given.encode("utf-8", "surrogateescape"))


def _hash(words: bytes) -> str:
    return sha256(words).hexdigest()
