"""Arguments against the schema that a tool declares."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from runtime.contract import Json
from tools.catalogue import first_tools
from tools.kit.schemas import schema_faults
from tools.sandbox.shell import ShellSettings

SIMPLE: Mapping[str, Json] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": "object", "properties": {"w": {"type": "integer"}}}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"name": "a"}, ""),
        ({}, "'name' is a required property."),
        ({"name": 1}, "name: 1 is not of type 'string'."),
        ({"name": "a", "size": {"w": "b"}}, "size.w: 'b' is not of type 'integer'."),
        ({"name": "a", "more": 1}, "Additional properties are not allowed ('more' was unexpected)."),
    ],
)
def test_the_first_fault_is_told(arguments: Mapping[str, Json], fault: str) -> None:
    assert schema_faults(SIMPLE, arguments) == fault


def test_a_fault_is_short_however_long_the_value() -> None:
    assert len(schema_faults(SIMPLE, {"name": ["x" * 10_000]})) < 200


@pytest.mark.parametrize(
    "schema", [{"type": 7}, {"properties": []}, {"$ref": "https://example.invalid/x"}, {"$ref": "#/no"}]
)
def test_a_schema_that_cannot_be_read_finds_nothing(schema: Mapping[str, Json]) -> None:
    assert schema_faults(schema, {"name": "a"}) == ""


def test_patterns_of_others_are_not_matched() -> None:
    evil = "^(a+)+$"
    schema = {"properties": {"x": {"type": "string", "pattern": evil}, "pattern": {"type": "integer"}}}
    open_ended = {"patternProperties": {evil: {"type": "integer"}}, "additionalProperties": False}
    begun = time.process_time()
    assert schema_faults(schema, {"x": "a" * 60 + "!"}) == ""
    assert schema_faults(open_ended, {"a" * 60 + "!": 1}) == ""
    assert schema_faults(schema, {"pattern": "a"}) == "pattern: 'a' is not of type 'integer'.", "a name, and no pattern"
    assert time.process_time() - begun < 5


def test_the_schemas_of_our_own_tools_can_be_read() -> None:
    for tool in first_tools(ShellSettings()).values():
        assert schema_faults(tool.spec.schema, {"no such": 1}), tool.spec.name


def test_references_that_double_at_each_level_hold_up_nobody() -> None:
    """A model or a server may write such a schema: with 40 levels it would be looked at for ever."""
    levels: dict[str, Json] = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(40)}
    began = time.process_time()
    assert schema_faults({"$ref": "#/$defs/d0", "$defs": {**levels, "d40": {"type": "object"}}}, {"a": 1}) == ""
    assert time.process_time() - began < 20


def test_a_schema_that_is_too_deep_to_read_breaks_nothing() -> None:
    deep: dict[str, Json] = {"type": "string"}
    for _ in range(900):
        deep = {"properties": {"a": deep}}
    assert schema_faults(deep, {"a": 1}) == ""


MANY: dict[str, Json] = {f"p{at}": at for at in range(30_000)}
UNLIKE: list[Json] = [{"x": at} for at in range(8_000)]
SAID: str = "x" * 300_000


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": UNLIKE}),
        ({"additionalProperties": True, "unevaluatedProperties": False}, MANY),
        ({"properties": {"a": {"allOf": [{"type": "integer"}] * 20_000}}}, {"a": SAID}),
    ],
    ids=["each item with each", "each name with each", "a long value in each fault"],
)
def test_long_arguments_for_a_schema_of_others_hold_up_nobody(
    schema: Mapping[str, Json], arguments: Mapping[str, Json]
) -> None:
    """A server chooses the schema, and a model the arguments; what takes long is left to the tool."""
    began = time.process_time()
    assert schema_faults(schema, arguments) == ""
    assert time.process_time() - began < 2


@pytest.mark.parametrize("number", [10**400, 1, 0.5])
@pytest.mark.parametrize("step", [0, 0.0, 0.5, 1e-320])
def test_numbers_that_no_division_takes_break_nothing(number: Json, step: Json) -> None:
    assert "\n" not in schema_faults({"properties": {"a": {"multipleOf": step}}}, {"a": number})


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        ([1, 1.0], "a: [1, 1.0] has non-unique elements."),
        ([{"x": [2, "y"]}, {"x": [2.0, "y"]}], "a: [{'x': [2, 'y']}, {'x': [2.0, 'y']}] has non-unique elements."),
        ([1, True, "1", None, [], {}, [1], {"1": 1}], ""),
    ],
)
def test_equal_items_are_told(items: list[Json], fault: str) -> None:
    assert schema_faults({"properties": {"a": {"uniqueItems": True}}}, {"a": items}) == fault
