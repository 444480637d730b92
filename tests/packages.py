"""Packages outside the core, in `adapters/packages/`: where they are, and how a program finds those of this folder."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ROOT / "adapters" / "packages"


def packages() -> Sequence[Path]:
    """The folder of each, by name."""
    return sorted(path.parent for path in PACKAGES.glob("*/pyproject.toml"))


def project(package: Path) -> Mapping[str, Any]:
    """The table `[project]` of one."""
    told: Mapping[str, Any] = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return told


def path_with_packages(site: Path) -> str:
    """A PYTHONPATH by which a program finds the packages of this folder by their entry points, as if they were installed.

    `site` is a folder of the test: what an installer writes about each package is written there.
    """
    for package in packages():
        told = project(package)
        about = site / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
        about.mkdir(parents=True, exist_ok=True)
        head = f"Metadata-Version: 2.4\nName: {told['name']}\nVersion: {told['version']}\n"
        (about / "METADATA").write_text(head, encoding="utf-8")
        (about / "entry_points.txt").write_text(_entry_points(told), encoding="utf-8")
    return os.pathsep.join(str(path) for path in (ROOT, *packages(), site))


def _entry_points(told: Mapping[str, Any]) -> str:
    groups: Mapping[str, Mapping[str, str]] = told.get("entry-points", {})
    lines: list[str] = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items()), ""]
    return "\n".join(lines)
