"""The agents: those of the settings, and whether all live nodes work with the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from bot.doctor.rows import rows_of
from bot.doctor.subject import Subject, fault, fine, warning
from bot.wiring.agents import digest_of, manifests_of
from runtime.contract import Finding
from runtime.domain.agents.manifest import MAIN
from runtime.markup.moments import several
from runtime.text.naming import listed

AGENTS_OF_LIVE_NODES: Final = (
    "SELECT label, agents FROM nodes WHERE state = 'live' AND expires_at > {now} ORDER BY label"
)
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
