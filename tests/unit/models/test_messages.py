"""What we send is accepted by the strictest providers, whatever the transcript holds."""

from __future__ import annotations

import json

from hypothesis import given

from bot.testing.openai.rules import refusal
from runtime.contract import AssistantTurn, Call, Effect, ToolSpec, ToolTurn, Turn, UserTurn
from runtime.domain.transcript import repair
from runtime.models.messages import GO_ON, NO_OUTPUT, Offer, own_tools, to_messages, to_tools
from tests.unit.domain.test_transcript import histories

ASKED = AssistantTurn("", (Call("c1", "read_file", '{"path": "a"}'),))


@given(histories)
def test_any_repaired_history_is_accepted(history: list[Turn]) -> None:
    turns = repair(history)
    if turns:
        assert refusal({"messages": to_messages("be kind", turns)}) is None


def test_turns_become_the_messages_they_are() -> None:
    turns: list[Turn] = [
        UserTurn("read a", "ada"),
        ASKED,
        ToolTurn("c1", "read_file", "hello"),
        AssistantTurn("It says hello."),
    ]
    assert to_messages("be kind", [*turns, UserTurn("thanks", "ada")]) == [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "read a"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "hello"},
        {"role": "assistant", "content": "It says hello."},
        {"role": "user", "content": "thanks"},
    ]


def test_names_are_shown_where_several_people_speak() -> None:
    messages = to_messages("", [UserTurn("hi", "ada"), AssistantTurn("hello"), UserTurn("ho", "bob")])
    assert [m["content"] for m in messages] == ["[ada] hi", "hello", "[bob] ho"]


def test_an_empty_result_says_so() -> None:
    assert to_messages("", [UserTurn("x"), ASKED, ToolTurn("c1", "read_file", " ")])[-1]["content"] == NO_OUTPUT


def test_malformed_arguments_are_shown_to_the_model_inside_an_object() -> None:
    call = Call("c1", "read_file", '{"path": ')
    messages = to_messages("", [UserTurn("x"), AssistantTurn("", (call,)), ToolTurn("c1", "read_file", "error: …")])
    assert json.loads(messages[1]["tool_calls"][0]["function"]["arguments"]) == {"malformed": '{"path": '}


def test_an_unknown_tool_with_an_odd_name_is_still_a_name() -> None:
    calls = (Call("c1", "weather.get now!", "{}"), Call("c2", "", "{}"))
    functions = [c["function"]["name"] for c in to_messages("", [AssistantTurn("", calls)])[0]["tool_calls"]]
    assert functions == ["weather_get_now_", "unknown"]


def test_a_call_decided_after_others_spoke_gets_a_last_word_to_answer() -> None:
    turns: list[Turn] = [
        UserTurn("read a"),
        ASKED,
        ToolTurn("c1", "read_file", "hello"),
        UserTurn("hi"),
        AssistantTurn("hi"),
    ]
    assert to_messages("", turns)[-1] == {"role": "user", "content": GO_ON}


def test_a_tool_is_declared_with_its_schema() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    assert to_tools([ToolSpec("read_file", "Read it.", schema, Effect.READ)]) == [
        {"type": "function", "function": {"name": "read_file", "description": "Read it.", "parameters": schema}}
    ]


def test_an_offer_is_made_anew_when_the_tools_change_and_a_call_has_its_own() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    read, write = (ToolSpec(name, "Does it.", schema, Effect.READ) for name in ("read_file", "write_file"))
    offer = Offer()
    offered = offer.of([read])
    assert offered is offer.of([read])
    assert offered == to_tools([read])
    given = own_tools({"model": "m", "tools": offered})
    given["tools"][0]["function"].pop("parameters")  # as a vendor's part of LiteLLM may
    given["tools"][0]["function"]["strict"] = True
    given["tools"].clear()
    assert offered == to_tools([read])
    offered[0]["function"]["parameters"]["properties"].clear()
    assert schema["properties"]
    assert own_tools({"model": "m"}) == {"model": "m"}
    assert offer.of([read, write]) == to_tools([read, write])
