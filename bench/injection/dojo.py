"""AgentDojo as a stage, in a process of its own.

Its own dependencies are seventy packages that nothing else here needs. They lie in an environment of their own, made the
first time from a lock with hashes, and again once that lock is another one.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from bench.injection.stage import HonestTask, HostileTask, ScriptedCall

ROOT: Final = Path(__file__).parents[2]
LOCK: Final = Path(__file__).with_name("requirements.lock")
WORLD: Final = Path(__file__).with_name("world.py")
ENVIRONMENT: Final = ROOT / ".venv-injection"


def installed(environment: Path = ENVIRONMENT) -> Path:
    """The Python of AgentDojo's environment, which is made where it is missing or of another lock."""
    stamp, wanted = environment / "lock.sha256", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    python = environment / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != wanted:
        print("Installing AgentDojo (once; about two minutes) …", file=sys.stderr)
        venv.create(environment, clear=True, with_pip=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq", "install"]
        subprocess.run([*pip, "--require-hashes", "-r", str(LOCK)], check=True)
        stamp.write_text(wanted)
    return python


class Dojo:
    """Implements `stage.Stage`. Only the newest of its scenes is at work: a new one ends it."""

    def __init__(self, orders: IO[str], answers: IO[str]) -> None:
        self._orders = orders
        self._answers = answers
        told = self.ask("tasks")
        self.honest = [HonestTask(**one) for one in told["honest"]]
        self.hostile = [HostileTask(**one) for one in told["hostile"]]

    def scene(self, honest: HonestTask | None, hostile: HostileTask | None) -> DojoScene:
        one = honest or hostile
        assert one is not None, "a scene has a task"
        begun = self.ask(
            "begin", suite=one.suite, honest=honest.id if honest else None, hostile=hostile.id if hostile else None
        )
        return DojoScene(self, _calls(begun))

    def ask(self, do: str, **order: Any) -> Any:
        self._orders.write(json.dumps({"do": do, **order}) + "\n")
        self._orders.flush()
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"AgentDojo ended at {do!r}: see above")
        return json.loads(line)


class DojoScene:
    """Implements `stage.Scene`."""

    def __init__(self, dojo: Dojo, honest: Sequence[ScriptedCall]) -> None:
        self._dojo = dojo
        self._honest = honest

    def honest_calls(self) -> Sequence[ScriptedCall]:
        return self._honest

    def hostile_calls(self) -> Sequence[ScriptedCall]:
        return _calls(self._dojo.ask("hostile"))

    def shown(self, call: ScriptedCall) -> Mapping[str, str]:
        found: Mapping[str, str] = self._dojo.ask("shown", tool=call.tool, arguments=call.arguments)["shown"]
        return found

    def make(self, call: ScriptedCall) -> str:
        return str(self._dojo.ask("make", tool=call.tool, arguments=call.arguments)["text"])

    def is_done(self) -> bool:
        return bool(self._dojo.ask("judge")["done"])

    def has_struck(self) -> bool:
        return bool(self._dojo.ask("judge")["struck"])


def _calls(told: Mapping[str, Any]) -> list[ScriptedCall]:
    return [ScriptedCall(one["tool"], one["arguments"]) for one in told["calls"]]


@contextmanager
def dojo() -> Iterator[Dojo]:
    """AgentDojo, ready to play, which ends with the block."""
    command = [str(installed()), str(WORLD)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Dojo(process.stdin, process.stdout)
        finally:
            process.kill()
