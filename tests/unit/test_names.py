"""A constant says by its name what it is about, so one name seldom fits many modules."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[2]
FEW: Final = 4
"""Modules that may have a constant of one name without saying why."""
REASONS: Final[Mapping[str, str]] = {
    "T": "a type variable: its name is the convention, and it means nothing beyond its function",
}


def constants(file: Path) -> Iterator[str]:
    """Names of the module's constants."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        yield from (target.id for target in targets if isinstance(target, ast.Name) and target.id.isupper())


def test_a_constant_of_one_name_in_many_modules_has_its_reason() -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for file in (file for top in ("adapters", "bot", "runtime", "tools") for file in (ROOT / top).rglob("*.py")):
        if not {"migrations", "packages"} & {*file.parts}:  # packages outside the core have names of their own
            for name in constants(file):
                modules[name].add(str(file.relative_to(ROOT)))
    many = {name: sorted(files) for name, files in modules.items() if len(files) > FEW}
    assert {name: many[name] for name in many.keys() - REASONS.keys()} == {}, "give each its subject and its unit"
    assert REASONS.keys() <= many.keys(), "a reason for what is in few modules"
