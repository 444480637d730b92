"""Becomes an MCP server. `stdio` runs it as a separate program: `child.py ORDER`.

Its environment is the server's already, so that no secret stands in a command line. The steps themselves are those of
`tools/sandbox/launcher.py`: into its view, down from root, and with our death its own. Imports the standard library only.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Final

LAUNCHER: Final = Path(__file__).parents[1] / "sandbox" / "launcher.py"


def main(text: str) -> None:
    """Never returns. Errors: OSError says which step the system refused."""
    order = json.loads(text)
    order["env"] = dict(os.environ)  # noqa: TID251 - not ours: what `stdio` made for the server
    try:
        runpy.run_path(str(LAUNCHER))["become"](order)
    except OSError as error:
        sys.stderr.write(f"{order['argv'][0]} could not be started: {error}\n")
        sys.exit(125)


if __name__ == "__main__":
    main(sys.argv[1])
