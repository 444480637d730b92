"""Executor of an agent: a language model, a program, or a file of answers. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final


class ExecutorKind(StrEnum):
    MODEL = "model"
    SUBPROCESS = "subprocess"
    STUB = "stub"


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """A program with its bounds, or the file of a stub. `timeout`: how long a program may give no sign while it works.

    `processes` are those that may work at once. Without `sandboxed` it reaches whatever its user does.
    """

    kind: ExecutorKind = ExecutorKind.MODEL
    command: tuple[str, ...] = ()
    answers: Path | None = field(default=None, repr=False)
    processes: int = 1
    timeout: timedelta = timedelta(minutes=2)
    network: bool = False
    sandboxed: bool = True
    env: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)


BY_MODEL: Final = Executor()
