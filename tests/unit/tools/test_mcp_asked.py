"""Forms of MCP servers as questions, and what people answer as values."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.contract import Json
from tools.mcp.asked.fields import MOST_FIELDS, Field, Unfit, fields_of, is_refusal, question_of, value_of
from tools.mcp.asked.held import MOST_HELD, Forgetful, Held, Waiting
from tools.mcp.asked.needs import GoesOn, Needs


def form(**properties: Any) -> dict[str, Json]:
    return {"message": "Well?", "requestedSchema": {"type": "object", "properties": properties}}


def only(**told: Any) -> Field:
    (one,) = fields_of(form(it=told))
    return one


COLOURS = {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}
TITLED = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]}
SEVERAL = {"type": "array", "items": {"anyOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]}}


@pytest.mark.parametrize(
    ("told", "said", "value"),
    [
        ({"type": "string"}, " Ada ", "Ada"),
        ({"type": "integer"}, "-4", -4),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "number"}, "3", 3),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "no.", False),
        ({"type": "boolean", "default": True}, "-", True),
        ({"type": "string"}, "-", None),
        (COLOURS, "Green", "g"),
        (COLOURS, "r", "r"),
        (TITLED, "red", "r"),
        (SEVERAL, "red, green", ["r", "g"]),
    ],
)
def test_an_answer_is_the_value_that_was_asked_for(told: dict[str, Any], said: str, value: Json) -> None:
    assert value_of(only(**told), said) == value


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"type": "integer"}, "2.5"),
        ({"type": "integer"}, "many"),
        ({"type": "number"}, "1e400"),
        ({"type": "number"}, "NaN"),
        ({"type": "boolean"}, "perhaps"),
        (COLOURS, "blue"),
        (SEVERAL, "red, blue"),
    ],
)
def test_an_answer_that_does_not_fit_is_told(told: dict[str, Any], said: str) -> None:
    with pytest.raises(Unfit):
        value_of(only(**told), said)


def test_a_value_that_must_be_there_is_not_skipped() -> None:
    params = form(it={"type": "string"})
    params["requestedSchema"]["required"] = ["it"]
    (one,) = fields_of(params)
    with pytest.raises(Unfit):
        value_of(one, "-")


def test_a_question_shows_nothing_that_no_person_would_see() -> None:
    told = question_of("desk", {"message": "Pay\u200b<!-- all --> now\u202e"}, None)
    assert told.text == "The MCP server desk asks: Pay now"
    assert told.options == ("Yes", "Decline")


def test_a_page_is_named_by_the_host_that_it_leads_to() -> None:
    url = "https://bank.example.org@evil.example.net/login"
    told = question_of("desk", {"mode": "url", "message": "Log in.", "url": url}, None)
    assert "asks you to open a page at evil.example.net: " in told.text


def test_a_form_of_too_many_values_is_refused() -> None:
    with pytest.raises(Unfit):
        fields_of(form(**{f"v{number}": {"type": "string"} for number in range(MOST_FIELDS + 1)}))


@pytest.mark.parametrize(
    ("said", "refuses"), [("Decline", True), ("decline.", True), ("I decline", False), ("no", False)]
)
def test_a_word_of_its_own_refuses(said: str, refuses: bool) -> None:
    assert is_refusal(said) is refuses


async def test_calls_of_runs_that_were_stopped_take_no_place_for_good() -> None:
    held = Held("desk", Forgetful())
    for number in range(MOST_HELD + 1):
        await held.wait(Waiting(f"run-{number}", "call", "ask", "form", {}, Needs(GoesOn.AGAIN_WITH)))
    assert held.of("run-0-call") is None
    assert held.of("run-1-call") is not None
    assert held.of(f"run-{MOST_HELD}-call") is not None


@pytest.mark.parametrize("url", ["https://[", "https://[::1"])
def test_a_page_whose_address_is_none_is_not_asked_about(url: str) -> None:
    with pytest.raises(Unfit):
        question_of("desk", {"mode": "url", "url": url, "message": "Open it"}, None)


@pytest.mark.parametrize("told", [{"oneOf": 5}, {"anyOf": True}, {"enum": 5}, {"type": "array", "items": {"anyOf": 5}}])
def test_a_form_of_a_server_that_keeps_to_nothing_is_read(told: dict[str, Any]) -> None:
    params = form(it=told)
    params["requestedSchema"]["required"] = 5
    assert [one.choices for one in fields_of(params)] == [()]
