"""All entries of the protocol's conformance suite that a client must pass, in both revisions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.serve import ROOT

SUITE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE: Final = "node@22"  # the suite needs it, and it comes as a package too
EXCUSED: Final[Mapping[str, str]] = {}
"""Entries that may fail, with the reason why; none of safety, and at most three."""
REQUIRED: Final = {"2025-11-25": 18, "2026-07-28": 32}
LINE: Final = re.compile(r"^([✓✗]) ([\w./-]+): (\d+) passed, (\d+) failed", re.MULTILINE)
BESIDE: Final = re.compile(r"^  [✓✗] ([\w./-]+) \((?:extension|added-after-release|pending)\)", re.MULTILINE)


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite in a folder of its own."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the suite is a program for node, and npm isn't here")
    folder = tmp_path_factory.mktemp("suite")
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", NODE, SUITE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.skip(f"npm can't fetch the suite here: {done.stderr.strip()[-300:]}")
    return folder / "node_modules"


@pytest.mark.soak
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("revision", REQUIRED)
def test_our_client_passes_what_a_revision_requires(suite: Path, revision: str, tmp_path: Path) -> None:
    """Entries that a revision doesn't require, such as those of extensions, are run and told, and don't count."""
    node, program = suite / "node/bin/node", suite / "@modelcontextprotocol/conformance/dist/index.js"
    ours = f"{sys.executable} -m tests.wire.mcp.conformance.client"
    command = [str(node), str(program), "client", "--command", ours, "--requirements", revision]
    done = subprocess.run(
        [*command, "--timeout", "300000", "-o", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    told = done.stdout + done.stderr
    assert "timed out" not in told
    beside = set(BESIDE.findall(told))
    results = {name: (mark, int(failed)) for mark, name, _, failed in LINE.findall(told)}
    counted = {name: result for name, result in results.items() if name not in beside}
    sys.stdout.write("".join(f"{mark} {revision} {name}\n" for name, (mark, _) in results.items()))
    assert len(counted) == REQUIRED[revision], told[-3000:]
    failing = {name for name, (mark, failed) in counted.items() if mark == "✗" or failed}
    assert failing == {*EXCUSED} & {*counted}, told[-3000:]
    assert len(EXCUSED) <= 3
