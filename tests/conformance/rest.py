"""Schemathesis against the REST API, with tokens of both roles: `make conformance` prints its counts.

    python -m tests.conformance.rest PATH-OF-SCHEMATHESIS [SEED]

The check `positive_data_acceptance` is left out: that a name means something is known to the store, and not to a schema.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.security.running import running

EXAMPLES: Final = "20"
LEFT_OUT: Final = "positive_data_acceptance"
COUNTS: Final = re.compile(r"^\s+(\d[\d,]* generated.*|Tested: \d+)$", re.MULTILINE)


async def tried(program: str, url: str, token: str, seed: str) -> tuple[int, str]:
    """How it ended, and all that it printed."""
    process = await asyncio.create_subprocess_exec(
        *(program, "run", f"{url}/api/v1/openapi.json", "--header", f"Authorization: Bearer {token}"),
        *("--max-examples", EXAMPLES, "--exclude-checks", LEFT_OUT, "--workers", "1", "--seed", seed),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await process.communicate()
    return process.returncode or 0, told.decode(errors="replace")


async def main(program: str, seed: str = "7") -> int:
    """The worst of both endings."""
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder)) as house:
            for role in ("user", "operator"):
                token = (await house.api.make_token(f"tried-{role}", role, per_minute="6000"))["token"]
                code, told = await tried(program, house.url, token, seed)
                counts = "; ".join(COUNTS.findall(told))
                sys.stdout.write(f"Schemathesis, role {role}: {'held' if code == 0 else 'failed'}. {counts}\n")
                sys.stdout.write(told if code else "")
                worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
