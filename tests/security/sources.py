"""The product's source, read and parsed once for all that is looked for in it, and parsed only where that may be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("runtime", "bot", "tools", "adapters", "signalbox")


@cache
def texts() -> Mapping[str, str]:
    """By path, as the repository has it."""
    paths = sorted(path for top in PRODUCT for path in (ROOT / top).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(texts()[module])


def calling(names: Iterable[str]) -> Iterator[str]:
    """Modules in which something of one of these names is called."""
    called = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\(")
    return (module for module, text in texts().items() if called.search(text))
