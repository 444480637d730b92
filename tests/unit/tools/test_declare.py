from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

import pytest

from runtime.contract import Effect, Tool, ToolContext
from runtime.errors import ToolRetry
from tools.kit.declare import tool


@tool(effect=Effect.WRITE, idempotent=True, timeout=timedelta(seconds=5), output_bound=100, caution="Mind the step.")
async def book(
    city: Annotated[str, "City and country."],
    context: ToolContext,
    nights: int = 1,
    kind: Literal["single", "double"] = "single",
    tags: list[str] | None = None,
    budget: float | None = None,
    late: bool = False,
) -> str:
    """Book a room
    in a city.

    This paragraph is for people who read the code.
    """
    return f"{city} {nights} {kind} {tags} {budget} {late} {context.call_id}"


@tool(effect=Effect.READ)
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def test_what_the_model_reads_comes_from_the_function() -> None:
    typed: Tool = book
    assert typed.spec.name == "book"
    assert typed.spec.description == "Book a room in a city."
    assert typed.spec.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City and country."},
            "nights": {"type": "integer", "default": 1},
            "kind": {"enum": ["single", "double"], "type": "string", "default": "single"},
            "tags": {"anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}], "default": None},
            "budget": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
            "late": {"type": "boolean", "default": False},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_what_the_runtime_asks_comes_from_the_decorator() -> None:
    assert (book.spec.effect, book.spec.idempotent, book.spec.repeatable) == (Effect.WRITE, True, True)
    assert (book.spec.timeout, book.spec.output_bound) == (timedelta(seconds=5), 100)
    assert book.caution() == "Mind the step."
    assert shout.caution() == ""


async def test_defaults_and_the_context_are_filled_in(context: ToolContext) -> None:
    assert await book.call({"city": "Rome, Italy"}, context) == "Rome, Italy 1 single None None False c"
    given = {"city": "Rome", "nights": 2, "kind": "double", "tags": ["sea"], "budget": 90, "late": True}
    assert await book.call(given, context) == "Rome 2 double ['sea'] 90.0 True c"


async def test_a_plain_function_is_a_tool_too(context: ToolContext) -> None:
    assert await shout.call({"text": "hey"}, context) == "HEY"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "The argument 'city' is missing; give a string."),
        ({"city": 3}, "The argument 'city' must be a string; you gave an integer."),
        ({"city": None}, "The argument 'city' must be a string; you gave null."),
        ({"city": "Rome", "nights": "2"}, "'nights' must be an integer; you gave a string of 1 characters."),
        ({"city": "Rome", "nights": True}, "'nights' must be an integer; you gave true or false."),
        ({"city": "Rome", "nights": 1.5}, "'nights' must be an integer; you gave a number."),
        ({"city": "Rome", "kind": "suite"}, "'kind' must be one of 'single', 'double'; you gave a string"),
        ({"city": "Rome", "tags": "sea"}, "'tags' must be a list in which each item is a string or null; you gave"),
        ({"city": "Rome", "tags": ["sea", 1]}, "you gave a list of 2 with an integer in it."),
        ({"city": "Rome", "late": {"a": 1}}, "'late' must be true or false; you gave an object."),
        ({"city": "Rome", "town": "x"}, "There is no argument 'town'; the arguments are 'city', 'nights', "),
        ({"city": "Rome", "context": "x"}, "There is no argument 'context'"),
    ],
)
async def test_a_wrong_argument_is_named_with_what_is_expected(
    arguments: Mapping[str, Any], sentence: str, context: ToolContext
) -> None:
    with pytest.raises(ToolRetry) as caught:
        await book.call(arguments, context)
    assert sentence in str(caught.value)


async def test_all_faults_are_told_at_once_and_no_value_is_repeated(context: ToolContext) -> None:
    with pytest.raises(ToolRetry) as caught:
        await book.call({"nights": "hunter2", "late": "hunter2", "more": "hunter2"}, context)
    told = str(caught.value)
    assert all(name in told for name in ("city", "nights", "late", "more"))
    assert "hunter2" not in told


def test_a_function_the_model_could_not_call_is_no_tool() -> None:
    def silent(text: str) -> str:
        return text

    def untyped(text) -> str:  # type: ignore[no-untyped-def]
        """Says it."""
        return str(text)

    def many(*texts: str) -> str:
        """Says them."""
        return " ".join(texts)

    for function in (silent, untyped, many):
        with pytest.raises(TypeError, match=function.__name__):
            tool(effect=Effect.READ)(function)
