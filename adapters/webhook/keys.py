"""Keys by which a delivery is the same as one before: the id that its sender gave it, or else its words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from adapters.webhook.proof import signed_by
from adapters.webhook.settings import Hook

USUAL: Final = ("Idempotency-Key", "X-GitHub-Delivery", "webhook-id", "X-Gitlab-Event-UUID")
"""Headers that carry an id which stays the same when a delivery is repeated."""
KEY_MAX_CHARS: Final = 128
"""Characters of an id that is kept as it is; of a longer one its hash."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class NoId(Exception):
    """The header that was agreed upon is not there."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Equal `dedupe` or equal `natural` keys are the same event, and so is one whose `dedupe` is our `earlier`."""

    dedupe: str
    natural: str | None = None
    earlier: str | None = None


def keys_of(hook: Hook, headers: Mapping[str, str], body: bytes, now: datetime) -> Keys:
    """Keys of a request. Whatever it says of itself, a signature over a time counts once: it is a key of its own.

    Errors: NoId where `dedupe_header` is set and the request has none.
    """
    if hook.dedupe_header and not headers.get(hook.dedupe_header):
        raise NoId(hook.dedupe_header)
    names = (hook.dedupe_header,) if hook.dedupe_header else USUAL
    given = next(filter(None, (headers.get(name) for name in names)), None)
    once = _once(hook, headers, body)
    if given:
        return Keys(f"id:{_brief(given)}", once)
    return _by_words(hook, body, now) if once is None else _by_words_beside(once, hook, body, now)


def _once(hook: Hook, headers: Mapping[str, str], body: bytes) -> str | None:
    """Key of what was signed, where a time was: else whoever caught a request could send it again under another id, or none."""
    proof = hook.proof
    if proof.kind == "token" or not proof.timestamp_header:
        return None
    return f"signed:{_hash(signed_by(proof, headers, body))}"


def _by_words(hook: Hook, body: bytes, now: datetime) -> Keys:
    """Keys by content: equal bodies within the window are one event, beyond twice the window never.

    Two rows of windows, each twice as long and half a length apart: two moments that are closer than half a length lie in
    one window of at least one of the rows, wherever the borders are.
    """
    if not hook.dedupe_within:
        return Keys(_now(body, now))
    halves = (now - EPOCH) // hook.dedupe_within
    words = _hash(body)
    return Keys(f"words:{words}:a{halves // 2}", f"words:{words}:b{(halves + 1) // 2}")


def _by_words_beside(once: str, hook: Hook, body: bytes, now: datetime) -> Keys:
    """Keys by content beside a taken one, for this window and the one before."""
    if not hook.dedupe_within:
        return Keys(_now(body, now), once)
    window, words = (now - EPOCH) // hook.dedupe_within, _hash(body)
    return Keys(f"words:{words}:{window}", once, f"words:{words}:{window - 1}")


def _now(body: bytes, now: datetime) -> str:
    return f"at:{now.isoformat()}:{_hash(body)}"


def _brief(given: str) -> str:
    fits = len(given) <= KEY_MAX_CHARS and given.isascii() and given.isprintable()
    return given if fits else _hash(given.encode("utf-8", "surrogateescape"))


def _hash(words: bytes) -> str:
    return sha256(words).hexdigest()
