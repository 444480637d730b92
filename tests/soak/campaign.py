"""Episodes one after the other, some side by side, until there were enough kills; and what they add up to."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from runtime.store.protocol import SummaryKind
from tests.fakes.postgres import Postgres
from tests.soak.episode import BrokenPromise, Episode, Scene
from tests.soak.evidence import CANNOT_TELL, Evidence
from tests.soak.plan import drawn
from tests.soak.screens import frozen_repeats

KILLS: Final = 25  # of one episode: enough that much is under way, few enough that a story stays short
NODES: Final[Mapping[str, int]] = {"sqlite": 1, "postgres": 2}


@dataclass(slots=True)
class Campaign:
    """`only` plays a single episode; `until` is the time of time.time() after which no new one begins.

    `plants` are bugs put into the program, so that one sees what becomes of them.
    """

    seed: int
    kills: int
    engine: str
    folder: Path
    tell: Callable[[str], None]
    only: int | None = None
    until: float = float("inf")
    side_by_side: int = 2
    plants: Sequence[str] = ()
    counts: Counter[str] = field(default_factory=Counter)
    _postgres: Postgres | None = None

    async def run(self) -> None:
        """Errors: BrokenPromise, the first; the other episodes are ended then."""
        with ExitStack() as stack:
            if self.engine == "postgres":
                self._postgres = stack.enter_context(Postgres())
            todo = self._episodes()
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(self.side_by_side):
                        group.create_task(self._play_all(todo))
            except* BrokenPromise as broken:
                raise broken.exceptions[0] from None

    def _episodes(self) -> Iterator[tuple[int, int]]:
        """(number, kills) of each."""
        for number in range(1, episodes(self.kills) + 1):
            if time.time() > self.until:
                return
            if self.only in (None, number):
                yield number, min(KILLS, self.kills - KILLS * (number - 1))

    async def _play_all(self, todo: Iterator[tuple[int, int]]) -> None:
        for number, kills in todo:
            began = time.time()
            scene = self._scene(number, kills)
            try:
                evidence = await Episode(scene).play()
            except BrokenPromise as broken:
                raise BrokenPromise(
                    f"{broken}\n\nTo repeat it: {self.command(number)}\nIts files: {scene.folder}"
                ) from None
            counted = counts(evidence)
            self.counts += counted
            about = f"{counted['kills']} kills, {counted['messages']} messages, {counted['calls']} calls"
            self.tell(f"episode {number}: {about}, every promise kept ({time.time() - began:.0f} s)")

    def _scene(self, number: int, kills: int) -> Scene:
        url = self._postgres.create_database() if self._postgres else ""
        plan = drawn(self.seed, number, kills, nodes=NODES[self.engine])
        return Scene(plan, self.folder / f"episode{number}", url, self.plants)

    def command(self, episode: int) -> str:
        engine = f" ENGINE={self.engine}" if self.engine != "sqlite" else ""
        plants = "".join(f" --plant {plant}" for plant in self.plants)
        return f"make soak SEED={self.seed} KILLS={self.kills}{engine} ARGS='--episode {episode}{plants}'"


def episodes(kills: int) -> int:
    """How many of them so many kills make."""
    return -(-kills // KILLS)


def counts(evidence: Evidence) -> Counter[str]:
    tables = evidence.tables
    found: Counter[str] = Counter()
    for note in evidence.notes:
        if note.what == "killed":
            found["kills"] += 1
            found[f"killed at {note.about['where']}" if note.about["where"] else "killed at a random moment"] += 1
        elif note.what in ("left", "thawed", "weather"):
            found[note.what] += 1
    found["events"] = len(evidence.events)
    found["messages"] = len(evidence.said)
    found["merged"] = sum(row["state"] == "merged" for row in tables["signals"])
    found["runs stopped"] = sum(row["state"] == "stopped" for row in tables["runs"])
    found["calls"] = len(evidence.steps)
    found["pieces handed on"] = len(tables["children"])
    found["pieces nobody waited for"] = sum(not row["awaits"] for row in tables["children"])
    found["pieces stopped"] = sum(row["state"] == "stopped" for row in tables["children"])
    found["tasks"] = len(tables["tasks"])
    begun = Counter(row["tool"] for row in evidence.by_rules.values())
    found["workflows"], found["goals"] = begun["workflow_begin"], begun["goal_begin"]
    found["verdicts"] = sum(row["call_id"].startswith("goal-judge") for row in tables["steps"] if row["call_id"])
    found["triggers fired"] = len(tables["trigger_fires"])
    found["messages posted elsewhere"] = sum(row["origin"].startswith("posted:") for row in tables["deliveries"])
    for kind in (SummaryKind.MODEL, SummaryKind.HANDOFF):
        found[kind.value] = sum(row["kind"] == kind for row in tables["summaries"])
    found["fallbacks"] = sum(bool(row["instead_of"]) for row in tables["usage"])
    for row in tables["approvals"]:
        found[f"asked: {row['kind']} {row['choice'] or row['state']}"] += 1
    found["parts"] = len(tables["parts"])
    found["attempts"] = sum(row["attempts"] for row in tables["parts"])
    found["marks"] = sum(shown.marked for shown in evidence.shown if shown.place == CANNOT_TELL)
    found["held"] = sum(row["state"] == "held" for row in tables["deliveries"])
    found["frozen repeats"] = frozen_repeats(evidence)
    return found


def summary(counted: Counter[str]) -> str:
    """What an intact campaign comes to; a broken one ends with its story instead."""
    points = sorted(name for name in counted if name.startswith("killed at "))
    asked = sorted(name for name in counted if name.startswith("asked: "))
    lines = [
        *((name, counted[name]) for name in ("kills", *points)),
        ("asked to leave", counted["left"]),
        ("frozen past the lease", counted["thawed"]),
        ("gusts of platform faults", counted["weather"]),
        ("things people did", counted["events"]),
        ("messages with an answer of their own", counted["messages"]),
        ("the same words, sharing one", counted["merged"]),
        ("runs stopped by a person", counted["runs stopped"]),
        ("tool calls", counted["calls"]),
        *(
            (name, counted[name])
            for name in (
                "pieces handed on",
                "pieces nobody waited for",
                "pieces stopped",
                "tasks",
                "messages posted elsewhere",
                "workflows",
                "goals",
                "verdicts",
                "triggers fired",
            )
        ),
        ("summaries", counted[SummaryKind.MODEL.value]),
        ("handoffs", counted[SummaryKind.HANDOFF.value]),
        ("answers by another model", counted["fallbacks"]),
        *((name, counted[name]) for name in asked),
        ("parts", counted["parts"]),
        ("attempts at showing them", counted["attempts"]),
        ("lost", 0),
        ("repeated", 0),
        ("double executions", 0),
        ("repeats with a mark, where nobody can tell", counted["marks"]),
        ("held for a person, where nobody can tell", counted["held"]),
        ("repeated by a frozen process, counted apart", counted["frozen repeats"]),
    ]
    return "\n".join(f"  {name:<48}{number:>7}" for name, number in lines)
