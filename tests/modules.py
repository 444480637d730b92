"""What the product's modules say, each parsed once for all tests that look through them: two seconds a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PRODUCT: Final = ("adapters", "bot", "runtime", "signalbox", "tools")

Imported = tuple[str | None, str]
"""`from FIRST import SECOND`, or `import SECOND`."""


@dataclass(frozen=True)
class Module:
    path: Path
    lines: Sequence[tuple[str, int]]
    """Each function with its length."""
    imports: Sequence[Imported]
    constants: Sequence[str]


@cache
def modules() -> Mapping[str, Module]:
    """By their dotted names; a package stands for its `__init__`."""
    found = {}
    for path in (path for top in PRODUCT for path in sorted((ROOT / top).rglob("*.py"))):
        if "migrations" not in path.parts:
            found[".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] = _read(path)
    return found


def _read(path: Path) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines: list[tuple[str, int]] = []
    imports: list[Imported] = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                lines.append((node.name, (node.end_lineno or 0) - node.lineno + 1))
            case ast.Import():
                imports += [(None, alias.name) for alias in node.names]
            case ast.ImportFrom():
                assert node.module, f"{path} imports by a relative name, which this reader does not follow"
                imports += [(node.module, alias.name) for alias in node.names]
            case _:
                pass
    return Module(path, lines, imports, list(_constants(tree)))


def _constants(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        yield from (target.id for target in targets if isinstance(target, ast.Name) and target.id.isupper())
