"""Replays of a stamped and signed request: the signature counts once, whatever else is sent."""

from __future__ import annotations

import hmac
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from adapters.webhook.settings import Hook, Proof
from runtime.domain.routing import RoomRules
from tests.security.tally import Tallied, Tally
from tests.wire.hooks.stage import DEPLOYS, OPEN, SECRET, Answer, Stage, served

HOUR: Final = timedelta(hours=1)
Headers = dict[str, str]


def _hook(name: str, header: str, prefix: str, signed: str, stamp: str, agreed: str = "") -> Hook:
    proof = Proof("hmac", SECRET, header, prefix, signed, stamp, agreed, tolerance=HOUR)
    window = timedelta(minutes=1)
    return replace(DEPLOYS, name=name, proof=proof, dedupe_header=agreed, per_minute=0, dedupe_within=window)


HOOKS: Final = (
    _hook("plain", "X-Signature", "v1=", "{timestamp}.{body}", "X-Timestamp"),
    _hook("slack", "X-Slack-Signature", "v0=", "v0:{timestamp}:{body}", "X-Slack-Request-Timestamp"),
    _hook("stripe", "Stripe-Signature", "v1=", "{timestamp}.{body}", "Stripe-Signature"),
    _hook(
        "standard",
        "webhook-signature",
        "v1,",
        "{id}.{timestamp}.{body}",
        "webhook-timestamp",
        "webhook-id",
    ),
    _hook("orders", "X-Signature", "v1=", "{timestamp}.{body}", "X-Timestamp", "X-Order"),
)
USUAL: Final = ("Idempotency-Key", "X-GitHub-Delivery", "webhook-id", "X-Gitlab-Event-UUID")
CAPTURES: Final = ((), *((name,) for name in USUAL))
WAITS: Final = (timedelta(), timedelta(minutes=3), timedelta(minutes=59))


@dataclass(frozen=True)
class Request:
    hook: Hook
    body: bytes
    headers: Headers


def captured(stage: Stage, hook: Hook, own: Sequence[str], number: int) -> Request:
    """A good request, as whoever reads along sees it."""
    body, stamp, proof = f'{{"n": {number}}}'.encode(), str(int(stage.clock().timestamp())), hook.proof
    ids = {*own, hook.dedupe_header} - {""}
    headers = {"Content-Type": "application/json", **dict.fromkeys(ids, f"own {number}")}
    content = proof.signed.replace("{timestamp}", stamp).replace("{id}", headers.get(proof.id_header, ""))
    shown = hmac.digest(SECRET.encode(), content.encode().replace(b"{body}", body), "sha256").hex()
    if proof.header == proof.timestamp_header:
        return Request(hook, body, {**headers, proof.header: f"t={stamp},{proof.prefix}{shown}"})
    return Request(hook, body, {**headers, proof.timestamp_header: stamp, proof.header: proof.prefix + shown})


def without(*names: str) -> Callable[[Request], Request]:
    low = {name.lower() for name in names}
    return lambda one: replace(one, headers={k: v for k, v in one.headers.items() if k.lower() not in low})


def with_(headers: Mapping[str, str]) -> Callable[[Request], Request]:
    return lambda one: replace(without(*headers)(one), headers={**without(*headers)(one).headers, **headers})


def stamped(change: Callable[[str], str]) -> Callable[[Request], Request]:
    def changed(one: Request) -> Request:
        name = one.hook.proof.timestamp_header
        return replace(one, headers={**one.headers, name: change(one.headers[name])})

    return changed


def proof(change: Callable[[str], str]) -> Callable[[Request], Request]:
    def changed(one: Request) -> Request:
        name = one.hook.proof.header
        return replace(one, headers={**one.headers, name: change(one.headers[name])})

    return changed


CHANGES: Final[Mapping[str, Callable[[Request], Request]]] = {
    "as it was": lambda one: one,
    "without any id": without(*USUAL),
    "all ids at once": with_(dict.fromkeys(USUAL, "second")),
    **{f"another {name}": with_({name: "second"}) for name in (*USUAL, "X-Order")},
    **{f"an empty {name}": with_({name: ""}) for name in USUAL},
    "a long id": with_({"Idempotency-Key": "x" * 4_000}),
    "an id that is no text": with_({"Idempotency-Key": "\u00e9"}),
    "another type": with_({"Content-Type": "text/plain"}),
    "another sender": with_({"X-Forwarded-For": "192.0.2.1", "User-Agent": "other"}),
    "another stamp": stamped(lambda stamp: stamp.replace("17", "18", 1)),
    "a padded stamp": stamped(lambda stamp: f" {stamp} "),
    "a second stamp": stamped(lambda stamp: f"{stamp},t=1"),
    "the proof twice": proof(lambda shown: f"{shown} {shown}"),
    "the proof in capitals": proof(str.upper),
    "another body": lambda one: replace(one, body=one.body + b" "),
}


async def test_a_stamped_signature_counts_once_whatever_else_is_sent(tmp_path: Path, tallied: Tallied) -> None:
    """Each change of each capture under each kind of proof: the replay is a repeat or refused, and never a second message."""
    tally, numbers = tallied("hook replays", 200), itertools.count()
    async with served(tmp_path, *HOOKS) as stage:
        stage.gate = replace(OPEN, rooms=RoomRules(sources=frozenset(hook.platform for hook in HOOKS)))
        for hook, own in itertools.product(HOOKS, CAPTURES):
            await _replayed(stage, tally, captured(stage, hook, own, next(numbers)))
    tally.close()


async def _replayed(stage: Stage, tally: Tally, one: Request) -> None:
    assert (await _sent(stage, one)).status == 202, one
    begun = stage.clock()
    for wait, (change, replay) in itertools.product(WAITS, CHANGES.items()):
        stage.clock.advance(begun + wait - stage.clock())
        answer = await _sent(stage, replay(one))
        told = f"{one.hook.name}, {one.headers}, {change} after {wait}: {answer.status}"
        tally.case(answer.status == 200 or 400 <= answer.status < 500, told)
    stage.clock.advance(HOUR)


async def _sent(stage: Stage, one: Request) -> Answer:
    return await stage.call(one.body, one.headers, name=one.hook.name)
