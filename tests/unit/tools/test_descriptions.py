"""What models read of the tools is sent, and paid for, with each call: it stays short, and says something of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bot.server.tools import known_tools
from bot.settings.settings import load

CHARACTERS: Final = 5_110
"""Of all descriptions together, parameters included: they were 4,393 before each word was weighed, and 2,635 before
`ask_person`, which has 147, and `find_tools`, which has 89 and keeps half of the others out of most requests. The five of tasks,
which have some 530, are among those, and so are the four of delegation, which have some 510, and
`agent_create`, which has some 200, and `hand_over`, which has some 100; both are found by `find_tools`. So are eight of the ten
of memory, which have some 860."""
PROMPT_CHARACTERS: Final = 800


def descriptions(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from (schema[key] for key in ("description",) if isinstance(schema.get(key), str))
        for value in schema.values():
            yield from descriptions(value)


def settings(folder: Path) -> Any:
    return load(None, {}, environ={}, folder=folder)


def test_all_descriptions_together_are_short(tmp_path: Path) -> None:
    specs = [tool.spec for tool in known_tools(settings(tmp_path)).values()]
    said = [text for spec in specs for text in (spec.description, *descriptions(spec.schema))]
    assert sum(map(len, said)) <= CHARACTERS


def test_every_tool_and_parameter_is_described(tmp_path: Path) -> None:
    for name, tool in known_tools(settings(tmp_path)).items():
        assert tool.spec.description, name
        for parameter, schema in tool.spec.schema["properties"].items():
            assert schema.get("description"), f"{name}: {parameter}"


def test_the_prompt_is_short(tmp_path: Path) -> None:
    assert len(settings(tmp_path).run.prompt) <= PROMPT_CHARACTERS
