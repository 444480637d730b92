"""What models read of the tools is sent, and paid for, with each call: it stays short, and says something of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bot.settings.settings import load
from bot.wiring.tools.known import known_tools

OFFERED_CHARACTERS: Final = 2_000
"""Of the descriptions in each request, parameters included. Tools that are seldom needed are found by `find_tools`."""
ONE_TOOL_CHARACTERS: Final = 430
PROMPT_CHARACTERS: Final = 800


def descriptions(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from (schema[key] for key in ("description",) if isinstance(schema.get(key), str))
        for value in schema.values():
            yield from descriptions(value)


def settings(folder: Path) -> Any:
    return load(None, {}, environ={}, folder=folder)


def test_descriptions_are_short(tmp_path: Path) -> None:
    specs = [tool.spec for tool in known_tools(settings(tmp_path)).values()]
    sizes = {spec.name: sum(map(len, (spec.description, *descriptions(spec.schema)))) for spec in specs}
    assert {name: size for name, size in sizes.items() if size > ONE_TOOL_CHARACTERS} == {}
    assert sum(sizes[spec.name] for spec in specs if not spec.seldom) <= OFFERED_CHARACTERS


def test_every_tool_and_parameter_is_described(tmp_path: Path) -> None:
    for name, tool in known_tools(settings(tmp_path)).items():
        assert tool.spec.description, name
        for parameter, schema in tool.spec.schema["properties"].items():
            assert schema.get("description"), f"{name}: {parameter}"


def test_the_prompt_is_short(tmp_path: Path) -> None:
    assert len(settings(tmp_path).run.prompt) <= PROMPT_CHARACTERS
