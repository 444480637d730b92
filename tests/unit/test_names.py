"""A constant says by its name what it is about, so one name seldom fits many modules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

import pytest

from tests.modules import ROOT, modules

FEW: Final = 4
"""Modules that may have a constant of one name without saying why."""
REASONS: Final[Mapping[str, str]] = {
    "T": "a type variable: its name is the convention, and it means nothing beyond its function",
}


@pytest.mark.xdist_group("modules")
def test_a_constant_of_one_name_in_many_modules_has_its_reason() -> None:
    named: dict[str, set[str]] = defaultdict(set)
    for module in modules().values():
        if "packages" not in module.path.parts:  # packages outside the core have names of their own
            for name in module.constants:
                named[name].add(str(module.path.relative_to(ROOT)))
    many = {name: sorted(files) for name, files in named.items() if len(files) > FEW}
    assert {name: many[name] for name in many.keys() - REASONS.keys()} == {}, "give each its subject and its unit"
    assert REASONS.keys() <= many.keys(), "a reason for what is in few modules"
