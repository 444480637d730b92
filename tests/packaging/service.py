"""A command as a service manager starts it: with few variables, and until it is asked to leave."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from tests.packaging.environment import SPAN


@dataclass
class Service:
    process: subprocess.Popen[bytes]
    log: Path
    data: Path

    @property
    def url(self) -> str:
        return str(json.loads((self.data / "control.json").read_text())["url"])

    def until_ready(self) -> None:
        end = time.monotonic() + SPAN
        while not (self.data / "control.json").exists():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)

    def leave(self, by: int = signal.SIGTERM) -> int:
        """Ask it to; its exit code."""
        self.process.send_signal(by)
        return self.process.wait(SPAN)


@contextmanager
def serving(
    command: Sequence[str], *, folder: Path, data: Path, variables: Mapping[str, str], ready: bool = True
) -> Iterator[Service]:
    """`command` at work in `folder`; with `ready`, once its data folder says where it listens."""
    log = folder / "log"
    with log.open("ab") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=dict(variables), stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        service = Service(process, log, data)
        if ready:
            service.until_ready()
        yield service
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text()


def status(url: str) -> int:
    """What a GET is answered with, by no proxy."""
    with build_opener(ProxyHandler({})).open(url, timeout=SPAN) as answer:
        return int(answer.status)
