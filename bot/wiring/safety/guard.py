"""The leak guard of a process: its values, its key, and the record of what it found."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import structlog

from bot.secrets.disk import alone_in, in_words
from bot.secrets.disk import replace as replace_file
from bot.settings.safety.guard import Guardrails
from bot.settings.settings import Settings
from bot.wiring.safety.kept import KeptValues
from runtime.context.watch import LoopWatch
from runtime.contract import Address
from runtime.errors import StoreError
from runtime.guard.door import Door, Told, told_nobody
from runtime.guard.findings import Detector, Finding, Gate, Strictness
from runtime.guard.guard import Guard, GuardRules
from runtime.guard.held import Held
from runtime.guard.kept import Kept
from runtime.guard.sealing import KEY_BYTES, Sealer
from runtime.store.protocol import Cluster
from runtime.text.words import say_many

log = structlog.get_logger("guard")

KEY_FILE: Final = "guard.key"
WAITING_MOST: Final = 1_000
"""Findings that wait to be recorded; of more the oldest are only in the log and in the metrics."""


def guard_of(settings: Settings, key: bytes, kept: Iterable[Kept] = ()) -> Guard:
    """`kept` are values of earlier starts."""
    if settings.guardrails is Guardrails.OFF:
        return Guard(GuardRules(dict.fromkeys(Detector, Strictness.OFF), key=key))
    rules = rules_of(settings, key)
    held = Held([*((one.name, one.value) for one in kept), *settings.chain.unasked(), *settings.held_values()])
    return Guard(enforcing(rules) if settings.guardrails is Guardrails.ENFORCED else rules, held)


def rules_of(settings: Settings, key: bytes) -> GuardRules:
    own = tuple(rule.rule for rule in settings.guard_rules)
    rooms = tuple((room.address, room.guarded) for room in settings.rooms if room.guarded)
    return GuardRules(settings.guard.strictness, rooms, own, key)


def enforcing(rules: GuardRules) -> GuardRules:
    """`rules` with each that is on enforced, and secrets in any case."""
    sure = dict.fromkeys((Detector.HELD, Detector.SHAPE), Strictness.ENFORCE)
    return replace(
        rules,
        strictness=_enforced(rules.strictness) | sure,
        rooms=tuple((glob, _enforced(strictness)) for glob, strictness in rules.rooms),
        own=tuple(replace(rule, action=_tightened(rule.action)) for rule in rules.own),
    )


def _enforced(strictness: Mapping[Detector, Strictness]) -> dict[Detector, Strictness]:
    return {detector: _tightened(action) for detector, action in strictness.items()}


def _tightened(action: Strictness) -> Strictness:
    return Strictness.OFF if action is Strictness.OFF else Strictness.ENFORCE


STARTED_WORDS: Final[Mapping[Guardrails, str]] = {
    Guardrails.OFF: "started without guardrails",
    Guardrails.ENFORCED: "started with all guardrails enforced",
}


async def note_start(settings: Settings, store: Cluster) -> None:
    """Tell log and audit of a start that overrides the guard; nobody knows whose it was. Errors: StoreError."""
    if detail := STARTED_WORDS.get(settings.guardrails):
        log.warning(detail)
        await store.note_fact("leak guard", "", "process", detail)


def door_of(settings: Settings, named: Callable[[Address], str], told: Told = told_nobody) -> Door:
    key = key_of(settings.data_dir)
    kept = KeptValues(settings.data_dir, key).remember(settings.held_values(), settings.sealed_values())
    return Door(guard_of(settings, key, kept), named=named, told=told, sealer=Sealer(key))


def scan_door_of(settings: Settings, named: Callable[[Address], str], own: Door) -> Door:
    """For rows that are stored: as the settings say, where `own`, the door of this process, is overridden by a flag."""
    if settings.guardrails is Guardrails.AS_SET:
        return own
    return door_of(settings.guarded_by(Guardrails.AS_SET), named)


def key_of(folder: Path) -> bytes:
    """The key of this data folder, made by the first process that needs it. Errors: StoreError."""
    path = folder / KEY_FILE
    with in_words(path):
        with suppress(FileNotFoundError):
            return path.read_bytes()
        with alone_in(folder):  # of two processes that make one the first wins
            if not path.exists():
                replace_file(path, os.urandom(KEY_BYTES))
        return path.read_bytes()


@dataclass(slots=True)
class GuardBook:
    """Counts findings as they come, and records them beside the work: no message waits for that."""

    store: Cluster
    watch: LoopWatch
    findings: int = 0
    """Since this process began."""
    waiting: deque[tuple[Gate, str, Finding]] = field(default_factory=lambda: deque(maxlen=WAITING_MOST))
    rung: asyncio.Event = field(default_factory=asyncio.Event)

    def told(self, gate: Gate, room: str, finding: Finding) -> None:
        self.watch.guarded(gate.value, finding.detector.value, finding.action.value)
        log.warning("guard", gate=gate.value, room=room, found=str(finding), action=finding.action.value)
        if finding.detector is not Detector.ENTROPY or finding.action is not Strictness.WARN:
            self.findings += 1
            self.waiting.append((gate, room, finding))
            self.rung.set()

    def words(self) -> str:
        """For the console."""
        return say_many(
            "{number} finding since this process started",
            "{number} findings since this process started",
            self.findings,
        )

    async def run(self) -> None:
        """Record for ever."""
        while True:
            await self.rung.wait()
            self.rung.clear()
            try:
                await self.record()
            except StoreError as error:  # the next finding tries again
                log.debug("findings are not recorded yet", reason=str(error), waiting=len(self.waiting))

    async def record(self) -> None:
        """Errors: StoreError; what is not recorded waits on."""
        while self.waiting:
            oldest = gate, room, finding = self.waiting[0]
            detail = f"{finding} at {gate.value}, {finding.action.value}"
            await self.store.note_fact("leak guard", "", room, detail)
            if self.waiting[0] is oldest:  # of too many it gave way meanwhile
                self.waiting.popleft()
