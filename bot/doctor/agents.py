"""The agents: those of the settings, and whether all live nodes work with the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from bot.doctor.rows import rows_of
from bot.doctor.subject import Subject, fault, fine, warning
from bot.settings.settings import Settings
from bot.wiring.agents import digest_of, manifests_of
from runtime.contract import Finding
from runtime.domain.agents.globs import meet
from runtime.domain.agents.manifest import MAIN
from runtime.markup.moments import several
from runtime.text.naming import listed

AGENTS_OF_LIVE_NODES: Final = (
    "SELECT label, agents FROM nodes WHERE state = 'live' AND expires_at > {now} ORDER BY label"
)
WEB: Final = "web:main"
MICROS_A_SECOND: Final = 1_000_000


async def check_agents(subject: Subject) -> Sequence[Finding]:
    now = int(datetime.now(UTC).timestamp() * MICROS_A_SECOND)
    [rows] = await rows_of(subject.settings, AGENTS_OF_LIVE_NODES.format(now=now))
    nodes: dict[str, list[str]] = defaultdict(list)
    for label, digest in rows:
        nodes[digest].append(label)
    own = digest_of(manifests_of(subject.settings))
    if len(nodes) > 1:
        return [_differ(nodes)]
    if nodes and own not in nodes and subject.faults is None:
        return [_stale(next(iter(nodes.values())))]
    if nowhere := list(_nowhere(subject.settings)):
        return nowhere
    names = [table.name for table in subject.settings.agents if table.name != MAIN]
    return [fine("agents", f"{several(len(names), 'agent')} beside main: {listed(names)}")] if names else []


def _differ(nodes: Mapping[str, Sequence[str]]) -> Finding:
    sides = "; ".join(f"{listed(labels)} has {digest or 'none told'}" for digest, labels in sorted(nodes.items()))
    why = "A message would be answered by whichever node takes it, with another prompt or other tools."
    fix = "give all nodes the same [[agents]] and agents/*.toml, then on each: signalbox reload"
    return fault("agents.nodes", f"the live nodes work with different agents ({sides})", why, fix)


def _stale(labels: Sequence[str]) -> Finding:
    why = "Changes of [[agents]] and agents/*.toml count from the next reload on."
    return warning(
        "agents.stale", f"{listed(labels)} works with other agents than these settings", why, "signalbox reload"
    )


def _nowhere(settings: Settings) -> Iterator[Finding]:
    """Globs of rooms, accounts and channels that no account here has."""
    known = [WEB, *(f"{one.channel}:{one.name}" for one in settings.accounts if one.enabled)]
    for table in settings.agents:
        for kind, globs in (("rooms", table.rooms), ("accounts", table.accounts), ("channels", table.channels)):
            for glob in globs:
                if not any(_may_fit(kind, glob, account) for account in known):
                    what = f"{table.name} answers in {kind} {glob}, and no account here has any"
                    fix = f"write one of {', '.join(known)}, or add the account under [[accounts]]"
                    yield warning(f"agents.{table.name}.{kind}", what, "So it is never asked there.", fix)


def _may_fit(kind: str, glob: str, account: str) -> bool:
    match kind:
        case "rooms":
            return meet(glob, f"{account}/*")
        case "accounts":
            return meet(glob, account)
        case _:
            return meet(glob, account.partition(":")[0])
