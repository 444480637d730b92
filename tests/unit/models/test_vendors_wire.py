"""Controls, keys in turn, prices and failures, as OpenAI's and Anthropic's servers have them on the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from bot.testing.openai.server import OpenAI, Reply, ToolCall
from bot.testing.serve import serving
from runtime.contract import (
    AssistantTurn,
    Call,
    Effect,
    ModelReply,
    ModelRequest,
    Reasoning,
    ToolSpec,
    ToolTurn,
    Turn,
    Usage,
    UserTurn,
)
from runtime.errors import Cause, ContextOverflow, ModelFailed
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import Controls, ModelSettings, Prices
from tests.fakes.anthropic import Anthropic, parts, signature

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]

HI = ModelRequest("be kind", [UserTurn("hi")], [])
LIST = ToolSpec("list_files", "List.", {"type": "object", "properties": {}}, Effect.READ)


@dataclass
class Asked:
    """A model at its server, and the waits that it slept."""

    server: OpenAI | Anthropic
    model: LiteModel
    slept: list[float] = field(default_factory=list)

    async def ask(self, request: ModelRequest = HI) -> ModelReply:
        return await self.model.reply(request, lambda _: None)

    async def fail(self) -> ModelFailed:
        with pytest.raises(ModelFailed) as raised:
            await self.ask()
        return raised.value


@asynccontextmanager
async def at(server: OpenAI | Anthropic, **given: object) -> AsyncIterator[Asked]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with serving(server.app()) as url:
        name, base = (
            ("openai/gpt-4o", f"{url}/v1") if isinstance(server, OpenAI) else ("anthropic/claude-sonnet-4-5", url)
        )
        settings = ModelSettings(name, base, **({"api_key": "one-key"} | given))  # type: ignore[arg-type]
        yield Asked(server, LiteModel(settings, sleep=sleep), slept)


# ------------------------------------------------------------------------------------------------------------ controls


async def test_controls_go_over_the_wire_of_openai() -> None:
    controls = Controls(temperature=0.2, top_p=0.9, max_tokens=300, seed=7, stop=("END",))
    async with at(OpenAI(), controls=controls, organization="org-1") as it:
        await it.ask()
        assert isinstance(it.server, OpenAI)
        (sent,) = it.server.requests
        assert it.server.organizations == ["org-1"]
    wanted = {"temperature": 0.2, "top_p": 0.9, "max_tokens": 300, "seed": 7, "stop": ["END"]}
    assert {name: sent.get(name) for name in wanted} == wanted


async def test_controls_go_over_the_wire_of_anthropic() -> None:
    controls = Controls(temperature=0.2, max_tokens=300, stop=("END",))
    async with at(Anthropic([Reply("Yes.")]), controls=controls) as it:
        assert (await it.ask()).text == "Yes."
        (sent,) = it.server.requests
    assert (sent["temperature"], sent["max_tokens"], sent["stop_sequences"]) == (0.2, 300, ["END"])


async def test_what_is_not_set_is_left_to_the_vendor() -> None:
    async with at(OpenAI()) as it:
        await it.ask()
        (sent,) = it.server.requests
    assert not {"temperature", "top_p", "max_tokens", "reasoning_effort", "seed", "stop"} & set(sent)


async def test_a_model_of_anthropic_thinks_where_a_person_spoke_last() -> None:
    call = AssistantTurn("", (Call("c1", "list_files", "{}"),))
    looped = ModelRequest("", [UserTurn("ls"), call, ToolTurn("c1", "list_files", "a")], [LIST])
    async with at(Anthropic([Reply("Yes."), Reply("One.")]), controls=Controls(reasoning="low")) as it:
        await it.ask()
        await it.ask(looped)
        first, second = it.server.requests
    assert "thinking" in first
    assert "thinking" not in second


# ------------------------------------------------------------------------------------------------------------- thinking


def going_on(reply: ModelReply, *before: Turn) -> ModelRequest:
    """The request that follows a reply with calls, once they have their results."""
    results = [ToolTurn(call.id, call.tool, "a.txt") for call in reply.calls]
    turn = AssistantTurn(reply.text, reply.calls, reply.reasoning)
    return ModelRequest("", [*(before or [UserTurn("ls")]), turn, *results], [LIST])


CALL = (ToolCall("list_files"),)
LS = ModelRequest("", [UserTurn("ls")], [LIST])


@pytest.mark.parametrize("stream", [True, False])
async def test_what_a_model_thinks_is_no_part_of_its_answer(stream: bool) -> None:
    shown: list[str] = []
    async with at(OpenAI([Reply("Yes.", thinking="They greet me. I greet back.")]), stream=stream) as it:
        reply = await it.model.reply(HI, shown.append)
    assert (reply.text, shown[-1:] or ["Yes."]) == ("Yes.", ["Yes."])
    assert reply.reasoning == Reasoning("They greet me. I greet back.", "openai/gpt-4o")
    assert not any("greet" in text for text in shown)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", ["openai/local", "hosted_vllm/local"])
async def test_thinking_that_a_server_leaves_between_marks_is_taken_out(stream: bool, name: str) -> None:
    shown: list[str] = []
    server = OpenAI([Reply("\n<think>\nA greeting.\n</think>\n\nHello <b> to you.")])
    async with serving(server.app()) as url:
        model = LiteModel(ModelSettings(name, f"{url}/v1", "k", stream=stream))
        reply = await model.reply(HI, shown.append)
    assert reply.text == "Hello <b> to you."
    assert reply.reasoning is not None
    assert reply.reasoning.text == "A greeting."
    assert not any("greeting" in text or "think" in text for text in shown)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("end", ["\n\nHello <b> to you.", "\n", ""])
async def test_thinking_whose_opening_mark_is_part_of_the_request_is_taken_out(end: str, stream: bool) -> None:
    async with at(OpenAI([Reply(f"A greeting,\nI'd say.\n</think>{end}", CALL, "tool_calls")]), stream=stream) as it:
        reply = await it.ask()
    assert reply.text == end.strip()
    assert reply.reasoning is not None
    assert reply.reasoning.text == "A greeting,\nI'd say."


@pytest.mark.parametrize(
    "text", ["So it ends:\n```\n<think>\nhm\n</think>\n```\nlike this", "`</think>` ends it\nthen"]
)
async def test_an_answer_about_the_marks_stays_whole(text: str) -> None:
    async with at(OpenAI([Reply(text)])) as it:
        assert (await it.ask()).text == text


async def test_an_answer_that_only_looks_like_a_mark_stays_whole() -> None:
    async with at(OpenAI([Reply("<thin"), Reply("Write <think> first, then </think>.")])) as it:
        assert (await it.ask()).text == "<thin"
        reply = await it.ask()
    assert (reply.text, reply.reasoning) == ("Write <think> first, then </think>.", None)


async def test_thinking_that_never_ends_is_no_answer() -> None:
    async with at(OpenAI([Reply("<think>on and on", finish="length")])) as it:
        assert (await it.fail()).cause is Cause.ANSWER


async def test_anthropic_gets_back_what_was_thought_as_it_signed_it() -> None:
    replies = [Reply("", CALL, "tool_calls", thinking="I have to look."), Reply("One file.", thinking="Easy.")]
    async with at(Anthropic(replies), controls=Controls(reasoning="low")) as it:
        asked = await it.ask(LS)
        assert asked.reasoning is not None
        assert asked.reasoning.text == "I have to look."
        answered = await it.ask(going_on(asked))
        _, second = it.server.requests
    assert (answered.text, answered.reasoning and answered.reasoning.text) == ("One file.", "Easy.")
    assert "thinking" in second
    thinking, call = second["messages"][-2]["content"]
    assert (thinking["thinking"], thinking["signature"]) == ("I have to look.", signature("I have to look."))
    assert call["type"] == "tool_use"


async def test_thinking_of_answers_before_stays_away_and_so_does_that_of_other_models() -> None:
    old = AssistantTurn("Done.", (), Reasoning("old", "anthropic/claude-sonnet-4-5", '[{"type": "thinking"}]'))
    foreign = ModelReply("", (Call("c1", "list_files", "{}"),), Usage("m"), reasoning=Reasoning("x", "openai/gpt-4o"))
    async with at(Anthropic(), controls=Controls(reasoning="low")) as it:
        await it.ask(going_on(foreign, UserTurn("hi"), old, UserTurn("ls")))
        (sent,) = it.server.requests
    assert "thinking" not in sent
    assert not any(part["type"] == "thinking" for message in sent["messages"] for part in parts(message))


async def test_deepseek_gets_back_the_text_that_was_thought_in_the_loop() -> None:
    server = OpenAI([Reply("", CALL, "tool_calls", thinking="I have to look."), Reply("One file.")])
    async with serving(server.app()) as url:
        model = LiteModel(ModelSettings("deepseek/deepseek-reasoner", f"{url}/v1", "k"))
        asked = await model.reply(LS, lambda _: None)
        await model.reply(going_on(asked), lambda _: None)
    assert server.requests[1]["messages"][-2]["reasoning_content"] == "I have to look."


async def test_openai_never_gets_thinking_back() -> None:
    async with at(OpenAI([Reply("", CALL, "tool_calls", thinking="I have to look."), Reply("One file.")])) as it:
        await it.ask(going_on(await it.ask(LS)))
    assert "reasoning_content" not in it.server.requests[1]["messages"][-2]


# ---------------------------------------------------------------------------------------------------------------- keys


async def test_a_key_that_is_revoked_in_mid_run_gives_its_place_to_the_next() -> None:
    async with at(OpenAI(), api_key="", api_keys=("one", "two")) as it:
        assert isinstance(it.server, OpenAI)
        await it.ask()
        it.server.revoked.add("one")
        assert (await it.ask()).text == "You said: hi"
        await it.ask()
        assert it.server.keys == ["Bearer one", "Bearer one", "Bearer two", "Bearer two"]
        assert it.slept == []


async def test_a_key_that_had_too_much_gives_its_place_to_the_next() -> None:
    busy = Reply("slow down", status=429, retry_after="20")
    async with at(OpenAI([busy, Reply("Here."), busy, busy]), api_key="", api_keys=("one", "two"), max_retries=0) as it:
        assert (await it.ask()).text == "Here."
        failed = await it.fail()
        assert isinstance(it.server, OpenAI)
        assert it.server.keys == [f"Bearer {key}" for key in ("one", "two", "two", "one")]
    assert (failed.cause, failed.wait) == (Cause.BUSY, timedelta(seconds=20))


@pytest.mark.parametrize("revoked", ["one", "two"])
async def test_a_revoked_key_does_not_speak_for_one_that_is_only_busy(revoked: str) -> None:
    """The model rests for as long as its good key does, and is not given up until somebody changes the settings."""
    busy = Reply("slow down", status=429, retry_after="20")
    async with at(OpenAI([busy, busy]), api_key="", api_keys=("one", "two"), max_retries=0) as it:
        assert isinstance(it.server, OpenAI)
        it.server.revoked.add(revoked)
        for _ in range(2):  # whichever of the keys is tried first
            failed = await it.fail()
            assert (failed.cause, failed.wait) == (Cause.BUSY, timedelta(seconds=20))


async def test_where_all_keys_are_revoked_nobody_reads_one() -> None:
    async with at(OpenAI(), api_key="", api_keys=("first-key", "second-key")) as it:
        assert isinstance(it.server, OpenAI)
        it.server.revoked |= {"first-key", "second-key"}
        failed = await it.fail()
        assert len(it.server.requests) == 2
        it.server.revoked.clear()
        assert (await it.ask()).text == "You said: hi"
    assert failed.cause is Cause.AUTH
    assert "-key" not in str(failed) + failed.detail


# -------------------------------------------------------------------------------------------------------------- prices


async def test_a_price_of_the_settings_goes_before_the_list() -> None:
    async with at(OpenAI([Reply("Hello.", usage=(1000, 100))]), prices=Prices(3.0, 15.0)) as it:
        assert (await it.ask()).usage.cost_micros == 1000 * 3 + 100 * 15


@pytest.mark.parametrize("server", [OpenAI, Anthropic])
async def test_tokens_of_the_vendors_cache_are_counted(server: type[OpenAI | Anthropic]) -> None:
    async with at(server([Reply("Hello.", usage=(1000, 100), cached=900)])) as it:
        usage = (await it.ask()).usage
    assert usage.cached_tokens == 900


# ------------------------------------------------------------------------------------------------------------ failures


OF_OPENAI = [
    (Reply("We could not parse the JSON body.", status=400), Cause.REQUEST),
    (Reply("This model's maximum context length is 8192 tokens.", status=400), Cause.OVERFLOW),
    (Reply("Incorrect API key provided.", status=401, code="invalid_api_key"), Cause.AUTH),
    (Reply("Payment required", status=402), Cause.BILLING),
    (Reply("Project does not have access to model", status=403), Cause.AUTH),
    (Reply("The model does not exist", status=404, code="model_not_found"), Cause.AUTH),
    (Reply("timeout", status=408), Cause.AWAY),
    (Reply("conflict", status=409), Cause.AWAY),
    (Reply("Rate limit reached for requests", status=429), Cause.BUSY),
    (Reply("You exceeded your current quota", status=429, code="insufficient_quota"), Cause.BILLING),
    (Reply("The server had an error", status=500), Cause.AWAY),
    (Reply("Bad gateway", status=502), Cause.AWAY),
    (Reply("That model is currently overloaded with other requests.", status=503), Cause.BUSY),
    (Reply("Once upon a time", cut=2), Cause.AWAY),
    (Reply("no", finish="content_filter"), Cause.REQUEST),
]
OF_ANTHROPIC = [
    (Reply("messages: roles must alternate", status=400), Cause.REQUEST),
    (Reply("prompt is too long: 210000 tokens > 200000 maximum", status=400), Cause.OVERFLOW),
    (
        Reply("You have reached your specified API usage limits. You will regain access soon.", status=400),
        Cause.BILLING,
    ),
    (Reply("Your credit balance is too low to access the Anthropic API.", status=400), Cause.BILLING),
    (Reply("invalid x-api-key", status=401), Cause.AUTH),
    (Reply("Your API key does not have permission", status=403), Cause.AUTH),
    (Reply("model: claude-none", status=404), Cause.AUTH),
    (Reply("This request would exceed your rate limit", status=429), Cause.BUSY),
    (Reply("Internal server error", status=500), Cause.AWAY),
    (Reply("Overloaded", status=529), Cause.BUSY),
    (Reply("Once upon a time", cut=3), Cause.AWAY),
]


@pytest.mark.parametrize(
    ("server", "reply", "cause"),
    [(OpenAI, *row) for row in OF_OPENAI] + [(Anthropic, *row) for row in OF_ANTHROPIC],
    ids=lambda value: f"{value.status} {value.text[:30]}" if isinstance(value, Reply) else "",
)
async def test_failures_are_sorted_by_status_and_body(
    server: type[OpenAI | Anthropic], reply: Reply, cause: Cause
) -> None:
    async with at(server([reply]), max_retries=0) as it:
        failed = await it.fail()
    assert (failed.cause, isinstance(failed, ContextOverflow)) == (cause, cause is Cause.OVERFLOW)


@pytest.mark.parametrize("server", [OpenAI, Anthropic])
@pytest.mark.parametrize(
    ("retry_after", "slept"), [("2", [2.0]), ("3", []), (None, [])], ids=["two seconds", "three", "none"]
)
async def test_among_others_a_busy_model_is_asked_again_only_where_it_names_a_short_wait(
    server: type[OpenAI | Anthropic], retry_after: str | None, slept: list[float]
) -> None:
    busy = Reply("later", status=429, retry_after=retry_after)
    given = {"yields": True, "max_retries": 1, "longest_wait": timedelta(seconds=2)}
    async with at(server([busy, Reply("Here.")]), **given) as it:
        if slept:
            assert (await it.ask()).text == "Here."
        else:
            assert (await it.fail()).cause is Cause.BUSY
        assert it.slept == slept


async def test_among_others_an_error_of_the_vendor_is_asked_again_once() -> None:
    error = Reply("oops", status=500)
    async with at(OpenAI([error, Reply("Here."), error, error]), yields=True, max_retries=1) as it:
        assert (await it.ask()).text == "Here."
        assert (await it.fail()).cause is Cause.AWAY
        assert len(it.server.requests) == 4
