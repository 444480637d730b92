"""A token's globs: rooms by their addresses, and rooms of the program's own."""

from __future__ import annotations

import pytest

from runtime.contract import Role
from runtime.domain.programs.token import ProgramToken


@pytest.mark.parametrize(
    ("glob", "room", "may_enter"),
    [
        ("build-*", "build-7", True),
        ("build-*", "others", False),
        ("s*", "slack:work/C1", False),
        ("*", "web:main/private", False),
        ("*", "anything", True),
        ("slack:work/*", "slack:work/C1", True),
        ("slack:work/*", "telegram:bot/1", False),
        ("*:*", "telegram:bot/1", True),
        ("*:*", "builds", False),
    ],
)
def test_a_glob_without_a_colon_is_about_own_rooms_alone(glob: str, room: str, may_enter: bool) -> None:
    assert ProgramToken(name="ci", role=Role.USER, rooms=(glob,)).may_enter(room) is may_enter
