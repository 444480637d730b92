"""Stands for podman or docker as a program: knows the words that ours may say, refuses each other one, and runs commands.

A container is a file in `containers/` beside it, with the process that works as it. What it was called with is in `calls`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

BARE: Final = {"--rm", "--read-only", "--no-healthcheck"}
PODMAN_BARE: Final = {"--http-proxy=false", "--read-only-tmpfs=false", "--systemd=false", "--no-hosts"}
VALUED: Final = {
    "--pull": "never",
    "--log-driver": "none",
    "--network": "none",
    "--hostname": "sandbox",
    "--cap-drop": "all",
    "--security-opt": "no-new-privileges",
    "--memory": "512m",
    "--memory-swap": "512m",
    "--cpus": "1",
    "--pids-limit": "100",
    "--oom-score-adj": "900",
    "--workdir": "/workspace",
    "--env": "HOME=/workspace",
    "--label": "signalbox=tool",
    "--entrypoint": "/bin/sh",
}
FREE: Final = {"--name", "--ulimit", "--user", "--mount", "--tmpfs"}
PODMAN_FREE: Final = {"--timeout", "--userns"}
BOUNDS: Final = {"podman": "v2 false [cpuset cpu io memory pids]", "docker": "true true true"}
IMAGE: Final = "here:1"


def stand_in(folder: Path, kind: str) -> Path:
    """A program `kind` that is this one; its containers and calls are beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / kind
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {__file__} "$0" "$@"\n')
    program.chmod(0o755)
    return program


def main(place: Path, words: list[str]) -> int:
    with (place.parent / "calls").open("a") as calls:
        calls.write(" ".join(words).replace("\n", " ") + f" | {' '.join(sorted(os.environ))}\n")
    match words:
        case ["info", "--format", _]:
            told = place.parent / "bounds"
            print(told.read_text() if told.exists() else BOUNDS[place.name])  # noqa: T201
            return 0
        case ["image", "inspect", "--format", _, image]:
            return 0 if image == IMAGE else 125
        case ["run", *rest]:
            return _run(place, rest)
        case ["rm", "--force", *rest]:
            return _remove(place, rest)
        case _:
            return _wrong(f"unknown command {words[:1]}")


def _run(place: Path, rest: list[str]) -> int:
    free: dict[str, list[str]] = {}
    is_podman, seen = place.name == "podman", set()
    while rest and rest[0].startswith("--"):
        word = rest.pop(0)
        seen.add(word)
        if word in BARE or (is_podman and word in PODMAN_BARE):
            continue
        value = rest.pop(0)
        if word in FREE or (is_podman and word in PODMAN_FREE):
            free.setdefault(word, []).append(value)
        elif VALUED.get(word) != value:
            return _wrong(f"{word} {value}")
    missing = (BARE | VALUED.keys() | FREE | (PODMAN_BARE | {"--timeout"} if is_podman else set())) - seen
    if missing or len(free["--mount"]) != 1 or len(free["--tmpfs"]) != 1 or free["--user"][0].startswith("0:"):
        return _wrong(f"missing {missing}, or too much of {free}")
    image, minus_c, command = rest
    if minus_c != "-c" or image != IMAGE:
        return _wrong(f"{image}: image not known")
    return _work(place, free["--name"][0], free["--mount"][0], command)


def _work(place: Path, name: str, mount: str, command: str) -> int:
    kind, source, target = (part.partition("=")[2] for part in mount.split(","))
    if kind != "bind" or target != "/workspace":
        return _wrong(mount)
    box = place.parent / "containers" / name
    box.parent.mkdir(exist_ok=True)
    # Of a session of its own, as the real ones are: killing the program that was started doesn't end it.
    work = subprocess.Popen(["/bin/sh", "-c", command], cwd=source, start_new_session=True)
    box.write_text(str(work.pid))
    code = work.wait()
    box.unlink(missing_ok=True)
    return code if code >= 0 else 128 - code


def _remove(place: Path, rest: list[str]) -> int:
    if place.name == "podman" and rest[:2] != ["--time", "0"]:
        return _wrong("rm would wait")
    if (place.parent / "away").exists():
        return _wrong("the service is away")
    name = rest[-1]
    box = place.parent / "containers" / name
    if not box.exists():
        return _wrong(f"no such container {name}")
    os.killpg(int(box.read_text()), signal.SIGKILL)
    box.unlink(missing_ok=True)
    return 0


def _wrong(words: str) -> int:
    sys.stderr.write(f"Error: {words}\n")
    return 125


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
