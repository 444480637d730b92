"""State of a service, asked of its process over HTTP."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from bot.node.lock import Control, control_of, holder
from bot.service.marks import mark_of, uptime

HEALTH_SECONDS: Final = 3.0
ANSWER_BYTES_MAX: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class ServiceState:
    """A service by now. `pid` is None where it doesn't run; `other` is a process on its data folder that isn't its own."""

    kind: str
    name: str
    log: str = ""
    pid: int | None = None
    up: timedelta | None = None
    url: str = ""
    health: str = ""
    reasons: Mapping[str, str] | None = None
    other: int | None = None
    note: str = ""

    @property
    def runs(self) -> bool:
        return self.pid is not None


@dataclass(frozen=True, slots=True)
class Health:
    """Words about the health of a process, and what isn't ready."""

    words: str
    reasons: Mapping[str, str]
    answers: bool


def health_of(control: Control) -> Health:
    """Ask a process whether it is alive and ready."""
    alive, _ = _asked(control.url, "/healthz")
    if alive is None:
        return Health(f"doesn't answer at {control.url}", {}, answers=False)
    ready, told = _asked(control.url, "/readyz")
    reasons = {str(name): str(why) for name, why in told.items() if name != "status" and why}
    if alive != http.client.OK:
        return Health("ending: the watchdog found it stuck", reasons, answers=True)
    return Health("ready" if ready == http.client.OK else "alive, but not ready", reasons, answers=True)


def running(data_dir: Path) -> Control | None:
    """Address of the process that owns the data folder, once it is ready; None where none is."""
    return control_of(data_dir)


def stands(kind: str, name: str, log: str, data_dir: Path, pid: int | None, note: str = "") -> ServiceState:
    """A service whose process is `pid`, with all that its process tells."""
    owner = holder(data_dir) or None
    if pid is None:
        return ServiceState(kind, name, log, other=owner, note=note)
    control = running(data_dir)
    mark = mark_of(pid)
    up = uptime(mark) if mark else None
    if control is None or control.pid != pid:
        other = owner if owner != pid else None
        return ServiceState(kind, name, log, pid, up, health="starting", other=other, note=note)
    health = health_of(control)
    return ServiceState(kind, name, log, pid, up, control.url, health.words, health.reasons, note=note)


def _asked(url: str, path: str) -> tuple[int | None, Mapping[str, Any]]:
    """Status and JSON of an answer; no status where there was none."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=HEALTH_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        raw = answer.read(ANSWER_BYTES_MAX)
    except (OSError, http.client.HTTPException):
        return None, {}
    finally:
        connection.close()
    with suppress(ValueError):
        told = json.loads(raw)
        return answer.status, told if isinstance(told, dict) else {}
    return answer.status, {}
