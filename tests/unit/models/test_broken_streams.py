"""Streams with pieces that can't be read: asked again as if cut there, on both wires, and never shown as whole."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pytest

from bot.testing.openai.server import OpenAI, Reply, ToolCall
from bot.testing.serve import serving
from runtime.contract import Effect, ModelReply, ModelRequest, ToolSpec, UserTurn
from runtime.errors import ModelFailed
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings
from tests.fakes.anthropic import Anthropic

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),  # LiteLLM sets this filter itself; pytest resets it
]

LIST: Final = ToolSpec("list_files", "List.", {"type": "object", "properties": {}}, Effect.READ)
TEXT: Final = "one two three four five six"
CALL: Final = ToolCall("list_files", '{"path": "a long path to a file"}')
BROKEN: Final[dict[str, str | bytes]] = {
    "no JSON": 'data: {"choices": [{"delta": {"content": "four \n\n',
    "words": "data: what is this\n\n",
    "a list": "data: [1, 2]\n\n",
    "null": "data: null\n\n",
    "a number": "data: 5\n\n",
    "without its beginning": 'ta: {"choices": []}\n\n',
    "no line of events": '{"choices": []}\n\n',
    "no UTF-8": b'data: {"choices": [], "text": "\xff\xfe"}\n\n',
}
HARMLESS: Final = {
    "a comment": ": still here\n\n%s",
    "an empty piece": "data:\n\ndata: \n\n%s",
    "an empty object": "data: {}\n\n%s",
    "other fields": "id: 7\nretry: 10\nevent: message\n%s",
    "other ends": "\r\n\r\n%s\r\n\r",
    "a mark of UTF-8": "\N{ZERO WIDTH NO-BREAK SPACE}%s",
}
KINDS: Final = {"openai": (OpenAI, "openai/gpt-4o", "/v1"), "anthropic": (Anthropic, "anthropic/claude-sonnet-4-5", "")}
WIRES = pytest.mark.parametrize("wire", KINDS)


async def ask(wire: str, *replies: Reply) -> tuple[ModelReply | ModelFailed, int]:
    """What becomes of one question, and how often it was asked."""
    kind, name, path = KINDS[wire]
    server: Any = kind(replies)
    async with serving(server.app()) as url:
        settings = ModelSettings(name, url + path, "a-key", timeout=timedelta(seconds=20))
        try:
            model = LiteModel(settings, sleep=at_once)
            reply = await model.reply(ModelRequest("", [UserTurn("hi")], [LIST]), lambda _: None)
        except ModelFailed as failed:
            return failed, len(server.requests)
    return reply, len(server.requests)


async def at_once(seconds: float) -> None: ...


@WIRES
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("place", [3, 4])
async def test_a_piece_that_cannot_be_read_cuts_the_answer_which_is_asked_again(
    wire: str, place: int, broken: str | bytes
) -> None:
    reply, asked = await ask(wire, Reply(TEXT, instead={place: broken}), Reply(TEXT))
    assert isinstance(reply, ModelReply)
    assert (reply.text, asked) == (TEXT, 2)


@WIRES
@pytest.mark.parametrize("place", [0, 3, 6])
async def test_one_in_a_call_cuts_it_too(wire: str, place: int) -> None:
    broken = Reply("", (CALL,), "tool_calls", instead={place: "data: {oops\n\n"})
    reply, asked = await ask(wire, broken, Reply("", (CALL,), "tool_calls"))
    assert isinstance(reply, ModelReply)
    assert ([call.arguments for call in reply.calls], asked) == ([CALL.arguments], 2)


@WIRES
async def test_answers_that_stay_broken_are_told_and_not_shown(wire: str) -> None:
    failed, asked = await ask(wire, *[Reply(TEXT, instead={4: "data: {oops\n\n"})] * 3)
    assert isinstance(failed, ModelFailed)
    assert (str(failed), asked) == ("The connection to the model broke in the middle of its answer.", 3)


@WIRES
@pytest.mark.parametrize("harmless", HARMLESS.values(), ids=HARMLESS)
async def test_what_says_nothing_is_passed_over(wire: str, harmless: str) -> None:
    reply, asked = await ask(wire, Reply(TEXT, instead=dict.fromkeys((0, 4, 5), harmless)))
    assert isinstance(reply, ModelReply)
    assert (reply.text, asked) == (TEXT, 1)


@WIRES
async def test_characters_that_end_a_line_elsewhere_stay_in_their_text(wire: str) -> None:
    text = "one\u2028two\u2029three\x85four\x0bfive\x1csix"
    reply, asked = await ask(wire, Reply(text))
    assert isinstance(reply, ModelReply)
    assert (reply.text, asked) == (text, 1)


@WIRES
async def test_ends_that_come_twice_change_nothing(wire: str) -> None:
    """Words that come twice cannot be told from words that are said twice."""
    whole = {"openai": (0, 5, 6), "anthropic": (0, 1, 2, 8)}[wire]
    reply, asked = await ask(wire, Reply(TEXT, instead=dict.fromkeys(whole, "%s%s")))
    assert isinstance(reply, ModelReply)
    assert (reply.text, asked) == (TEXT, 1)


@WIRES
async def test_an_error_in_the_middle_is_no_end(wire: str) -> None:
    told = '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded", "code": 529}}'
    reply, asked = await ask(wire, Reply(TEXT, instead={4: f"event: error\ndata: {told}\n\n"}), Reply(TEXT))
    assert isinstance(reply, ModelReply)
    assert (reply.text, asked) == (TEXT, 2)


@WIRES
async def test_an_answer_without_its_end_is_asked_again(wire: str) -> None:
    reply, asked = await ask(wire, Reply(TEXT, finish=None, done=False), Reply(TEXT, done=False))
    assert isinstance(reply, ModelReply)
    assert (reply.text, asked) == (TEXT, 2)


@WIRES
async def test_a_broken_piece_behind_the_end_counts_too(wire: str) -> None:
    place = {"openai": 6, "anthropic": 9}[wire]
    reply, asked = await ask(wire, Reply(TEXT, instead={place: "data: {oops\n\n"}), Reply(TEXT))
    assert isinstance(reply, ModelReply)
    assert (reply.text, asked) == (TEXT, 2)


@WIRES
async def test_a_connection_cut_behind_the_end_cuts_nothing(wire: str) -> None:
    reply, asked = await ask(wire, Reply(TEXT, cut={"openai": 6, "anthropic": 9}[wire]))
    assert isinstance(reply, ModelReply)
    assert (reply.text, asked) == (TEXT, 1)
