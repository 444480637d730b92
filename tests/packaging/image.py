"""The image of the Dockerfile, made in a folder: its own steps are run where that needs neither an engine nor root."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.packaging.dockerfile import Dockerfile, ignored
from tests.packaging.environment import ROOT, bare, lend, run

FILE = Dockerfile(ROOT / "Dockerfile")
IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]


@dataclass(frozen=True)
class Image:
    """`root` has the folders that a container would have."""

    root: Path

    def moved(self, text: str) -> str:
        for place in ("/opt/signalbox", "/data", "/run/secrets", "/etc"):
            text = text.replace(place, f"{self.root}{place}")
        return text

    def variables(self, **more: str) -> dict[str, str]:
        """Those of a container, with any free port."""
        own = {name: self.moved(value.replace("$PATH", os.defpath)) for name, value in FILE.variables().items()}
        return {"HOME": str(self.data), "SIGNALBOX_WEB__PORT": "0"} | own | more

    @property
    def data(self) -> Path:
        return self.root / "data"

    def command(self, *instead: str) -> list[str]:
        """What a container runs, or would run with `instead` after the name of the image."""
        program, *rest = FILE.command()
        return [str(self.root / "opt" / "signalbox" / "bin" / program), *(instead or rest)]

    def call(self, *instead: str) -> subprocess.CompletedProcess[str]:
        return run(*self.command(*instead), folder=self.data, variables=self.variables())

    def is_well(self) -> bool:
        program, *rest = FILE.check()
        path = self.root / "opt" / "signalbox" / "bin" / program
        return run(path, *rest, folder=self.data, variables=self.variables()).returncode == 0


def make(folder: Path) -> Image:
    """Copies, then RUN after RUN of the first stage, with the locked packages lent instead of fetched."""
    image = Image(folder / "root")
    for place in ("opt", "data", "run/secrets", "etc"):
        (image.root / place).mkdir(parents=True)
    for step in FILE.steps:
        if step.stage == 1 and step.name == "COPY":
            _copy(step.words(), folder)
        elif step.stage == 1 and step.name == "RUN":
            command = image.moved(step.text)
            ended = run("/bin/sh", "-c", command, folder=folder, variables=bare(folder))
            assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
            if "-m venv" in command:
                lend(image.root / "opt" / "signalbox")
    return image


def _copy(words: list[str], folder: Path) -> None:
    *sources, target = words
    for source in sources:
        for file in _files(ROOT / source):
            name = str(file.relative_to(ROOT))
            if not ignored(name, IGNORED):
                place = folder / target / file.relative_to(ROOT / source if (ROOT / source).is_dir() else ROOT)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)


def _files(source: Path) -> list[Path]:
    return [path for path in source.rglob("*") if path.is_file()] if source.is_dir() else [source]
