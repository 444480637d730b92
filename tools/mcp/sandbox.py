"""A server in bubblewrap: it reads the machine but what is ours, writes where it lives, and sees its own processes alone.

Not as narrow as the sandbox of the shell tool: a server is a program that the operator chose, whose libraries may be
anywhere, and which mostly speaks to systems elsewhere. What it must not have is what Signalbox holds.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from tools.kit.process import Ended
from tools.mcp.errors import NoServer
from tools.mcp.terms import Program, SandboxTerms
from tools.sandbox.bubblewrap import FILTER_TEST, SEALED, Bwrap, filtered, find, first_sealed, obstacle, own_memory
from tools.sandbox.launcher import WORKSPACE, Order
from tools.sandbox.sandbox import launch
from tools.sandbox.seccomp import call_filter

SCRATCH_BYTES: Final = 256 << 20  # bytes, of each file system in memory
SANDBOX_TRIAL_TIMEOUT: Final = timedelta(seconds=10)
LIMITS: Final = {"CORE": 0}  # what it holds in memory may be secret
TEMPORARY: Final = Path("/tmp")  # noqa: S108 - a folder of its own lies over it
RUN: Final = Path("/run")
"""Sockets of services (of Docker, of the user's session) and what containers are handed as secrets: none of it stays."""
FOLDERS_KEPT: Final = (
    "/run/current-system",
    "/run/systemd/resolve",
)  # where NixOS has its programs; where names are looked up
ENTRIES: Final = 20  # of each hidden folder, which the test looks for
OUTER: Final = (
    'Where a container is the boundary already, or where it may read all that its user may, set sandbox = "external" in '
    "its [[mcp]]"
)
# Each line is one promise, told from inside: the home, whether there is a network, and what must not be there.
SELF_TEST: Final = f"""
home=$1 network=$2; shift 2
for place in / /usr /etc /proc /dev; do
    if (echo x > $place/.signalbox) 2>/dev/null; then echo "$place can be written"; exit 11; fi
done
[ $$ -lt 20 ] || {{ echo "processes of others are there"; exit 12; }}
for secret in "$@"; do
    if [ -d "$secret" ] || [ -s "$secret" ]; then echo "$secret is there"; exit 13; fi
done
[ "$network" = open ] || {{ read -r _; read -r _; while read -r device _; do
    case $device in lo:*) ;; *) echo "the network device $device is there"; exit 14 ;; esac
done; }} < /proc/net/dev
{FILTER_TEST}
echo {SEALED} > "$home/proof" || {{ echo "its folder cannot be written"; exit 15; }}
cat "$home/proof"
"""


def home_of(program: Program) -> str:
    """Path at which the server finds its own folder. Another user could not reach it below ours."""
    return WORKSPACE if _is_viewed(program) else str(program.folder.resolve())


async def order_for(program: Program, *, candidates: Sequence[Bwrap] | None = None) -> Order:
    """Order that becomes the server, without its environment. Tested anew for each start: a mended system counts at once.

    Errors: NoServer when there is no such program, or no sandbox for it.
    """
    found = await asyncio.to_thread(_found, program)
    command = [found, *program.command[1:]]
    sandbox = program.sandbox
    if sandbox is None:
        return _order(program, command)
    return _inside(program, sandbox, await sandbox_of(program, sandbox, candidates), command)


async def sandbox_of(program: Program, sandbox: SandboxTerms, candidates: Sequence[Bwrap] | None = None) -> Bwrap:
    """The first bubblewrap whose walls stand. Errors: NoServer when there is none."""
    test = partial(_tested, program, sandbox)
    bwrap, reasons = await first_sealed(find() if candidates is None else candidates, test, _other(program))
    if bwrap is None:
        raise NoServer(f"it won't be started without a sandbox: {obstacle(reasons)} {OUTER}")
    return bwrap


def _found(program: Program) -> str:
    found = shutil.which(program.command[0], path=program.env.get("PATH", os.defpath))
    if found is None:
        raise NoServer(f"there is no program {program.command[0]!r} to be started, nor on its PATH")
    start = _start(program)
    if program.sandbox and start and any(_is_in(start, place) for place in hidden(program.sandbox)):
        raise NoServer(f"its cwd {start} is hidden from it, to protect Signalbox's files there; set another one")
    return found


async def _tested(program: Program, sandbox: SandboxTerms, bwrap: Bwrap, folder: Path) -> Ended:
    network = "open" if sandbox.network else "none"
    secrets = await asyncio.to_thread(lambda: list(_secrets(program, sandbox)))
    command = ["/bin/sh", "-c", SELF_TEST, "sh", home_of(program), network, *secrets]
    return await launch(_inside(program, sandbox, bwrap, command), folder, deadline=SANDBOX_TRIAL_TIMEOUT, limit=2000)


def _secrets(program: Program, sandbox: SandboxTerms) -> Iterator[str]:
    """Of what must not be there the files, and some of what the folders hold."""
    home = program.folder.resolve()
    for place in hidden(sandbox):
        entries = islice(sorted(place.iterdir()), ENTRIES) if place.is_dir() else [place]
        yield from (str(entry) for entry in entries if not _is_in(home, entry))


def unseen(program: Program, *, takes_cwd: bool = True) -> str:
    """A word on the first thing of its command that is here and not for it to be seen; empty where all is.

    `takes_cwd`: whether a setting says where the program starts.
    """
    sandbox, is_viewed = program.sandbox, _is_viewed(program)
    search = program.env.get("PATH", os.defpath)
    found = shutil.which(program.command[0], path=search) or program.command[0]
    readers = _interpreters(found, search)
    if gone := next((it for it in readers if not Path(it).exists()), ""):
        return f"its first line names {gone}, which is not there"
    words = [str(one) for it in program.command if (one := _meant(it, program))]
    named = [it for it in (found, *readers, *program.command[1:], *words) if it.startswith("/") and Path(it).exists()]
    for place in named:
        if sandbox is None:
            if is_viewed and any(path.is_relative_to(TEMPORARY) for path in (Path(place), Path(place).resolve())):
                return f"{place} is not there for the user it runs as: keep it elsewhere than below {TEMPORARY}"
        elif why := _why_unseen(place, program, sandbox):
            ways = "keep it elsewhere, set cwd to its folder, or" if takes_cwd else "keep it elsewhere, or set"
            return f'{place} is not in its sandbox ({why}): {ways} sandbox = "external"'
    if closed := next((it for it in named if _is_closed(it, program)), ""):
        return f"{closed} is closed to the user it runs as: keep it elsewhere"
    if words:
        return f"{words[0]} is not where it starts: name it by its whole path"
    return "" if os.access(found, os.X_OK) or not Path(found).is_file() else f"{found} may not be run: chmod +x"


def _meant(word: str, program: Program) -> Path | None:
    """The file that a relative word names from where Signalbox was started, and that the program, which starts elsewhere, doesn't find."""
    if not word or word.startswith(("/", "-")):
        return None
    try:
        here, there = Path(word).resolve(), (program.cwd or program.folder) / word
        return here if here.is_file() and not there.exists() and (os.sep in word or here.suffix) else None
    except OSError:  # too long for a name: it's code
        return None


def _interpreters(script: str | None, search: str) -> list[str]:
    """Programs that its first line names: also the one that `env` looks for, by its name if there is none."""
    try:
        with Path(script or "").open("rb") as file:
            head = file.readline(200)
    except (OSError, ValueError):
        return []
    words = head[2:].decode(errors="replace").split() if head.startswith(b"#!") else []
    named = words[:1]
    if named and Path(named[0]).name == "env":
        looked_for = (word for word in words[1:] if not word.startswith("-") and "=" not in word)
        named += [shutil.which(word, path=search) or word for word in islice(looked_for, 1)]
    return named


def _why_unseen(place: str, program: Program, sandbox: SandboxTerms) -> str:
    """A link counts with the file that it leads to: both must be there."""
    for path in (Path(place), Path(place).resolve()):
        if _is_unseen(path, program, sandbox):
            return "/tmp is empty in there" if path.is_relative_to(TEMPORARY) else "that place is hidden from it"  # noqa: S108
    return ""


def _is_closed(place: str, program: Program) -> bool:
    """True if the other user that it runs as may not go to a place, as to a Python in the home of ours."""
    user = _other(program)
    if user is None or _is_in(Path(place), program.folder.resolve()):
        return False
    folders = [parent.stat() for parent in Path(place).resolve().parents]
    return any(not one.st_mode & (0o100 if one.st_uid == user else 0o001) for one in folders)


def _is_unseen(path: Path, program: Program, sandbox: SandboxTerms) -> bool:
    start = _start(program)
    kept = [*map(Path, (*FOLDERS_KEPT, *installed())), program.folder.resolve(), *([start] if start else [])]
    if any(path.is_relative_to(hiding) for hiding in hidden(sandbox)):
        return not path.is_relative_to(program.folder.resolve())
    return any(path.is_relative_to(over) for over in (TEMPORARY, RUN)) and not any(map(path.is_relative_to, kept))


# ---------------------------------------------------------------------------------------------------------- orders


def _inside(program: Program, sandbox: SandboxTerms, bwrap: Bwrap, command: Sequence[str]) -> Order:
    viewed = _is_viewed(program)
    carry = bwrap.carried() if viewed else {}
    argv = [
        next(iter(carry), str(bwrap.program)),
        *filtered(),
        *arguments(program, sandbox, viewed=viewed),
        "--",
        *command,
    ]
    return _order(program, argv, carry, [str(place) for place in hidden(sandbox)] if viewed else [])


def _order(
    program: Program, argv: Sequence[str], carry: dict[str, str] | None = None, hide: Sequence[str] = ()
) -> Order:
    return Order(
        argv=list(argv),
        env={},
        limits=LIMITS,
        uid=_other(program),
        view=_is_viewed(program),
        carry=carry or {},
        hide=list(hide),
        files=[],
        calls=call_filter().hex() if program.sandbox else "",
    )


def arguments(program: Program, sandbox: SandboxTerms, *, viewed: bool) -> list[str]:
    """Arguments of bubblewrap, in its order: later mounts lie over earlier ones. Its working folder is the server's."""
    home = home_of(program)
    cwd = str(_start(program) or "")
    return [
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(() if sandbox.network else ("--unshare-net",)),
        *("--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
        *("--ro-bind", "/", "/"),
        # Read-only too: as root without its powers one could still turn the kernel's switches in /proc/sys.
        *("--proc", "/proc", "--remount-ro", "/proc"),
        *own_memory(SCRATCH_BYTES),
        *("--tmpfs", str(RUN)),
        *(word for place in (*FOLDERS_KEPT, *installed()) for word in ("--ro-bind-try", place, place)),
        *(("--bind", cwd, cwd) if cwd else ()),
        *(() if viewed else _hiding(hidden(sandbox))),  # after `cwd`, in which some of it may lie
        *("--bind", ".", home),
        *(() if viewed else _sealing(hidden(sandbox))),
        *("--remount-ro", str(RUN), "--chdir", cwd or home),
    ]


def installed() -> list[str]:
    """Folders of us and our libraries, if everybody's own files are hidden there: servers may be among them."""
    places = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, Path(__file__).parents[2])}
    return sorted(str(place) for place in places if any(place.is_relative_to(hiding) for hiding in (TEMPORARY, RUN)))


def _hiding(places: Sequence[Path]) -> Iterator[str]:
    for place in places:
        yield from ("--tmpfs", str(place)) if place.is_dir() else ("--ro-bind", "/dev/null", str(place))


def _sealing(places: Sequence[Path]) -> Iterator[str]:
    """Arguments that lay a file system in memory over what is hidden, with the server's own folder in it."""
    for place in places:
        if place.is_dir():
            yield from ("--remount-ro", str(place))


def hidden(sandbox: SandboxTerms) -> list[Path]:
    """The outermost of what is hidden and there, by its real path: bubblewrap mounts over no link."""
    places = sorted({place.resolve() for place in sandbox.hidden if place.exists()})
    return [place for place in places if not any(place != other and _is_in(place, other) for other in places)]


def _is_in(place: Path, folder: Path) -> bool:
    return place.resolve().is_relative_to(folder)


def _start(program: Program) -> Path | None:
    """Folder in which it starts, if that is not its own."""
    start = program.cwd.resolve() if program.cwd else None
    return None if start == program.folder.resolve() else start


def _other(program: Program) -> int | None:
    """The user id a server runs as if we are root; else None, for our own."""
    return program.uid if os.geteuid() == 0 else None


def _is_viewed(program: Program) -> bool:
    """True if its folder is handed over in a view of its own."""
    return _other(program) is not None and (program.sandbox is not None or program.cwd is None)
