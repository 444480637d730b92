"""Starts one Chromium behind its walls, and takes the socket by which it reaches the gateway."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from runtime.errors import ToolFailed
from tools.browser.child import GATEWAY
from tools.browser.walls import Walls, lay_out

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

START_TIMEOUT: Final = timedelta(seconds=30)
CACHE_BYTES: Final = 32 << 20
HEAP_MIB: Final = 512
"""Of one page's scripts."""
FAULT_MAX_CHARS: Final = 300
UNUSED_FEATURES: Final = (
    *("WebUIOmniboxPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxAimPopup"),  # 0.6 s of processor and 45 MB a window
    "SpareRendererForSitePerProcess",  # a process for a page that nobody opened yet: 0.2 s of processor each
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    *("TcpPortRandomizationWin", "ThirdPartyStoragePartitioning"),
    *("msEdgeUpdateLaunchServicesPreferredVersion", "msForceBrowserSignIn"),
)
"""Parts of Chromium that are off: the address bar's own pages, and all that Playwright turns off, whose list ours replaces."""
WITHOUT_THEM: Final = f"--disable-features={','.join(UNUSED_FEATURES)}"
CHROMIUM_ARGUMENTS: Final = (
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    f"--disk-cache-size={CACHE_BYTES}",
    f"--js-flags=--max-old-space-size={HEAP_MIB}",
    "--renderer-process-limit=4",
    "--disable-gpu",
    WITHOUT_THEM,
)
"""Beside Playwright's own. Nothing depends on them: a browser without them has no other way out."""


@dataclass(frozen=True, slots=True)
class Started:
    """A browser, the socket at which its gateway takes connections, and a handle on all of its processes."""

    browser: Browser
    listening: socket.socket
    pid: int


@asynccontextmanager
async def started(playwright: Playwright, walls: Walls, pin: str) -> AsyncIterator[Started]:
    """A browser that is dead when this ends, with its processes and its files. Errors: ToolFailed."""
    # The files are only there until it has begun, so that none is left where we are killed later.
    with TemporaryDirectory(prefix="signalbox-browser-") as name, _door(Path(name)) as door:
        program = await asyncio.to_thread(lay_out, walls, Path(name))
        async with asyncio.TaskGroup() as group:
            taking = group.create_task(_taken(door))
            browser = await _launched(playwright, program, pin, taking)
    listening, pid, handle = taking.result()
    try:
        yield Started(browser, listening, pid)
    finally:
        listening.close()
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)
        with suppress(Exception):  # it is dead, whatever Playwright says about that
            await asyncio.wait_for(browser.close(), START_TIMEOUT.total_seconds())


async def _launched(
    playwright: Playwright, program: Path, pin: str, taking: asyncio.Task[tuple[socket.socket, int, int]]
) -> Browser:
    from playwright.async_api import Error

    try:
        return await playwright.chromium.launch(
            executable_path=program,
            args=[*CHROMIUM_ARGUMENTS, f"--ignore-certificate-errors-spki-list={pin}"],
            proxy={"server": f"http://{GATEWAY[0]}:{GATEWAY[1]}"},
            timeout=START_TIMEOUT,
            chromium_sandbox=False,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
    except Error as error:
        taking.cancel()
        raise ToolFailed(f"The browser could not be started: {_fault(error.message)}") from error


def _fault(message: str) -> str:
    """The line that says most: of the sandbox or of bubblewrap, else the first."""
    lines = [line.strip(" -") for line in message.splitlines() if line.strip(" -")]
    of_walls = [line for line in lines if "sandbox: " in line or "bwrap: " in line]
    return (of_walls or lines or ["it said nothing"])[0][:FAULT_MAX_CHARS]


def _door(folder: Path) -> socket.socket:
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.setblocking(False)
    door.bind(str(folder / "gateway"))
    door.listen(1)
    return door


async def _taken(door: socket.socket) -> tuple[socket.socket, int, int]:
    """The socket that `child` listens at, its process id, and a handle on it that no other process can come to have."""
    async with asyncio.timeout(START_TIMEOUT.total_seconds()):
        line, _ = await asyncio.get_running_loop().sock_accept(door)
        with line:
            await readable(line)
            message, (descriptor, *_), _, _ = socket.recv_fds(line, 32, 1)
            listening = socket.socket(fileno=descriptor)
            pid = int(message)
            handle = os.pidfd_open(pid)
            await asyncio.get_running_loop().sock_sendall(line, b"1")
    return listening, pid, handle


async def readable(connection: socket.socket) -> None:
    """Wait until something can be read from it, and leave it there."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)
