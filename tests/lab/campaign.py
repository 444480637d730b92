"""The campaign: stages one after another, several beside each other, each with fault after fault, all by a plan.

Each trial is a line of a file once it is over; whoever runs the same plan again does what has no line yet.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.fakes.postgres import Postgres
from tests.faults.stage import PLATFORMS
from tests.lab.plants import CONTROL, FINDS, is_found
from tests.lab.stage import lab
from tests.lab.sums import counted
from tests.lab.trials import ROOMS, Kind, Trial, kinds, told_of
from tests.lab.watch import Watch, watching

Row = Mapping[str, Any]

LOST: Final = 5.0
"""Seconds after which a way is lost, where leases are short; with those of production it is production's."""
THINKS: Final = 0.6  # seconds: in them a way is held before the sends leave
LONG_LEASE: Final = 5.0
TRIALS_A_STAGE: Final = 20
TRIAL_WITHIN: Final = 240.0
"""Seconds after which a trial hangs."""
STAGES: Final = (("postgres", 2), ("postgres", 3), ("postgres", 2), ("sqlite", 1), ("postgres", 1))
"""Engines and numbers of nodes, in turn."""
QUOTA: Final[Mapping[str, int]] = {
    "freeze": 1000,
    "partition": 500,
    "outage": 200,
    "kill": 60,
    "leave": 100,
    "slow": 140,
}
LONG_QUOTA: Final[Mapping[str, int]] = dict.fromkeys(QUOTA, 20)
SHORT_SEEDS: Final = 5


@dataclass(frozen=True, slots=True)
class Batch:
    """One stage and its trials. `name` is that of the stage in the file; a trial's has its number behind it."""

    name: str
    engine: str
    nodes: int
    platform: str
    lease: float
    trials: tuple[Kind, ...]
    plant: str = ""

    def key(self, number: int) -> str:
        return f"{self.name}.{number} {self.trials[number]}"


def batches(seed: int, quota: Mapping[str, int], lease: float) -> Sequence[Batch]:
    """A plan with so many trials of each sort: what a stage can't have is left to the next."""
    chance, left = Random(seed), dict(quota)
    made: list[Batch] = []
    for turn in count():
        engine, nodes = STAGES[turn % len(STAGES)]
        trials: list[Kind] = []
        while len(trials) < TRIALS_A_STAGE:
            able = [kind for kind in kinds(engine, nodes) if left[kind.sort]]
            if not able:
                break
            sorts = sorted({kind.sort for kind in able})
            sort = chance.choices(sorts, weights=[left[one] for one in sorts])[0]
            trials.append(chance.choice([kind for kind in able if kind.sort == sort]))
            left[sort] -= 1
        if trials:
            platform = PLATFORMS[len(made) // 2 % len(PLATFORMS)]
            made.append(Batch(f"{seed}/{lease:g}/{len(made)}", engine, nodes, platform, lease, tuple(trials)))
        if not any(left.values()):
            return made
    raise AssertionError("unreachable")


def each_kind(seed: int) -> Sequence[Batch]:
    """A short plan: each kind of fault once on the smallest stages that can have it, what else there is by chance."""
    chance, made = Random(seed), []
    stages = [("postgres", 2 + seed % 2), ("sqlite", 1)]
    for number, (engine, nodes) in enumerate(stages):
        found = list(kinds(engine, nodes))
        if engine == "sqlite":
            found = [kind for kind in found if kind.sort in ("outage", "kill")] + chance.sample(found, 3)
        else:
            found = [*_one_length(found, chance)]
        chance.shuffle(found)
        platform = PLATFORMS[(seed + number) % len(PLATFORMS)]
        made.append(Batch(f"{seed}/short/{number}", engine, nodes, platform, 1.0, tuple(found)))
    return made


def _one_length(found: Iterable[Kind], chance: Random) -> Iterable[Kind]:
    """Of each point one length, and of each slow way one target."""
    by: dict[tuple[str, ...], list[Kind]] = {}
    for kind in found:
        what = kind.words[:1] if kind.sort == "freeze" else kind.words[1:] if kind.sort == "slow" else kind.words
        by.setdefault((kind.sort, *what), []).append(kind)
    return [chance.choice(same) for same in by.values()]


def planted() -> Sequence[Batch]:
    """Each bug, on a stage of its own with the faults that bring it to light; and each of those faults without a bug, which must
    break nothing."""
    made, plain = [], dict[tuple[str, int, str], dict[Kind, None]]()
    for name, (engine, nodes, platform, faults, _) in FINDS.items():
        trials = tuple(Kind(sort, tuple(words)) for sort, *words in faults)
        made.append(Batch(f"plant/{name}", engine, nodes, platform, 1.0, trials, name))
        plain.setdefault((engine, nodes, platform), {}).update(dict.fromkeys(trials))
    for number, ((engine, nodes, platform), kinds_) in enumerate(plain.items()):
        made.append(Batch(f"{CONTROL}/{number}", engine, nodes, platform, 1.0, tuple(kinds_)))
    return made


# ------------------------------------------------------------------------------------------------------------ results


class Results:
    """A file of lines. The later of two with one key counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.rows: dict[str, Row] = {row["key"]: row for row in map(json.loads, lines)}

    def add(self, row: Row) -> None:
        self.rows[row["key"]] = row
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(row, ensure_ascii=False)}\n")


# ------------------------------------------------------------------------------------------------------------ running


class Campaign:
    """Runs what has no line in `results`, as long as `until`. `again` names lines that are not enough."""

    def __init__(
        self,
        plan: Sequence[Batch],
        results: Results,
        *,
        tell: Callable[[str], None],
        until: float = float("inf"),
        beside: int = 2,
        again: Callable[[Row], bool] = lambda row: False,
    ) -> None:
        self._left = [
            batch for batch in plan if any(self._is_due(results, batch, n, again) for n in range(len(batch.trials)))
        ]
        self._again = again
        self._results, self._tell, self._until, self._beside = results, tell, until, beside
        self._due = {
            batch.key(n) for batch in plan for n in range(len(batch.trials)) if self._is_due(results, batch, n, again)
        }

    @staticmethod
    def _is_due(results: Results, batch: Batch, number: int, again: Callable[[Row], bool]) -> bool:
        row = results.rows.get(batch.key(number))
        return row is None or again(row)

    @property
    def left(self) -> int:
        """Trials that have no line yet."""
        return len(self._due)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._beside):
                group.create_task(self._work())

    async def _work(self) -> None:
        """Stage after stage, with a database server of its own, and another where one doesn't come up again."""
        async with AsyncExitStack() as stack:
            server: Postgres | None = None
            while self._left and time.time() < self._until:
                batch = self._left.pop(0)
                if batch.engine == "postgres" and not (server and server.is_up):
                    server = await asyncio.to_thread(_started)
                    stack.callback(server.close)
                await self._play(batch, server if batch.engine == "postgres" else None)

    async def _play(self, batch: Batch, server: Postgres | None) -> None:
        """A trial that fails ends its stage, and the next goes on with a new one; without its server a later turn does."""
        while time.time() < self._until:
            if server and not server.is_up:
                self._left.insert(0, batch)
                return
            due = [n for n in range(len(batch.trials)) if batch.key(n) in self._due]
            if not due or self._is_found(batch):  # one complaint is enough to know a bug by
                self._due -= {batch.key(n) for n in due}
                return
            folder = _folder()
            try:
                await self._stage(batch, due, folder, server)
            except Exception as error:  # noqa: BLE001 - a stage that did not begin is a result too
                self._note(batch, due[0], broken=[f"stage: {told_of(error)}"], error=str(error))
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _is_found(self, batch: Batch) -> bool:
        """True if this stage has a bug, and its trials brought it to light."""
        done = [row for n in range(len(batch.trials)) if (row := self._results.rows.get(batch.key(n)))]
        return bool(batch.plant) and any(is_found(batch.plant, counted(row)) for row in done)

    async def _stage(self, batch: Batch, due: Sequence[int], folder: Path, server: Postgres | None) -> None:
        lost = LOST if batch.lease < LONG_LEASE else None
        settings: dict[str, Any] = {"nodes.lease_seconds": batch.lease}
        async with lab(
            folder,
            server,
            platform=batch.platform,
            nodes=batch.nodes,
            think=THINKS,
            lost=lost,
            plant=batch.plant,
            **settings,
        ) as on:
            for node in on.nodes:
                await node.until_ready()
            for room in on.rig.places(ROOMS):
                await on.answered(room)
            async with watching(on, batch.lease) as watch:
                for number in due:
                    if (
                        self._is_found(batch)
                        or time.time() >= self._until
                        or not await self._try(batch, number, Trial(on, watch, Random(batch.key(number)), server))
                    ):
                        break
                else:
                    number = due[-1]
                    await self._end(batch, number, watch)

    async def _try(self, batch: Batch, number: int, trial: Trial) -> bool:
        """One fault. True if the stage is as it was before."""
        began, error = time.monotonic(), ""
        trial.watch.begin()
        broken: list[str] = []
        try:
            async with asyncio.timeout(TRIAL_WITHIN):
                await batch.trials[number].run(trial)
        except (AssertionError, TimeoutError, OSError) as failed:
            broken, error = [f"hung: {told_of(failed)}"], str(failed)
        trial.watch.count()
        tokens = {line.token for line in trial.watch.lines}
        try:
            broken += await trial.on.judged_of(tokens, trial.watch.evidence())
        except (AssertionError, OSError) as failed:
            broken.append(f"hung: {told_of(failed)}")
        logs = "\n".join(f"--- {node.name}\n{node.log()}" for node in trial.on.nodes) if broken else ""
        for line in trial.watch.lines:
            logs += f"\n--- {line.token}\n{await trial.on.kept_of(line.token)}" if broken and not line.seen_at else ""
        self._note(
            batch,
            number,
            figures=trial.figures,
            lines=[dict(line.told()) for line in trial.watch.lines],
            seconds=time.monotonic() - began,
            lag=trial.watch.lag,
            broken=broken,
            error=f"{error}\n{logs}".strip(),
        )
        return not error

    async def _end(self, batch: Batch, number: int, watch: Watch) -> None:
        """All that was ever said on the stage is judged once more, and that everybody leaves."""
        try:
            await watch.on.judged({"usage": watch.usage})
        except AssertionError as failed:
            row = self._results.rows[batch.key(number)]
            told = [line for line in str(failed).partition("\n---")[0].splitlines() if line]
            self._note(batch, number, **{**row, "broken": [*row["broken"], *told], "error": str(failed)})

    def _note(self, batch: Batch, number: int, **more: Any) -> None:
        row = {
            "figures": {},
            "lines": [],
            "seconds": 0.0,
            "lag": 0.0,
            **more,
            "key": batch.key(number),
            "sort": batch.trials[number].sort,
            "kind": str(batch.trials[number]),
            "engine": batch.engine,
            "nodes": batch.nodes,
            "platform": batch.platform,
            "lease": batch.lease,
            "plant": batch.plant,
            "at": time.time(),
            "load": os.getloadavg()[0],
        }
        self._results.add(row)
        self._due.discard(row["key"])
        figures = ", ".join(f"{name} {seconds:.1f}" for name, seconds in row["figures"].items())
        words = "; ".join(row["broken"]) or "kept"
        self._tell(
            f"{row['seconds']:5.1f} s  {batch.engine} {batch.nodes} {batch.platform}  {row['key']}: {figures}: {words}"
        )


def _folder() -> Path:
    """A new one, into which the database's user may look."""
    folder = Path(tempfile.mkdtemp(prefix="signalbox-lab-"))
    folder.chmod(0o711)
    return folder


def _started() -> Postgres:
    server = Postgres()
    server.start()
    return server
