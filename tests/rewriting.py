"""The asserts of all tests are rewritten once for all processes of a run, before these begin.

Each of them loads every test, all at the same time. Where none is kept from an earlier run, as in a fresh clone, each would
rewrite all of them: seconds of a processor, as often as there are processes.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pytest
from _pytest.assertion import rewrite  # no name that is public

PATTERNS: Final = ("test_*.py", "conftest.py")


def rewrite_asserts(config: pytest.Config) -> None:
    """Those of all tests that this run may collect, on every processor."""
    if config.getoption("assertmode") != "rewrite":
        return
    files, share = missing(config.args), os.cpu_count() or 1
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=rewritten, args=(config, files[first::share])) for first in range(share)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def missing(arguments: Iterable[str]) -> list[Path]:
    """Tests in these files and folders of which nothing is kept, or what was before they changed."""
    paths = {Path(name.partition("::")[0]).absolute() for name in arguments}
    below = {file for path in paths for pattern in PATTERNS for file in path.rglob(pattern)}
    return sorted(file for file in below | {path for path in paths if path.suffix == ".py"} if not _is_kept(file))


def rewritten(config: pytest.Config, files: Sequence[Path]) -> None:
    """As pytest does when it loads them. What isn't Python is told of by whoever collects it."""
    state = config.stash[rewrite.assertstate_key]
    for file in files:
        try:
            source, code = rewrite._rewrite_test(file, config)
        except SyntaxError:
            continue
        if rewrite.try_makedirs(kept_at(file).parent):
            rewrite._write_pyc(state, code, source, kept_at(file))


def kept_at(file: Path) -> Path:
    return rewrite.get_cache_dir(file) / f"{file.stem}{rewrite.PYC_TAIL}"


def _is_kept(file: Path) -> bool:
    kept = kept_at(file)
    return kept.exists() and kept.stat().st_mtime >= file.stat().st_mtime
