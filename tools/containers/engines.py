"""Programs that run containers, docker and podman, and the words in which each is told what we want."""

from __future__ import annotations

import os
import pwd
import resource
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal

from runtime.errors import ToolFailed
from tools.sandbox.sandbox import OPEN_FILES, PATH

CONTAINER_HOME: Final = "/workspace"
CONTAINER_TMP_MIB: Final = 64
"""Of memory, for /tmp; it counts as the container's own."""
USER_PROCESSES_MOST: Final = 4096
"""The kernel counts these by user, on the whole machine for docker and for root; a container's own are counted by `--pids-limit`."""
END_GRACE: Final = timedelta(seconds=15)
"""After a command's time, until podman ends the container by itself: we may have been killed."""
OOM_ADJUST: Final = "900"  # of 1000: a container goes before Signalbox or its database
Kind = Literal["docker", "podman"]


@dataclass(frozen=True, slots=True)
class ContainerTerms:
    """Settings for containers. `program` is a name or a path, empty for whichever is there; `runtime` is its OCI runtime.

    `uid` is the user as whom commands run where this process is root. `kept` is a folder for names of what runs.
    """

    images: tuple[str, ...]
    kept: Path
    program: str = ""
    runtime: str = ""
    uid: int = 65534
    memory_mib: int = 512
    cpus: float = 1
    processes: int = 100
    file_mib: int = 256
    timeout: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that was found, and whom its containers run as. `rootless`: its containers belong to an ordinary user."""

    path: str
    kind: Kind
    uid: int
    gid: int
    rootless: bool


def engine_of(terms: ContainerTerms) -> Engine:
    """The program of the settings. Errors: ToolFailed says that there is none, or that commands would run as root."""
    is_root = os.geteuid() == 0
    uid, gid = (terms.uid, terms.uid) if is_root else (os.geteuid(), os.getegid())
    if uid == 0:
        raise ToolFailed(
            "Containers are off: [tools.shell] uid is 0, and commands are never run as root. Set another uid."
        )
    for name in [terms.program] if terms.program else ["podman", "docker"]:
        if path := shutil.which(name):
            return Engine(path, "podman" if "podman" in Path(path).name else "docker", uid, gid, not is_root)
    missing = f"{terms.program} is not" if terms.program else "neither podman nor docker is"
    raise ToolFailed(f"Containers are off: {missing} installed. Install one, or set [tools.containers] program.")


def environment(engine: Engine) -> dict[str, str]:
    """All that the program is told of ours: no key, no proxy and no login that containers could be handed."""
    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        home = "/"
    given = {"PATH": PATH, "HOME": home, "LANG": "C.UTF-8"}
    if engine.kind == "docker":
        return given | {"DOCKER_CONFIG": "/nonexistent"}  # docker hands containers the proxies that stand there
    runtime_dir = f"/run/user/{os.geteuid()}"
    return given | ({"XDG_RUNTIME_DIR": runtime_dir} if engine.rootless and Path(runtime_dir).is_dir() else {})


def start_argv(
    engine: Engine, terms: ContainerTerms, *, name: str, image: str, command: str, workspace: Path, writes: int
) -> list[str]:
    """Arguments that run `command` in a new container. Errors: ToolFailed for a folder that can't be named in them."""
    if any(letter in str(workspace) for letter in ',"\n'):
        raise ToolFailed("The folder of this room can't be mounted: its path has a comma or a quote in it.")
    return [
        *globals_of(engine, terms),
        *("run", "--rm", "--name", name, "--pull", "never", "--label", "signalbox=tool", "--log-driver", "none"),
        *(("--runtime", terms.runtime) if terms.runtime and engine.kind == "docker" else ()),
        *("--network", "none", "--hostname", "sandbox", "--no-healthcheck"),
        *("--memory", f"{terms.memory_mib}m", "--memory-swap", f"{terms.memory_mib}m"),
        *("--cpus", f"{terms.cpus:g}", "--pids-limit", str(terms.processes), "--oom-score-adj", OOM_ADJUST),
        *_ulimits(writes),
        *("--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"),
        *("--user", f"{engine.uid}:{engine.gid}"),
        *(_podman(engine, terms) if engine.kind == "podman" else ()),
        *("--mount", f"type=bind,source={workspace},target={CONTAINER_HOME}"),
        *("--tmpfs", ",".join([f"/tmp:rw,nosuid,nodev,mode=1777,size={CONTAINER_TMP_MIB}m", *_fresh(engine)])),  # noqa: S108 - inside
        *("--env", f"HOME={CONTAINER_HOME}", "--workdir", CONTAINER_HOME),
        *("--entrypoint", "/bin/sh", image, "-c", command),
    ]


def end_argv(engine: Engine, terms: ContainerTerms, name: str) -> list[str]:
    """Arguments that kill a container at once, and remove it."""
    wait = ("--time", "0") if engine.kind == "podman" else ()
    return [*globals_of(engine, terms), "rm", "--force", *wait, name]


def globals_of(engine: Engine, terms: ContainerTerms) -> list[str]:
    """The program, and what it is told before any command."""
    return [engine.path, *(("--runtime", terms.runtime) if terms.runtime and engine.kind == "podman" else ())]


def bounds_argv(engine: Engine, terms: ContainerTerms) -> list[str]:
    """Arguments that tell whether it can bound containers: see `unbounded`."""
    asked = (
        "{{.Host.CgroupsVersion}} {{.Host.Security.Rootless}} {{.Host.CgroupControllers}}"
        if engine.kind == "podman"
        else "{{.MemoryLimit}} {{.PidsLimit}} {{.CPUCfsQuota}}"
    )
    return [*globals_of(engine, terms), "info", "--format", asked]


def unbounded(engine: Engine, told: str) -> str:
    """The bound that it can't set, by its answer; empty where it can set all.

    >>> unbounded(Engine("/usr/bin/docker", "docker", 1, 1, False), "true false true")
    'the number of processes'
    """
    words = told.replace("[", " ").replace("]", " ").split()
    if engine.kind == "docker":
        names = ("memory", "the number of processes", "processor time")
        return ", ".join(name for name, can in zip(names, (*words, "", "", ""), strict=False) if can != "true")
    version, rootless, *controllers = (*words, "", "")
    if version == "v2" and not {"cpu", "memory", "pids"}.issubset(controllers):
        return "memory, processes or processor time: cgroup controllers aren't delegated to this user"
    if version != "v2" and rootless != "false":  # podman leaves limits out there, and says nothing
        return "memory, processes and processor time: an ordinary user needs cgroup v2"
    return ""


def _ulimits(writes: int) -> Iterable[str]:
    """Limits of each process. A hard limit of ours stays, since not everybody may raise one."""
    wanted = (
        ("nofile", resource.RLIMIT_NOFILE, OPEN_FILES),
        ("nproc", resource.RLIMIT_NPROC, USER_PROCESSES_MOST),
        ("fsize", resource.RLIMIT_FSIZE, writes),
        ("core", resource.RLIMIT_CORE, 0),
    )
    for name, kind, most in wanted:
        hard = resource.getrlimit(kind)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        yield from ("--ulimit", f"{name}={bound}:{bound}")


def _fresh(engine: Engine) -> Iterable[str]:
    """podman gives a /tmp the contents and the owner of the image's."""
    if engine.kind == "podman":
        yield "notmpcopyup"


def _podman(engine: Engine, terms: ContainerTerms) -> Iterable[str]:
    """Things that docker has no word for: it does none of them by itself."""
    yield from ("--http-proxy=false", "--read-only-tmpfs=false", "--systemd=false", "--no-hosts")
    yield from ("--timeout", f"{(terms.timeout + END_GRACE).total_seconds():.0f}")
    if engine.rootless:
        yield from ("--userns", "keep-id")  # the files of the workspace are ours, and stay ours
