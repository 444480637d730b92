"""The checker: reads the evidence of a play as JSON, and prints each promise that was not kept, one a line.

A process of its own that shares no code with the program: `python tests/lab/checker.py <evidence.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

LEAVES_WITHIN = 10.0  # seconds after SIGTERM; source: lab.md
SAYS_WITHIN = 1.0  # seconds that /readyz may take


def broken(evidence: dict[str, Any]) -> Iterator[str]:
    """The promises that were not kept."""
    yield from shown_once(evidence["said"], evidence["seen"])
    yield from in_order(evidence["said"], evidence["seen"])
    yield from alive(evidence["nodes"], evidence["rows"])
    yield from held(evidence["roles"], evidence["nodes"])
    yield from left(evidence["left"])


def shown_once(said: list[dict[str, Any]], seen: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Each token is answered in its room, once; a repeat says of itself that it is one."""
    for line in said:
        texts = [one for one in seen.get(line["room"], []) if line["token"] in one["text"]]
        plain = [one for one in texts if not one["marked"]]
        if not texts:
            yield f"lost: {line['token']} in {line['room']} was never answered"
        if len(plain) > 1:
            yield f"repeated: {line['token']} in {line['room']} was answered {len(plain)} times without a mark"


def in_order(said: list[dict[str, Any]], seen: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Answers of a room stand in the order of the questions."""
    for room, messages in seen.items():
        tokens = [line["token"] for line in said if line["room"] == room]
        firsts = [
            next((n for n, one in enumerate(messages) if token in one["text"] and not one["marked"]), None)
            for token in tokens
        ]
        places = [place for place in firsts if place is not None]
        if places != sorted(places):
            yield f"disordered: in {room} the answers to {tokens} stand at {places}"


def alive(nodes: list[dict[str, Any]], rows: dict[str, str]) -> Iterator[str]:
    """Each living process is live in the table of nodes, and says so; none else is."""
    for node in nodes:
        if rows.get(str(node["pid"])) != "live":
            yield f"hung: the process {node['name']} lives, and is {rows.get(str(node['pid']), 'unknown')} among the nodes"
        if node["ready"] != 200:
            yield f"not ready: {node['name']} says {node['ready']}: {node['reasons']}"
        if node["healthy"] != 200:
            yield f"not healthy: {node['name']} says {node['healthy']}"
        if node["seconds"] > SAYS_WITHIN:
            yield f"slow: /readyz of {node['name']} took {node['seconds']:.1f} s"
    living = {str(node["pid"]) for node in nodes}
    for pid, state in rows.items():
        if state == "live" and pid not in living:
            yield f"ghost: the process {pid} is gone, and live among the nodes"


def held(roles: dict[str, str | None], nodes: list[dict[str, Any]]) -> Iterator[str]:
    """Each role that was ever taken is held by a living process."""
    living = {str(node["pid"]) for node in nodes}
    for role, pid in roles.items():
        if nodes and pid not in living:
            yield f"orphaned: the role {role} is held by {pid or 'nobody'}"


def left(ends: list[dict[str, Any]]) -> Iterator[str]:
    """Whoever was asked to leave did so in time and in peace."""
    for end in ends:
        if end["code"] != 0:
            yield f"exit code: {end['name']} left with {end['code']}"
        if end["seconds"] > LEAVES_WITHIN:
            yield f"late: {end['name']} took {end['seconds']:.1f} s to leave"


if __name__ == "__main__":
    told = list(broken(json.load(sys.stdin)))
    sys.stdout.write("".join(f"{line}\n" for line in told))
    sys.exit(1 if told else 0)
