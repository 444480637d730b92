"""Takes limits on, steps down from root and becomes another program; run as a program of its own by `sandbox`.

It stands between us and the sandbox because these steps belong after the fork and before the exec, where code in a
threaded server must not run, and because the user it steps down to may reach neither this interpreter nor the
bubblewrap beside it: both are already open by then. Imports the standard library only.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Final, NotRequired, TypedDict

EXIT_NOT_RUN: Final = 125  # exit code: nothing was run
FIRST_FILE: Final = 10  # the descriptors of Order.files count from here
CALLS_FILE: Final = 20  # the descriptor of Order.calls
VIEW: Final = "/tmp"  # noqa: S108 - a place every system has; hidden in our own namespace only, and fresh each time
WORKSPACE: Final = f"{VIEW}/workspace"

CLONE_NEWNS: Final = 0x20000  # <linux/sched.h>
MS_RDONLY: Final = 1  # <linux/mount.h>
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_SLAVE: Final = 0x80000
OOM_SCORE: Final = "900"  # of 1000; proc_pid_oom_score_adj(5): anybody may raise their own
PR_SET_PDEATHSIG: Final = 1  # <linux/prctl.h>


class Order(TypedDict):
    """Order to become a program. The working folder at start is the workspace.

    `limits` are by name (`AS`, `CPU`, …). `uid` is who to step down to, or None to stay. `view` asks for a mount
    namespace in which the workspace is at WORKSPACE, the files of `carry` (destination below VIEW: source) can be
    read by everyone, and those files and folders of `hide` that are there are empty. `files` are texts to leave open for
    reading, from FIRST_FILE on. `calls`, unless empty, is what bubblewrap's --seccomp reads at CALLS_FILE, in hex. `inherit`
    names variables of ours to hand on beside `env`: an argument list can be read by everybody on the machine. `lent` names
    variables whose texts are left open behind `files`, and not handed on.
    """

    argv: list[str]
    env: dict[str, str]
    limits: dict[str, int]
    uid: int | None
    view: bool
    carry: dict[str, str]
    hide: list[str]
    files: list[str]
    calls: str
    inherit: NotRequired[list[str]]
    lent: NotRequired[list[str]]


def become(order: Order) -> None:
    """Never returns. Errors: OSError says which step the system refused."""
    import ctypes  # noqa: F401 - for `_call`, while we can still reach it: whom we become may not read the folder of Python

    _first_to_go()
    os.umask(0o022)  # ours keeps others out, and a command runs as another user
    if order["view"]:
        _private_view(order["carry"], order["hide"])
    for name, limit in order["limits"].items():  # after the view, whose own files are no command's
        _limit(getattr(resource, f"RLIMIT_{name}"), limit)
    if order["uid"] is not None:
        _step_down(order["uid"])
    if sys.platform == "linux":  # die with who started us, also when that one is killed
        _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    lent = [os.getenv(name, "") for name in order.get("lent", [])]
    for descriptor, text in enumerate([*order["files"], *lent], start=FIRST_FILE):
        _leave_open(descriptor, text.encode())
    if order["calls"]:
        _leave_open(CALLS_FILE, bytes.fromhex(order["calls"]))
    # Python ignores these two, and an ignored signal stays ignored over exec: `yes | head` would complain.
    for quiet in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(quiet, signal.SIG_DFL)
    inherited = {name: os.getenv(name, "") for name in order.get("inherit", [])}
    os.execve(order["argv"][0], order["argv"], {**order["env"], **inherited})  # noqa: S606 - the shell is what we become


def _first_to_go() -> None:
    """Make the kernel kill a tool before Signalbox or its database when memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
            score.write(OOM_SCORE)
    except OSError:  # no Linux, or a /proc that is read-only
        return


def _limit(kind: int, limit: int) -> None:
    _, hard = resource.getrlimit(kind)
    bound = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    # At its soft limit of processor time a process gets SIGXCPU, which names the reason; at the hard one SIGKILL.
    grace = 1 if kind == resource.RLIMIT_CPU and bound != hard else 0
    resource.setrlimit(kind, (bound, bound + grace))


def _private_view(carry: dict[str, str], hide: list[str]) -> None:
    # Read before the mount below hides where they may be.
    contents = {destination: _read(source) for destination, source in carry.items()}
    _call("unshare", CLONE_NEWNS)
    _call("mount", None, b"/", None, MS_REC | MS_SLAVE, None)  # nothing we mount is seen outside
    _call("mount", b"none", VIEW.encode(), b"tmpfs", 0, b"mode=755")
    for destination, content in contents.items():
        os.makedirs(os.path.dirname(destination), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib would cost the start
        with open(destination, "wb") as file:  # noqa: PTH123
            file.write(content)
            os.fchmod(file.fileno(), 0o755)
    os.mkdir(WORKSPACE)  # noqa: PTH102
    _call("mount", b".", WORKSPACE.encode(), None, MS_BIND, None)
    os.chdir(WORKSPACE)
    for place in hide:
        _hide(place)


def _hide(place: str) -> None:
    if os.path.isdir(place):  # noqa: PTH112 - pathlib would cost the start
        _call("mount", b"none", os.fsencode(place), b"tmpfs", MS_RDONLY, b"mode=755")
    elif os.path.exists(place):  # noqa: PTH110
        _call("mount", b"/dev/null", os.fsencode(place), None, MS_BIND, None)


def _read(source: str) -> bytes:
    with open(source, "rb") as file:  # noqa: PTH123
        return file.read()


def _step_down(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _leave_open(descriptor: int, content: bytes) -> None:
    memory = os.memfd_create("file")
    os.write(memory, content)
    os.lseek(memory, 0, os.SEEK_SET)
    os.dup2(memory, descriptor, inheritable=True)
    os.close(memory)


def _call(name: str, *arguments: object) -> None:
    """Call a function of the C library that Python lacks."""
    import ctypes  # here, not above: a process that starts sandboxes reads this module too, and calls nothing of it

    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    try:
        become(json.loads(sys.argv[1]))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"sandbox: {error}\n")
        sys.exit(EXIT_NOT_RUN)
