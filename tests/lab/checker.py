"""The checker: reads the evidence of a play as JSON, and prints each promise that was not kept, one a line.

A process of its own that shares no code with the program: `python tests/lab/checker.py <evidence.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

LEAVES_WITHIN = 10.0  # seconds after SIGTERM
SAYS_WITHIN = 1.0  # seconds that /readyz may take
STORE_TOLD_WITHIN = 3.0  # seconds from a fault of the store until /readyz says so
FILE_TOLD_WITHIN = 5.0  # seconds, where the database's file is gone
PLATFORM_TOLD_WITHIN = 20.0  # seconds, of a platform
JOINS_WITHIN = 10.0  # seconds beyond the lease until whoever lives is among the living
TOLD_WITHIN = {"store": STORE_TOLD_WITHIN, "file": FILE_TOLD_WITHIN, "platform": PLATFORM_TOLD_WITHIN}
SILENT = ("frozen", "dead")
"""Faults in which a process says nothing."""
PER_MESSAGES = 10_000
SLOPES = {"memory": 1024.0, "descriptors": 2.0, "threads": 2.0}
"""By how much a process may grow in so many messages: KiB, and numbers."""
FEWEST_MESSAGES = 2_000
"""A slope over fewer is chance."""
MOST_MORE = {"descriptors": 30, "threads": 16}
"""By how much it may have grown in all: connections of a pool, threads of another."""


def broken(evidence: dict[str, Any]) -> Iterator[str]:
    """The promises that were not kept."""
    yield from shown_once(evidence["said"], evidence["seen"])
    yield from in_order(evidence["said"], evidence["seen"])
    yield from alive(evidence["nodes"], evidence["rows"])
    yield from held(evidence["roles"], evidence["nodes"])
    yield from left(evidence["left"])
    yield from in_time(evidence.get("lines", []))
    yield from told(evidence)
    yield from joined(evidence)
    yield from well_held(evidence)
    yield from level(evidence.get("usage", []))


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


def in_time(lines: list[dict[str, Any]]) -> Iterator[str]:
    """Each line's answer was on screen when it was due."""
    for line in lines:
        if line["took"] is not None and line["took"] > line["within"]:
            yield f"slow answer: {line['token']} ({line['kind']}) took {line['took']:.1f} s of {line['within']:g}"


def told(evidence: dict[str, Any]) -> Iterator[str]:
    """/readyz answers at once, and says the truth soon: 503 in a fault, 200 without one."""
    faults, lease = evidence.get("faults", []), evidence.get("lease", 0.0)
    for look in evidence.get("looks", []):
        own = [fault for fault in faults if fault["node"] == look["node"]]
        if any(_overlaps(look, fault, lease) for fault in own if fault["what"] in SILENT):
            continue
        if look["seconds"] > SAYS_WITHIN:
            yield f"slow: /readyz of {look['node']} took {look['seconds']:.1f} s"
        for fault in own:
            within = TOLD_WITHIN.get(fault["what"])
            if within is not None and look["ready"] == 200 and _is_in(look["at"], fault, within):
                yield f"untrue: {look['node']} says ready {look['at'] - fault['begins']:.1f} s into a fault of the {fault['what']}"
        # While a node takes over from another, its accounts may not be connected; its store is.
        near = own if "store" in look["reasons"] or not look["ready"] else faults
        if look["ready"] != 200 and not any(_is_near(look["at"], fault, lease, look["seconds"]) for fault in near):
            yield f"untrue: {look['node']} says {look['ready']} without a fault: {look['reasons']}"


def _is_in(at: float, fault: dict[str, Any], after: float) -> bool:
    return bool(fault["begins"] + after < at < (fault["ends"] or float("inf")))


def _is_near(at: float, fault: dict[str, Any], lease: float, seconds: float = 0.0) -> bool:
    return bool(fault["begins"] <= at + seconds and at < (fault["ends"] or float("inf")) + lease + JOINS_WITHIN)


def _overlaps(look: dict[str, Any], fault: dict[str, Any], lease: float) -> bool:
    """A question that was open when it stopped, or while it was gone, tells nothing."""
    ends = fault["ends"] or float("inf")
    return bool(look["at"] + look["seconds"] >= fault["begins"] and look["at"] <= ends)


def joined(evidence: dict[str, Any]) -> Iterator[str]:
    """Each living process is live in the table of nodes, but for its own faults and a while after them."""
    faults, lease = evidence.get("faults", []), evidence.get("lease", 0.0)
    for table in evidence.get("tables", []):
        for name, pid in table["pids"].items():
            near = any(_is_near(table["at"], fault, lease) for fault in faults if fault["node"] == name)
            if not near and table["rows"].get(str(pid)) != "live":
                yield f"missing: {name} lives without a fault, and is {table['rows'].get(str(pid), 'unknown')} among the nodes"


def well_held(evidence: dict[str, Any]) -> Iterator[str]:
    """A node that is cut from a platform has no role there for long, where another is well."""
    cut = [fault for fault in evidence.get("faults", []) if fault["what"] == "platform"]
    for fault in cut:
        for table in evidence.get("tables", []):
            names = {str(pid): name for name, pid in table["pids"].items()}
            is_alone = {fault["node"] for fault in cut} >= set(names.values())
            if not is_alone and _is_in(table["at"], fault, PLATFORM_TOLD_WITHIN):
                for role, pid in table["roles"].items():
                    if role.startswith(f"courier:{fault['channel']}:") and names.get(str(pid)) == fault["node"]:
                        yield f"kept: {fault['node']} is cut from the platform, and has {role} still"


def level(usage: list[dict[str, Any]]) -> Iterator[str]:
    """A process does not grow with what it does: `usage` by process, in order of the messages that were answered."""
    for name in sorted({one["node"] for one in usage}):
        points = [one for one in usage if one["node"] == name]
        for what, most in MOST_MORE.items():
            if (more := points[-1][what] - points[0][what]) > most:
                yield f"grows: {name} has {more} {what} more than at first"
        if len(points) < 3 or points[-1]["messages"] - points[0]["messages"] < FEWEST_MESSAGES:
            continue
        for what, slope in SLOPES.items():
            if (found := slope_of([(one["messages"], one[what]) for one in points]) * PER_MESSAGES) > slope:
                yield f"grows: {name} has {found:.1f} more {what} for {PER_MESSAGES} messages"


def slope_of(points: list[tuple[float, float]]) -> float:
    """Of the straight line that is nearest to the points."""
    n = len(points)
    middle, height = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    width = sum((x - middle) ** 2 for x, _ in points)
    return sum((x - middle) * (y - height) for x, y in points) / width if width else 0.0


if __name__ == "__main__":
    found = list(dict.fromkeys(broken(json.load(sys.stdin))))
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.exit(1 if found else 0)
