"""A workspace within a folder that no tool may touch, and somebody who turns names in it into ways out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.security import swapper

SECRET: Final = "only outside"
HIDDEN_NAME: Final = "name-only-outside"
INSIDE: Final = "inside"
PLACES: Final = ("dir", "dir/sub", "uploads")
"""Folders of the workspace. Each has the file `x`, and so has what lies at the same path outside."""


@dataclass(frozen=True)
class Scene:
    """`outside` holds the workspace too, so that a link to `..` leads there. `arriving` is on the same disk."""

    outside: Path

    @property
    def workspace(self) -> Path:
        return self.outside / "workspace"

    @property
    def arriving(self) -> Path:
        return self.outside.parent / "arriving"

    def state(self) -> list[tuple[object, ...]]:
        """All that a write, a removal or a change of owner would change outside."""
        found = []
        for folder in ("", "sub"):
            with os.scandir(self.outside / folder) as entries:
                found += [_about(entry) for entry in entries if entry.name != "workspace"]
        return sorted(found, key=str)

    def orders(self, flavour: str) -> list[dict[str, Any]]:
        """Swaps of one kind, as `swapper` takes them."""
        over = {"a file": _ways_out(self.outside / "x"), "hard links": [("hard link", str(self.outside / "x"))]}
        folders = {"a folder": ["dir"], "an inner folder": ["dir/sub"], "uploads": ["uploads"], "all at once": PLACES}
        orders = [self._order(place) for place in folders.get(flavour, ())]
        for place in PLACES if flavour in over else PLACES[:2] if flavour == "all at once" else ():
            kinds = over.get(flavour, over["a file"])
            orders.append({"folder": str(self.workspace / place), "name": "x", "beside": [".folder"], "over": kinds})
        return orders

    def _order(self, place: str) -> dict[str, Any]:
        path = self.workspace / place
        beside = [f".{kind}-{path.name}" for kind in _KINDS]
        return {"folder": str(path.parent), "name": path.name, "beside": beside, "over": []}


_KINDS: Final = ("out", "up", "root", "file", "fifo", "dangling")
FLAVOURS: Final = ("a folder", "an inner folder", "a file", "hard links", "uploads", "all at once")


def _about(entry: os.DirEntry[str]) -> tuple[object, ...]:
    about = entry.stat(follow_symlinks=False)
    return entry.path, about.st_ino, about.st_size, about.st_mtime_ns, about.st_uid, about.st_mode


def _ways_out(file: Path) -> list[tuple[str, str]]:
    links = [str(file), f"/proc/self/root{file}", str(file.with_name("made")), "/dev/zero"]
    return [*(("link", target) for target in links), ("fifo", "")]


def made(folder: Path) -> Scene:
    """The same names outside and inside, so that any link leads to something."""
    scene = Scene(folder / "outside")
    (scene.outside / "sub").mkdir(parents=True)
    scene.arriving.mkdir()
    for place in ("", "sub"):
        (scene.outside / place / "x").write_text(SECRET)
        (scene.outside / place / HIDDEN_NAME).touch()
        (scene.outside / place / ".upload-old").touch()
    for place in PLACES:
        (scene.workspace / place).mkdir(parents=True)
        (scene.workspace / place / "x").write_text(INSIDE)
        (scene.workspace / place / ".folder").mkdir()
        _beside(scene, scene.workspace / place)
    return scene


def _beside(scene: Scene, path: Path) -> None:
    out, up, root, file, fifo, dangling = (path.with_name(f".{kind}-{path.name}") for kind in _KINDS)
    out.symlink_to(scene.outside)
    up.symlink_to("/".join([".."] * len(path.relative_to(scene.workspace).parts)))
    root.symlink_to(f"/proc/self/root{scene.outside}")
    file.write_text(INSIDE)
    os.mkfifo(fifo)
    dangling.symlink_to(scene.outside / "made")


@contextmanager
def swapping(orders: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Another process at work on it, since threads of one would wait for each other."""
    command = [sys.executable, "-I", "-S", swapper.__file__, json.dumps(orders)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield
            assert process.poll() is None, "it ended before the tries did"
        finally:
            process.kill()
