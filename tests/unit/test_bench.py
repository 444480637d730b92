"""The benchmarks run and print; whether the figures are good is judged by `make bench` alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import BENCHES

ROOT = Path(__file__).parents[2]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)


@pytest.mark.timeout(180)
def test_the_short_variant_prints_its_table_and_judges_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "figures.json"
    ended = bench("--short", "--json", str(kept))
    assert ended.returncode == 0, ended.stderr
    assert [name for name in BENCHES if f"measuring {name}" in ended.stderr] == list(BENCHES)
    figures = json.loads(kept.read_text())
    assert figures
    for figure in figures:
        assert figure["name"] in ended.stdout
        assert figure["value"] > 0


def test_an_unknown_benchmark_is_refused_with_the_known_ones() -> None:
    ended = bench("nonsense")
    assert ended.returncode == 2
    assert "there are fsync" in ended.stderr
