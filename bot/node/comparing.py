"""Nodes of one database beside each other: settings that differ, clocks that are off, programs of another version."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import structlog

from bot.node.version import VERSION
from bot.settings.settings import Settings
from runtime.domain.ids import digest
from runtime.errors import StoreError
from runtime.text.naming import listed

if TYPE_CHECKING:
    from runtime.store.cluster.roster import Member, NodeRoster
    from runtime.store.protocol import Lease

log = structlog.get_logger("node")

OF_ONE_MACHINE: Final = frozenset(
    {
        *("data_dir", "workspace_dir", "database_url", "database_listen_url", "web.host", "web.port"),
        *("log", "metrics", "telemetry", "secrets"),
    }
)
"""Settings, and tables of them, that say where a process is and how it is watched: they may differ."""
CLOCK_OFFSET_MAX: Final = timedelta(seconds=2)
"""A clock that is further off is told. Leases, expiries and schedules go by the database's."""
HASH_CHARS: Final = 8
SHARED_KEY: Final = "secrets.shared_key"
"""The one secret that is compared by what it is: what a node seals with another key, no other can read."""


def fingerprint(settings: Settings) -> str:
    """A short hash of each setting that isn't as usual, by name, as JSON; of a secret only whether there is one.

    Of the key that the nodes of one server share it is a keyed digest."""
    usual, shown = _flat(Settings.model_construct().shown()), _flat(settings.shown())
    told = {
        name: digest(json.dumps(value, sort_keys=True))[:HASH_CHARS]
        for name, value in shown.items()
        if value != usual.get(name) and not _may_differ(name)
    }
    if settings.database_url.startswith("postgresql://"):
        shared = settings.secrets.shared_key
        told[SHARED_KEY] = _key_mark(shared.get_secret_value()) if shared else ""
    return json.dumps(told, separators=(",", ":"))


def differing(one: str, other: str) -> list[str]:
    """Names of settings that differ between two fingerprints. A node that tells none differs in nothing."""
    if not one or not other:
        return []
    ours, theirs = json.loads(one), json.loads(other)
    names = ours.keys() | theirs.keys()
    if SHARED_KEY not in ours or SHARED_KEY not in theirs:  # an older program doesn't tell of it
        names -= {SHARED_KEY}
    return sorted(name for name in names if ours.get(name) != theirs.get(name))


def mark_of(settings: str) -> str:
    """One short word for a fingerprint: nodes with the same have the same settings."""
    return digest(settings)[:HASH_CHARS] if settings else ""


def clock_words(offset: timedelta | None) -> str:
    """Words about a clock that is off; empty for one that is right, or isn't known."""
    if offset is None or abs(offset) <= CLOCK_OFFSET_MAX:
        return ""
    side = "ahead of" if offset > timedelta() else "behind"
    return f"{abs(offset).total_seconds():,.0f} s {side} the database's"


def program_words(one: Member, version: str, knows: str) -> str:
    """Words about a node whose program is another one; empty for the same."""
    if one.knows == knows and one.version == version:
        return ""
    if not one.knows:
        return "its program is from before nodes told their version"
    age = "the same" if one.knows == knows else "an older" if one.knows < knows else "a newer"
    return f"its program is signalbox {one.version}, which knows {age} schema ({one.knows})"


async def compare(roster: NodeRoster, lease: Lease | None) -> None:
    """Tell the log, once, how this node differs from the others that are live. A store that is away just then ends no node."""
    try:
        members = [one for one in await roster.members() if one.is_live]
    except StoreError as error:
        log.debug("nodes were not compared", reason=str(error))
        return
    own = next((one for one in members if lease and one.id == lease.node), None)
    if own is None:
        return
    for one in members:
        if one.id == own.id:
            continue
        if names := differing(own.settings, one.settings):
            log.warning("other nodes have other settings", node=one.label, settings=names)
        if words := program_words(one, VERSION, own.knows):
            log.warning("nodes of two versions", node=one.label, reason=words)


def differences(members: Iterable[Member]) -> dict[str, list[str]]:
    """Settings that live nodes don't all have alike, each with the labels of the nodes by what they have."""
    live = [one for one in members if one.is_live and one.settings]
    found: dict[str, list[str]] = {}
    for name in sorted({name for one in live for name in json.loads(one.settings)}):
        sides: dict[str, list[str]] = {}
        for one in live:
            told = json.loads(one.settings)
            if name != SHARED_KEY or name in told:
                sides.setdefault(told.get(name, ""), []).append(one.label)
        if len(sides) > 1:
            found[name] = [listed(labels) for labels in sides.values()]
    return found


def _key_mark(key: str) -> str:
    return hmac.digest(key.encode(), b"signalbox: is it the same key?", "sha256").hex()[:HASH_CHARS]


def _may_differ(name: str) -> bool:
    return name in OF_ONE_MACHINE or name.partition(".")[0] in OF_ONE_MACHINE or name.endswith(("_env", "_envs"))


def _flat(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Tables as `model.name`; a list is one setting."""
    return dict(_leaves("", shown))


def _leaves(above: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict) and not above:
            yield from _leaves(f"{name}.", value)
        else:
            yield f"{above}{name}", value
