"""The suite of MCP for servers, in both revisions: `make conformance` prints its entries and their counts.

    python -m tests.conformance.mcp.suite

An entry counts where a revision requires it. The example has all tools that the suite asks for by name; the product is
asked what needs none of them.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from tests.fakes.serve import ROOT
from tests.wire.mcp.conformance.test_suite import BESIDE, LINE, NODE, SUITE

REQUIRED_OF_SERVERS: Final = {"2025-11-25": 30, "2026-07-28": 37}
WITHOUT_TOOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "2025-11-25": ("server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"),
    "2026-07-28": (
        *("tools-list", "server-sse-multiple-streams", "resources-list", "sep-2164-resource-not-found"),
        *("dns-rebinding-protection", "http-header-validation"),
    ),
}
"""Entries for the product itself."""
ADDRESS: Final = re.compile(r"^http://\S+/mcp$")
Results = dict[str, tuple[int, int]]
"""Checks that passed and that failed, by entry."""


def fetched(folder: Path) -> tuple[str, str] | None:
    """The programs of node and of the suite, or None where npm can't fetch them."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", NODE, SUITE]
    if subprocess.run(command, capture_output=True, timeout=600, check=False).returncode:
        return None
    modules = folder / "node_modules"
    return str(modules / "node/bin/node"), str(modules / "@modelcontextprotocol/conformance/dist/index.js")


@asynccontextmanager
async def served(which: str) -> AsyncIterator[str]:
    """The address of the example, or of the product."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.conformance.mcp.served", which),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        while not ADDRESS.match(line := (await process.stdout.readline()).decode().strip()):
            if process.returncode is not None:
                raise RuntimeError(f"{which} did not start")
        async with asyncio.TaskGroup() as group:
            draining = group.create_task(process.stdout.read())  # its log, which nobody reads
            yield line
            draining.cancel()
    finally:
        process.kill()
        await process.wait()


async def results(programs: tuple[str, str], url: str, *terms: str) -> Results:
    """Entries that count, and their checks."""
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            *(*programs, "server", "--url", url, "--timeout", "60000", "-o", folder, *terms),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told = (await process.communicate())[0].decode(errors="replace")
    beside = set(BESIDE.findall(told))
    return {name: (int(good), int(bad)) for _, name, good, bad in LINE.findall(told) if name not in beside}


async def one_entry(programs: tuple[str, str], url: str, revision: str, entry: str) -> tuple[int, int]:
    process = await asyncio.create_subprocess_exec(
        *(*programs, "server", "--url", url, "--scenario", entry, "--spec-version", revision),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told = (await process.communicate())[0].decode(errors="replace")
    found = re.search(r"Passed: (\d+)/(\d+), (\d+) failed", told)
    return (int(found[1]), int(found[3])) if found else (0, 1)


def print_results(title: str, found: Results, wanted: int) -> bool:
    """The entries and their count; True where all are there and none failed."""
    failed = [name for name, (_, bad) in found.items() if bad]
    checks = sum(good for good, _ in found.values())
    sys.stdout.write(f"{title}: {len(found) - len(failed)} of {wanted} entries, {checks} checks\n")
    for name, (good, bad) in found.items():
        sys.stdout.write(f"  {'failed' if bad else 'held'} {name}: {good} passed, {bad} failed\n")
    return not failed and len(found) == wanted


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        programs = await asyncio.to_thread(fetched, Path(folder))
        if programs is None:
            sys.stdout.write("MCP suite: not run, npm can't fetch it here.\n")
            return 0
        held = True
        async with served("example") as url:
            for revision, wanted in REQUIRED_OF_SERVERS.items():
                found = await results(programs, url, "--requirements", revision)
                held &= print_results(f"MCP server, {revision}, required", found, wanted)
        async with served("product") as url:
            for revision, entries in WITHOUT_TOOLS.items():
                found = {one: await one_entry(programs, url, revision, one) for one in entries}
                held &= print_results(f"MCP server of the product, {revision}", found, len(entries))
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
