"""A Dockerfile and its .dockerignore, read as far as ours go."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class Step:
    """`stage` counts from 1; what stands before the first FROM has 0."""

    stage: int
    name: str
    text: str

    def words(self) -> list[str]:
        """Without flags."""
        return [word for word in shlex.split(self.text) if not word.startswith("--")]


class Dockerfile:
    def __init__(self, path: Path) -> None:
        self.steps = list(_steps(path.read_text()))

    def all(self, name: str, stage: int | None = None) -> list[Step]:
        return [step for step in self.steps if step.name == name and stage in (None, step.stage)]

    def last(self, name: str) -> str:
        return self.all(name)[-1].text

    def command(self) -> list[str]:
        """What a container runs."""
        return [str(word) for name in ("ENTRYPOINT", "CMD") for word in json.loads(self.last(name))]

    def check(self) -> list[str]:
        """What tells whether a container is well."""
        return [str(word) for word in json.loads(self.last("HEALTHCHECK").partition(" CMD ")[2])]

    def variables(self) -> dict[str, str]:
        return dict(word.split("=", 1) for step in self.all("ENV", stage=2) for word in step.words())


def ignored(path: str, patterns: list[str]) -> bool:
    """Whether `path`, from the folder of the Dockerfile on, stays out of the build. The last pattern that fits decides."""
    above = [str(part) for part in [PurePosixPath(path), *PurePosixPath(path).parents][:-1]]
    out = False
    for pattern in patterns:
        kept = pattern.startswith("!")
        if any(_fits(part, pattern.removeprefix("!")) for part in above):
            out = not kept
    return out


def _fits(path: str, pattern: str) -> bool:
    rest = pattern.removeprefix("**/")
    name = path.rsplit("/", 1)[-1] if rest != pattern else path
    return fnmatchcase(name, rest) and name.count("/") == rest.count("/")


def _steps(text: str) -> Iterator[Step]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", "")
    stage = 0
    for line in whole.split("\n"):
        name, _, rest = line.partition(" ")
        assert re.fullmatch("[A-Z]+", name), f"no instruction: {line}"
        stage += name == "FROM"
        yield Step(stage, name, rest.strip())
