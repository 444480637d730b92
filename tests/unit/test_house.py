"""How much of the house must be read to follow one event through it, and how its rooms are kept."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.modules import Module, modules
from tests.walks import PAGE, PRODUCT, ROOT, Walk, document, size, walks, written

MOST_IN_A_FOLDER: Final = 15
BOUNDS: Final = {"A text": (200, 50), "A click": (300, 64)}
"""Functions and modules at most; aimed at are 160 and 35, and 200 and 40. The leak guard is some 30 and 7 of them: a text passes
it four times, and all that it has is looked at."""
UP_TO_THE_CLOCK: Final = 3
"""Functions by which a walk may differ from the page: two couriers' turns come in either order, or as one."""
LONGEST_FUNCTION: Final = 50
"""Lines of the longest function."""

one_process = pytest.mark.xdist_group("modules")
"""Which parses them once."""


# ------------------------------------------------------------------------------------------------------------ the walks


@pytest.mark.timeout(180)  # seconds; about four where nothing else runs
async def test_a_walk_can_be_read(tmp_path: Path) -> None:
    walked = await walks(tmp_path)
    for name, walk in walked.items():
        sys.stdout.write(f"{name}: {size(walk)}\n")
        sys.stdout.writelines(f"  {module}.{function}\n" for module, function in walk)
    over = {
        name: size(walked[name])
        for name, (functions, modules) in BOUNDS.items()
        if _is_over(walked[name], functions, modules)
    }
    assert over == {}
    for told, seen in zip(_steps(written(PAGE.read_text(encoding="utf-8"))), _steps(document(walked)), strict=True):
        assert len(told ^ seen) <= UP_TO_THE_CLOCK, f"run python -m tests.walks: {sorted(told ^ seen)}"


def _is_over(walk: Walk, functions: int, modules: int) -> bool:
    has_functions, has_modules = size(walk)
    return has_functions > functions or has_modules > modules


def _steps(section: str) -> list[set[str]]:
    """The functions of each walk, in any order: two threads may come to theirs in either."""
    blocks = section.split("```text\n")[1:]
    # Only those with a bound: each second's duties may fall into every round of a schedule, which waits for the poller.
    return [set(_functions(block.partition("```")[0])) for block in blocks[: len(BOUNDS)]]


def _functions(block: str) -> Iterator[str]:
    for line in block.splitlines():
        module, _, functions = line.partition(": ")
        yield from (f"{module}.{function}" for function in functions.split(", "))


# ------------------------------------------------------------------------------------------------------------ the rooms


@one_process
def test_no_folder_holds_too_many_modules() -> None:
    held = Counter(module.path.parent for module in modules().values())
    assert {str(folder.relative_to(ROOT)): n for folder, n in held.items() if n > MOST_IN_A_FOLDER} == {}


@one_process
def test_no_function_is_too_long() -> None:
    found = {
        f"{name}.{function}": length
        for name, module in modules().items()
        for function, length in module.lines
        if length > LONGEST_FUNCTION
    }
    assert found == {}


@one_process
def test_no_two_packages_import_each_other() -> None:
    needs: dict[str, set[str]] = defaultdict(set)
    for name, module in modules().items():
        needs[_package(name)] |= {_package(other) for other in _imported(module)}
    assert len(needs) > len(PRODUCT)
    assert [(a, b) for a in sorted(needs) for b in sorted(needs[a]) if a < b and a in needs[b]] == []


def _package(name: str) -> str:
    """The first two parts, so that the rooms of one package count as one; of a module beside packages the first."""
    inside = name if modules()[name].path.name == "__init__.py" else name.rpartition(".")[0]
    return ".".join(inside.split(".")[:2])


def _imported(module: Module) -> Iterator[str]:
    for place, name in module.imports:
        wholes = (name,) if place is None else (f"{place}.{name}", place)
        if found := next((whole for whole in wholes if whole in modules()), None):
            yield found
