"""All benchmarks by name, and how they are run."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench import program
from bench.browser import browser
from bench.capacity import capacity
from bench.channels import BENCHES as CHANNELS
from bench.channels import Bench
from bench.children import children
from bench.claim import claim
from bench.click import clicks
from bench.cuts import cuts
from bench.disk import fsync
from bench.documents import documents
from bench.failover import failover
from bench.figures import Figure
from bench.guard import guard
from bench.injection import injection
from bench.interceptors import interceptors
from bench.long import long
from bench.memory import memory
from bench.nodes import nodes
from bench.recall.recall import recall
from bench.reply import replies
from bench.rest import rest
from bench.schedules import schedules
from bench.start import start
from bench.store import store
from bench.tab import tab
from bench.triggers import triggers
from bench.workflows import workflows

BENCHES: Final[dict[str, Bench]] = {
    "fsync": fsync,
    "start": start,
    "store": store,
    "claim": claim,
    "reply": replies,
    "click": clicks,
    "failover": failover,
    "nodes": nodes,
    "rest": rest,
    "capacity": capacity,
    "children": children,
    "workflows": workflows,
    "triggers": triggers,
    "cuts": cuts,
    "memory": memory,
    "long": long,
    "schedules": schedules,
    "guard": guard,
    "browser": browser,
    "page": tab,
    "recall": recall,
    "documents": documents,
    "injection": injection,
    "interceptors": interceptors,
    **CHANNELS,
}


@dataclass(frozen=True, slots=True)
class Found:
    """What one benchmark gave. `broke`: it did not come to its end."""

    name: str
    figures: Sequence[Figure] = ()
    broke: bool = False

    @property
    def missed(self) -> list[str]:
        return [figure.name for figure in self.figures if not figure.holds] + [f"all of {self.name}"] * self.broke


def measure(names: Sequence[str], *, short: bool) -> list[Found]:
    if not short:
        return [_one(name, short=False) for name in names]
    # Nothing is judged, so none needs the machine to itself; and what they and their programs load is loaded once.
    program.fork_them()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(_one, short=True), names))


def _one(name: str, *, short: bool) -> Found:
    print(f"measuring {name} …", file=sys.stderr)
    try:
        return Found(name, asyncio.run(BENCHES[name](short)))
    except Exception:  # noqa: BLE001 - whatever it was, minutes of the others' figures are still printed
        traceback.print_exc()
        return Found(name, broke=True)
