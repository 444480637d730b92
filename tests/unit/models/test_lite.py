"""LiteModel with the real LiteLLM against a server that speaks the wire."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import aiohttp
import pytest
from structlog.testing import capture_logs

from bot.testing.openai.server import Answers, OpenAI, Reply, ToolCall
from bot.testing.serve import serving
from runtime.contract import (
    AssistantTurn,
    Call,
    Effect,
    FileRef,
    Model,
    ModelReply,
    ModelRequest,
    ToolSpec,
    ToolTurn,
    Turn,
    Usage,
    UserTurn,
)
from runtime.domain.transcript import repair
from runtime.errors import ModelFailed
from runtime.models import litellm_model
from runtime.models.images import Images
from runtime.models.litellm_loading import LIBRARY, VARIABLES, Memo, preload
from runtime.models.litellm_model import CUT_NOTE, LiteModel
from runtime.models.settings import ModelSettings, Prices
from runtime.workspace.safe_fs import reading
from tests.fakes.ending import ending
from tests.fakes.serve import spawned

KEY = "a-secret-key"
LIST = ToolSpec("list_files", "List.", {"type": "object", "properties": {"path": {"type": "string"}}}, Effect.READ)
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),  # LiteLLM sets this filter itself; pytest resets it
]


class Rig:
    """A model, its server, and what was streamed and slept."""

    def __init__(self, server: OpenAI, url: str, *, stream: bool, timeout: float) -> None:
        self.server = server
        self.streamed: list[str] = []
        self.slept: list[float] = []
        self.base = f"{url}/v1"
        settings = ModelSettings(
            "openai/gpt-4o", self.base, KEY, stream=stream, timeout=timedelta(seconds=timeout), max_retries=2
        )
        self.model: Model = LiteModel(settings, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def ask(self, *turns: Turn) -> ModelReply:
        request = ModelRequest("be kind", turns or [UserTurn("hi")], [LIST])
        return await self.model.reply(request, self.streamed.append)

    async def fail(self) -> ModelFailed:
        with pytest.raises(ModelFailed) as raised:
            await self.ask()
        assert KEY not in str(raised.value) + raised.value.detail
        return raised.value


@asynccontextmanager
async def rig(answers: Answers, *, stream: bool = True, limit: float = 20) -> AsyncIterator[Rig]:
    server = OpenAI(answers)
    await LIBRARY.get()  # else the first of these tests in a process would be shown that it loads
    async with serving(server.app()) as url:
        yield Rig(server, url, stream=stream, timeout=limit)


# What a model may answer.


@BOTH
async def test_words_are_answered_with_their_count_and_price(stream: bool) -> None:
    async with rig([Reply("Hello to you.", usage=(1000, 100))], stream=stream) as it:
        reply = await it.ask()
    assert reply == ModelReply("Hello to you.", (), Usage("openai/gpt-4o", 1000, 100, reply.usage.cost_micros))
    assert reply.usage.cost_micros > 0
    assert it.streamed == (["Hello to", "Hello to you."] if stream else [])


@BOTH
async def test_what_is_sent_is_the_request_and_nothing_else(stream: bool) -> None:
    async with rig([], stream=stream) as it:
        await it.ask()
    (sent,) = it.server.requests
    expected: dict[str, object] = {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}],
        "tools": [
            {
                "type": "function",
                "function": {"name": "list_files", "description": "List.", "parameters": LIST.schema},
            }
        ],
    }
    if stream:
        expected |= {"stream": True, "stream_options": {"include_usage": True}}
    assert {name: value for name, value in sent.items() if value is not False} == expected
    assert it.server.keys == [f"Bearer {KEY}"]


async def test_where_words_alone_are_wanted_no_tool_may_be_called() -> None:
    async with rig([Reply("Because.")]) as it:
        reply = await it.model.reply(ModelRequest("", [UserTurn("why?")], [LIST], words_only=True), it.streamed.append)
    (sent,) = it.server.requests
    assert (reply.text, sent["tool_choice"], len(sent["tools"])) == ("Because.", "none", 1)


@BOTH
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
async def test_calls_are_calls_whatever_the_finish_reason(stream: bool, finish: str) -> None:
    calls = (ToolCall("list_files", '{"path": "docs"}', "c1"), ToolCall("nonsense", '{"path": ', "c2"))
    async with rig([Reply("Let me see.", calls, finish)], stream=stream) as it:
        reply = await it.ask()
    assert reply.text == "Let me see."
    assert reply.calls == (
        Call("c1", "list_files", '{"path": "docs"}'),
        Call("c2", "nonsense", '{"path": '),
    )


@BOTH
async def test_equal_and_missing_ids_are_made_unique_in_the_transcript(stream: bool) -> None:
    earlier = (
        UserTurn("ls"),
        AssistantTurn("", (Call("call_1", "list_files", "{}"),)),
        ToolTurn("call_1", "list_files", "a"),
    )
    calls = (ToolCall("list_files"), ToolCall("list_files"), ToolCall("list_files", id=None))
    async with rig([Reply("", calls, "tool_calls")], stream=stream) as it:
        reply = await it.ask(*earlier)
    assert len({"call_1", *(call.id for call in reply.calls)}) == 4


@BOTH
async def test_one_empty_answer_is_asked_again_a_second_is_told(stream: bool) -> None:
    async with rig([Reply(), Reply("Here."), Reply(), Reply(" ")], stream=stream) as it:
        assert (await it.ask()).text == "Here."
        assert str(await it.fail()) == "The model gave an empty answer."
        assert len(it.server.requests) == 4


# Answers that are cut.


@BOTH
async def test_words_cut_at_the_length_limit_are_continued_and_joined(stream: bool) -> None:
    cut = Reply("Once upon a", finish="length", usage=(100, 10))
    async with rig([cut, Reply(" time, and so on.", usage=(120, 20))], stream=stream) as it:
        reply = await it.ask(UserTurn("Tell me."))
    assert reply.text == "Once upon a time, and so on."
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (220, 30)
    asked = it.server.requests[1]["messages"]
    assert [message["role"] for message in asked] == ["system", "user", "assistant", "user"]
    assert asked[2]["content"] == "Once upon a"
    assert not stream or it.streamed[-1] == reply.text
    assert all(reply.text.startswith(shown) for shown in it.streamed)


@BOTH
async def test_words_that_are_cut_each_time_end_after_three_continuations_and_say_so(stream: bool) -> None:
    async with rig([Reply(f"{n} ", finish="length") for n in range(9)], stream=stream) as it:
        assert (await it.ask()).text == "0 1 2 3 " + CUT_NOTE
        assert len(it.server.requests) == 4


@BOTH
async def test_a_continuation_that_fails_or_is_a_cut_call_leaves_what_was_said(stream: bool) -> None:
    call = Reply("", (ToolCall("list_files", '{"pa'),), "length")
    for second in (Reply("no", status=400), call):
        async with rig([Reply("Once upon a", finish="length"), second], stream=stream) as it:
            reply = await it.ask()
        assert (reply.text, reply.calls) == ("Once upon a" + CUT_NOTE, ())


@BOTH
@pytest.mark.parametrize("text", ["", "I will run "])
async def test_a_call_cut_at_the_length_limit_never_runs(stream: bool, text: str) -> None:
    cut = Reply(text, (ToolCall("list_files", '{"path": "a"}'),), "length")
    async with rig([cut], stream=stream) as it:
        assert "length limit" in str(await it.fail())
        assert len(it.server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply("Once upon a time", finish=None),
        Reply("", (ToolCall("list_files", '{"path": "a"}'),), finish=None),
        Reply("Once upon a time", cut=0),
        Reply("Once upon a time", cut=1),
        Reply("Once upon a time", cut=2),
        Reply("", (ToolCall("list_files", '{"path": "a", "b": 1}'),), cut=3),
    ],
    ids=["no finish", "call without finish", "cut at once", "cut before words", "cut in words", "cut in a call"],
)
async def test_a_stream_that_breaks_off_is_repeated_and_never_used(reply: Reply) -> None:
    async with rig([reply, Reply("whole")]) as it:
        assert await it.ask() == ModelReply("whole", (), Usage("openai/gpt-4o", 11, 7, 98))
    async with rig([reply] * 3) as it:
        assert "broke in the middle" in str(await it.fail())
        assert len(it.server.requests) == 3


async def test_an_answer_cut_before_its_end_is_repeated() -> None:
    async with rig([Reply("Once", cut=0), Reply("whole")], stream=False) as it:
        assert (await it.ask()).text == "whole"


@BOTH
async def test_a_filtered_answer_says_so(stream: bool) -> None:
    async with rig([Reply("I", finish="content_filter")], stream=stream) as it:
        assert "content filter" in str(await it.fail())


# Errors of the provider.


@BOTH
@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "400"), (401, "key"), (402, "credit"), (403, "may not use the model"), (404, "unknown"), (413, "413")],
)
async def test_a_refusal_is_one_readable_sentence_and_not_repeated(stream: bool, status: int, words: str) -> None:
    async with rig([Reply(f"Bad key {KEY}", status=status)], stream=stream) as it:
        failed = await it.fail()
        assert words in str(failed)
        assert "\n" not in str(failed)
        assert str(status) in failed.detail or "Error" in failed.detail
        assert len(it.server.requests) == 1


@BOTH
@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_a_passing_error_is_repeated_twice(stream: bool, status: int) -> None:
    error = Reply("later", status=status)
    async with rig([error, error, Reply("Here."), error, error, error], stream=stream) as it:
        assert (await it.ask()).text == "Here."
        assert it.slept == [0.5, 2]
        assert f"({status})" in str(await it.fail())
        assert len(it.server.requests) == 6


@BOTH
async def test_retry_after_is_honoured_within_reason(stream: bool) -> None:
    async with rig([Reply("", status=429, retry_after="7"), Reply("Here.")], stream=stream) as it:
        assert (await it.ask()).text == "Here."
        assert it.slept == [7]
    async with rig([Reply("", status=429, retry_after="3600")], stream=stream) as it:
        assert "too many requests" in str(await it.fail())
        assert it.slept == []


@BOTH
async def test_a_conversation_that_is_too_long_says_so(stream: bool) -> None:
    words = "This model's maximum context length is 8192 tokens."
    async with rig([Reply(words, status=400)], stream=stream) as it:
        assert "too long for the model" in str(await it.fail())


@BOTH
async def test_a_server_that_is_not_there_says_so(stream: bool) -> None:
    it = Rig(OpenAI(), "http://127.0.0.1:1", stream=stream, timeout=20)
    assert str(await it.fail()) == "The model's server can't be reached."
    assert len(it.slept) == 2


@BOTH
async def test_a_server_that_does_not_answer_is_given_up(stream: bool) -> None:
    async with rig([Reply("late", delay=30)], stream=stream, limit=0.5) as it:  # LiteLLM has asked by then
        assert str(await it.fail()) == "The model did not answer within 0.5 seconds."


async def test_of_every_vendor_a_server_that_is_not_there_says_so() -> None:
    it = LiteModel(ModelSettings("anthropic/claude-sonnet-4-5", "http://127.0.0.1:1", KEY, max_retries=0))
    with pytest.raises(ModelFailed, match="can't be reached"):
        await it.reply(ModelRequest("", [UserTurn("hi")], []), lambda _: None)


async def test_a_slow_stream_is_waited_for_as_long_as_it_moves() -> None:
    story = "piece " * 12
    async with rig([Reply(story, delay=0.1, slow=True)], limit=1.0) as it:
        assert (await it.ask()).text.strip() == story.strip()


async def test_a_stream_that_goes_on_for_ever_ends_with_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm_model, "WHOLE_STREAM", 1)
    async with rig([Reply("piece " * 100, delay=0.1, slow=True)], limit=0.8) as it:
        assert str(await it.fail()) == "The model's answer was still not complete after 0.8 seconds."
        assert it.slept == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            ModelSettings("gpt-nonsense", "http://127.0.0.1:1/v1", KEY),
            "gpt-nonsense names no provider; write provider/model",
        ),
        (ModelSettings("anthropic/claude-sonnet-4-5"), "There is no key for the model anthropic/claude-sonnet-4-5"),
    ],
)
async def test_wrong_settings_are_named(settings: ModelSettings, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelFailed, match=words):
        await LiteModel(settings).reply(ModelRequest("", [UserTurn("hi")], []), lambda _: None)


@BOTH
async def test_a_server_of_ones_own_needs_no_key(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with rig([], stream=stream) as it:
        model = LiteModel(ModelSettings("openai/mine", it.base, stream=stream))
        reply = await model.reply(ModelRequest("", [UserTurn("hi")], []), lambda _: None)
    assert reply == ModelReply("You said: hi", (), Usage("openai/mine", 11, 7, 0, unpriced=True))


@BOTH
@pytest.mark.parametrize("told", [10**30, 10**400, -(10**30)])
async def test_a_count_that_can_be_none_fits_into_a_row(stream: bool, told: int) -> None:
    async with rig([Reply("Hello.", usage=(told, told), cached=told)], stream=stream) as it:
        usage = (await it.ask()).usage
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cost_micros)
    assert all(type(one) is int and 0 <= one <= 10**12 for one in counts)


@BOTH
async def test_where_the_provider_does_not_count_we_guess(stream: bool) -> None:
    async with rig([Reply("four words of text", usage=None)], stream=stream) as it:
        usage = (await it.ask()).usage
    assert (usage.input_tokens, usage.output_tokens) == (3, 5)


async def test_a_stop_ends_the_call_at_once() -> None:
    async with rig([Reply("a long story " * 100, delay=0.05, slow=True)]) as it:
        asking = asyncio.ensure_future(it.ask())
        async with asyncio.timeout(30):
            while not it.streamed:  # noqa: ASYNC110 - a plain list reads better here
                await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


# The library.


async def test_the_library_is_loaded_once_for_all_who_ask() -> None:
    first, second = await asyncio.gather(LIBRARY.get(), LIBRARY.get())
    await preload("openai/mock")
    assert first is second is await LIBRARY.get()


async def test_a_history_after_a_kill_is_accepted_by_a_strict_server() -> None:
    cut: list[Turn] = [
        UserTurn("ls"),
        AssistantTurn("", (Call("c1", "list_files", "{not json"),)),
        UserTurn("still there?"),
    ]
    async with rig([]) as it:
        with pytest.raises(ModelFailed):
            await it.ask(*cut)
        assert (await it.ask(*repair(cut))).text == "You said: still there?"


def test_a_key_does_not_show() -> None:
    assert KEY not in repr(ModelSettings("openai/gpt-4o", api_key=KEY))


async def test_the_server_runs_as_a_process_and_takes_a_script() -> None:
    async with spawned("bot.testing.openai.server") as (_, url), aiohttp.ClientSession(url) as http:
        script = [{"text": "", "calls": [{"name": "list_files", "arguments": '{"path": "a"}'}]}]
        await http.post("/script", json=script)
        it = Rig(OpenAI(), url, stream=True, timeout=20)
        assert (await it.ask()).calls == (Call("call_1", "list_files", '{"path": "a"}'),)
        assert (await it.ask()).text == "You said: hi"
        async with http.get("/requests") as response:
            assert len(json.loads(await response.text())) == 2


async def test_its_own_loggers_are_spared() -> None:
    """What we ask LiteLLM for under an inner name of its own: a release without it must be noticed."""
    from litellm._internal_context import is_internal_call

    async with rig([Reply("hello")]) as it:
        await it.ask()
        assert is_internal_call.get()


ASK: Final = """
import asyncio, sys
from runtime.contract import Effect, ModelRequest, ToolSpec, UserTurn
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings
tool = ToolSpec("list_files", "List.", {"type": "object", "properties": {}}, Effect.READ)
request = ModelRequest("", [UserTurn("hi")], [tool])
for stream in (False, True):
    model = LiteModel(ModelSettings("openai/gpt-4o", sys.argv[1], "none", stream=stream))
    asyncio.run(model.reply(request, lambda text: None))
print(*sorted({"tiktoken.load", "mcp", "openai.resources"} & set(sys.modules)))
"""


async def test_costs_are_worked_out_by_us_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = await LIBRARY.get()
    asked: list[str] = []
    monkeypatch.setattr(litellm.utils, "update_response_metadata", lambda **_: asked.append("for LiteLLM"))
    per_token = litellm.cost_per_token

    def ours(**given: object) -> object:
        asked.append("by us")
        return per_token(**given)

    monkeypatch.setattr(litellm, "cost_per_token", ours)
    async with rig([Reply("hello")], stream=False) as it:
        assert (await it.ask()).usage.cost_micros > 0
    assert asked == ["for LiteLLM", "by us"]  # the place where theirs is taken out is still there


async def test_a_model_without_a_price_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = await LIBRARY.get()
    asked: list[str] = []

    def none(**given: object) -> object:
        asked.append("price")
        raise ValueError("there is no price")

    monkeypatch.setattr(litellm, "get_model_info", none)
    async with rig([Reply("hello"), Reply("again")]) as it:
        assert [(await it.ask()).usage.cost_micros for _ in range(2)] == [0, 0]
    assert asked == ["price"]


async def test_a_cost_that_cannot_be_worked_out_loses_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = await LIBRARY.get()
    monkeypatch.setattr(litellm, "cost_per_token", lambda **_: (float("nan"), 0.0))
    with capture_logs() as told:
        async with rig([Reply("hello")]) as it:
            assert (await it.ask()).text == "hello"
    assert [line["log_level"] for line in told] == ["error"]


async def test_a_call_loads_nothing_that_it_does_not_use() -> None:
    """Tokens are counted by the provider (48 MB), tools are ours (19 MB), OpenAI is called without its SDK (23 MB).

    Each is kept out under a name that a release of LiteLLM may change without a word.
    """
    async with serving(OpenAI().app()) as url:
        given = {**os.environ, **dict.fromkeys(VARIABLES, "True")}
        async with ending(sys.executable, "-c", ASK, f"{url}/v1", stdout=subprocess.PIPE, env=given) as ask:
            loaded, _ = await ask.communicate()
    assert (ask.returncode, loaded.split()) == (0, [])


# ------------------------------------------------------------------------------------------------------------- images


PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(20)


def with_image(folder: Path) -> ModelRequest:
    (folder / "photo").write_bytes(PNG)
    turn = UserTurn("what is this?", "Ada", (FileRef("photo", "photo", len(PNG)),))
    return ModelRequest("be kind", [turn], [LIST], lambda path: reading(folder, path))


@BOTH
async def test_an_image_reaches_a_model_that_looks(stream: bool, tmp_path: Path) -> None:
    async with rig([], stream=stream) as it:
        reply = await it.model.reply(with_image(tmp_path), it.streamed.append)
    assert reply.text == "You said: what is this? [image/png, 28 bytes]"


async def test_a_model_that_does_not_look_gets_plain_text(tmp_path: Path) -> None:
    server = OpenAI()
    async with serving(server.app()) as url:
        model = LiteModel(ModelSettings("openai/gpt-4o", f"{url}/v1", KEY, images=Images.OFF))
        await model.reply(with_image(tmp_path), lambda _: None)
    assert server.requests[0]["messages"][-1]["content"] == "what is this?"


async def test_an_image_that_the_provider_refuses_does_not_spoil_the_conversation(tmp_path: Path) -> None:
    """It would refuse every later request of the room, since each carries the image again."""
    async with rig([Reply("Invalid image", status=400)]) as it:
        for _ in range(2):
            reply = await it.model.reply(with_image(tmp_path), it.streamed.append)
            assert reply.text == "You said: what is this?"
        contents = [request["messages"][-1]["content"] for request in it.server.requests]
        assert [isinstance(content, list) for content in contents] == [True, False, False]


async def test_a_refusal_for_another_reason_is_told_after_one_more_try(tmp_path: Path) -> None:
    async with rig([Reply("bad request", status=400)] * 2) as it:
        with pytest.raises(ModelFailed, match="bad request"):
            await it.model.reply(with_image(tmp_path), it.streamed.append)
        assert len(it.server.requests) == 2


async def test_the_schema_of_a_tool_is_looked_through_once() -> None:
    """In the place where LiteLLM does that, which is still there; and with what it found, which still counts."""
    await LIBRARY.get()
    from litellm.llms.openai.chat import gpt_transformation

    look = gpt_transformation.drop_non_python_regex_patterns
    assert isinstance(look, Memo)
    odd = {"type": "object", "properties": {"name": {"type": "string", "pattern": "\\p{Lu}"}}}
    fine = {"type": "object", "properties": {"name": {"type": "string", "pattern": "[A-Z]"}}}
    tools = [ToolSpec(name, "Does it.", schema, Effect.READ) for name, schema in (("odd", odd), ("fine", fine))]
    async with rig([Reply("hello"), Reply("again")]) as it:
        before = set(look._seen)
        for _ in range(2):
            await it.model.reply(ModelRequest("be kind", [UserTurn("hi")], tools), it.streamed.append)
        assert len(set(look._seen) - before) == len(tools)
        for request in it.server.requests:
            sent = [tool["function"]["parameters"]["properties"]["name"] for tool in request["tools"]]
            assert sent == [{"type": "string"}, {"type": "string", "pattern": "[A-Z]"}]


async def test_a_model_without_a_price_is_not_asked_where_one_is_needed() -> None:
    async with rig([]) as it:
        needed = Prices(are_needed=True)
        with pytest.raises(ModelFailed, match="no known price"):
            await LiteModel(ModelSettings("openai/mine", it.base, prices=needed)).reply(HELLO, lambda _: None)
        priced = ModelSettings("openai/mine", it.base, prices=Prices(1.0, 2.0, are_needed=True))
        reply = await LiteModel(priced).reply(HELLO, lambda _: None)
        assert (reply.usage.cost_micros, reply.usage.unpriced) == (25, False)
        assert len(it.server.requests) == 1


HELLO = ModelRequest("", [UserTurn("hi")], [])
