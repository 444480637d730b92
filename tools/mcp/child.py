"""Becomes an MCP server; run as a program of its own by `stdio`, as `child.py UID VIEW COMMAND ARGUMENT...`.

Its environment is the server's already, so that no secret stands in a command line. The steps themselves are those of
`tools/launcher.py`: down from root, and with our death its own. Imports the standard library only.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Final

STAY: Final = "-"  # in place of a UID: as whoever we are
LAUNCHER: Final = Path(__file__).parents[1] / "launcher.py"


def main(uid: str, view: str, *command: str) -> None:
    """Never returns. Errors: OSError says which step the system refused."""
    order = {
        "argv": list(command),
        "env": dict(os.environ),  # noqa: TID251 - not ours: what `stdio` made for the server
        "limits": {"CORE": 0},  # what it holds in memory may be secret
        "uid": None if uid == STAY else int(uid),
        "view": view == "view",
        "carry": {},
        "files": [],
    }
    runpy.run_path(str(LAUNCHER))["become"](order)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.stderr.write(f"{sys.argv[3]} could not be started: {error}\n")
        sys.exit(125)
