"""Becomes Chromium in its sandbox. Playwright starts it through a script as `child.py ORDER_FILE ARGUMENT...`.

Before the steps of `tools/sandbox/launcher.py` it moves into a network namespace of its own. Nothing is there but this socket,
which it hands to Signalbox: whatever the browser sends arrives at the gateway, or nowhere. Imports the standard library only.
"""

from __future__ import annotations

import fcntl
import json
import os
import runpy
import socket
import struct
import sys
from pathlib import Path
from typing import Any, Final

LAUNCHER: Final = Path(__file__).parents[1] / "sandbox" / "launcher.py"
GATEWAY: Final = ("127.0.0.1", 3128)
"""Address of the gateway inside the namespace."""
WAITING_MAX: Final = 128  # connections not taken yet
CLONE_NEWUSER: Final = 0x10000000  # <linux/sched.h>
CLONE_NEWNET: Final = 0x40000000
SIOCGIFFLAGS: Final = 0x8913  # <linux/sockios.h>
SIOCSIFFLAGS: Final = 0x8914
IFF_UP: Final = 0x1  # <linux/if.h>
EXIT_NOT_RUN: Final = 125


def main(order_file: str, arguments: list[str]) -> None:
    """Never returns. Errors: OSError says which step the system refused."""
    folder = Path(order_file).parent
    order = json.loads(Path(order_file).read_bytes())
    launcher = runpy.run_path(str(LAUNCHER))
    order["argv"] += arguments
    os.chdir(folder)
    _alone(launcher)
    _hand_over(_listening(), folder / "gateway")
    launcher["become"](order)


def _alone(launcher: dict[str, Any]) -> None:
    """Move into a network namespace of our own; for that an ordinary user needs a user namespace around it."""
    user, group = os.geteuid(), os.getegid()
    launcher["_call"]("unshare", CLONE_NEWNET if user == 0 else CLONE_NEWUSER | CLONE_NEWNET)
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _listening() -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    request = struct.pack("16sH14x", b"lo", 0)
    flags = struct.unpack("16xH14x", fcntl.ioctl(listening, SIOCGIFFLAGS, request))[0]
    fcntl.ioctl(listening, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
    listening.bind(GATEWAY)
    listening.listen(WAITING_MAX)
    return listening


def _hand_over(listening: socket.socket, place: Path) -> None:
    """Give the socket and our number to Signalbox, and wait until it holds them: a browser must not begin before."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(str(place))
        socket.send_fds(line, [str(os.getpid()).encode()], [listening.fileno()])
        if line.recv(1) != b"1":
            raise OSError("Signalbox has gone")
    listening.close()


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"sandbox: {error}\n")
        sys.exit(EXIT_NOT_RUN)
