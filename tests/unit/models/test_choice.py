"""Several models as one: vendors on the wire, one of which fails, and who answers in its place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bot.metrics.metering import Metering
from bot.settings.sections.operating import Metrics
from bot.settings.sections.rooms import Web
from bot.testing.clocks import HandClock
from bot.testing.openai.server import OpenAI, Reply
from bot.testing.serve import serving
from runtime.cluster.cooldowns import SharedCooldowns
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import AssistantTurn, Call, FileRef, ModelReply, ModelRequest, Turn, UserTurn, Work
from runtime.errors import ContextOverflow, ModelFailed
from runtime.models.choice.chain import Member, ModelChain
from runtime.models.choice.routing import Route, chosen, complexity, work_of
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store
from tests.fakes.anthropic import Anthropic

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]

HI = ModelRequest("be kind", [UserTurn("hi")], [])


@dataclass
class Vendors:
    """Two vendors, a chain over both, and what was shown and slept."""

    first: OpenAI
    second: Anthropic
    chain: ModelChain
    store: Store
    clock: HandClock
    cooldowns: SharedCooldowns
    members: Sequence[Member]
    shown: list[str] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    async def ask(self, request: ModelRequest = HI) -> ModelReply:
        return await self.chain.reply(request, self.shown.append)

    async def fail(self) -> ModelFailed:
        with pytest.raises(ModelFailed) as raised:
            await self.ask()
        return raised.value

    def counts(self) -> tuple[int, int]:
        return len(self.first.requests), len(self.second.requests)


@asynccontextmanager
async def vendors(first: Sequence[Reply], second: Sequence[Reply] = (), mark: str = "m") -> AsyncIterator[Vendors]:
    servers, clock, slept = (OpenAI(first), Anthropic(second)), HandClock(), list[float]()
    store = memory_store(clock)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.advance(timedelta(seconds=seconds))
        await asyncio.sleep(0.01)  # others go on meanwhile

    async with serving(servers[0].app()) as one, serving(servers[1].app()) as other:
        given = ModelSettings(
            "openai/gpt-4o", f"{one}/v1", "k1", yields=True, max_retries=1, longest_wait=timedelta(seconds=2)
        )
        also = replace(given, name="anthropic/claude-sonnet-4-5", api_base=other, api_key="k2")
        members = [
            Member(Route("openai/gpt-4o"), LiteModel(given, sleep=sleep), mark),
            Member(Route("sonnet", (Work.SUMMARY,)), LiteModel(also, sleep=sleep), mark),
        ]
        cooldowns = SharedCooldowns(store=store.cooldowns, notifier=LocalNotifier(), now=clock)
        chain = ModelChain(members, ["sonnet"], cooldowns=cooldowns, now=clock, sleep=sleep)
        yield Vendors(*servers, chain, store, clock, cooldowns, members, slept=slept)
    await store.close()


async def test_while_all_is_well_the_first_answers_and_nothing_is_written() -> None:
    async with vendors([]) as it:
        reply = await it.ask()
        assert (reply.text, reply.choice.why, reply.choice.instead_of) == ("You said: hi", "", "")
        assert await it.store.cooldowns.resting() == []


@pytest.mark.parametrize(
    "failure",
    [
        Reply("slow down", status=429),
        Reply("slow down", status=429, retry_after="7"),
        Reply("no money", status=429, code="insufficient_quota"),
        Reply("wrong key", status=401),
        Reply("not yours", status=403),
        Reply("pay", status=402),
    ],
    ids=lambda reply: f"{reply.status} {reply.code or reply.retry_after}",
)
async def test_another_vendor_answers_and_nobody_sees_an_error(failure: Reply) -> None:
    async with vendors([failure], [Reply("Here I am."), Reply("Still here.")]) as it:
        reply = await it.ask()
        assert (reply.text, reply.usage.model) == ("Here I am.", "anthropic/claude-sonnet-4-5")
        assert reply.choice.instead_of == "openai/gpt-4o"
        assert "sonnet instead of openai/gpt-4o (openai/gpt-4o: " in reply.choice.why
        assert (await it.ask()).text == "Still here."
        assert it.counts() == (1, 2)  # while it rests it is not asked


@pytest.mark.parametrize("failure", [Reply("oops", status=500), Reply("later", status=408), Reply("x", status=409)])
async def test_an_error_of_the_moment_is_repeated_once_in_place(failure: Reply) -> None:
    async with vendors([failure, Reply("Well again.")]) as it:
        assert (await it.ask()).text == "Well again."
        assert it.counts() == (2, 0)
    async with vendors([failure, failure], [Reply("Here.")]) as it:
        assert (await it.ask()).text == "Here."


async def test_a_stream_that_is_cut_after_its_first_words_is_answered_by_another() -> None:
    cut = Reply("Once upon a time there was", cut=3)
    async with vendors([cut, cut], [Reply("All of it.")]) as it:
        assert (await it.ask()).text == "All of it."
        assert it.shown[0].startswith("Once")
        assert it.shown[-1] == "All of it."


async def test_a_request_that_is_wrong_is_told_and_asked_nowhere_else() -> None:
    async with vendors([Reply("messages: invalid", status=400)]) as it:
        assert "refused the request (400)" in str(await it.fail())
        assert it.counts() == (1, 0)
    async with vendors([Reply("This model's maximum context length is 8192 tokens.", status=400)]) as it:
        assert isinstance(await it.fail(), ContextOverflow)
        assert it.counts() == (1, 0)


async def test_where_all_fail_one_error_names_each_and_why() -> None:
    async with vendors([Reply("wrong key", status=401)], [Reply("Your credit balance is too low", status=400)]) as it:
        assert str(await it.fail()) == (
            "None of the models can answer right now:\n"
            "- openai/gpt-4o: The model's provider refused the key (401): check the key for openai/gpt-4o in the settings.\n"
            "- sonnet: The account behind the key for anthropic/claude-sonnet-4-5 has reached its limit or has no credit "
            "left (400)."
        )


async def test_where_all_rest_the_one_that_is_soon_well_is_waited_for() -> None:
    busy = Reply("slow down", status=429, retry_after="20")
    async with vendors([busy, Reply("Here.")], [replace(busy, retry_after="300")]) as it:
        assert (await it.ask()).text == "Here."
        assert it.slept == [pytest.approx(20, abs=0.01)]


async def test_of_many_that_wait_for_a_rest_to_end_one_asks_first() -> None:
    short, long = (Reply("slow down", status=429, retry_after=wait, delay=0.05) for wait in ("20", "300"))
    async with vendors([short, long], [Reply("I help."), long, long, long]) as it:
        assert (await it.ask()).text == "I help."
        told = await asyncio.gather(*(it.ask() for _ in range(3)), return_exceptions=True)
        assert ["None of the models" in str(one) for one in told] == [True] * 3
        assert it.counts() == (2, 4)


@pytest.mark.parametrize("status", [418, 599, 799])
async def test_a_status_that_nobody_knows_is_another_models_to_answer(status: int) -> None:
    async with vendors([Reply("teapot", status=status)] * 2, [Reply("I help.")]) as it:
        assert (await it.ask()).text == "I help."


async def test_where_all_rest_for_long_it_is_told_at_once() -> None:
    busy = Reply("slow down", status=429, retry_after="300")
    async with vendors([busy], [busy]) as it:
        assert "too many requests" in str(await it.fail())
        assert "None of the models" in str(await it.fail())
        assert (it.slept, it.counts()) == ([], (1, 1))


async def test_the_first_answers_again_as_soon_as_its_time_is_over() -> None:
    busy = Reply("slow down", status=429, retry_after="7")
    async with vendors([busy, Reply("Back.")], [Reply("I help."), Reply("I help.")]) as it:
        assert (await it.ask()).text == "I help."
        it.clock.advance(timedelta(seconds=6.9))
        assert (await it.ask()).text == "I help."
        it.clock.advance(timedelta(seconds=0.2))
        assert (await it.ask()).text == "Back."
        assert await it.store.cooldowns.resting() == []


async def test_an_answer_that_was_under_way_ends_no_rest_that_began_after_it() -> None:
    slow, busy = Reply("A long answer.", delay=0.3), Reply("slow down", status=429, retry_after="60")
    async with vendors([slow, busy], [Reply("I help."), Reply("I help.")]) as it:
        under_way = asyncio.create_task(it.ask())
        while not it.first.requests:  # noqa: ASYNC110 - a server tells nobody what it was asked
            await asyncio.sleep(0.01)
        it.clock.advance(timedelta(seconds=1))
        assert (await it.ask()).text == "I help."
        assert (await under_way).text == "A long answer."
        assert (await it.ask()).text == "I help."
        assert it.counts() == (2, 2)


@pytest.mark.parametrize("asked", ["1764080000", "1e13"])
async def test_a_wait_that_no_vendor_can_mean_is_a_day(asked: str) -> None:
    """As of a proxy that writes the time of day in seconds since 1970."""
    async with vendors([Reply("slow down", status=429, retry_after=asked), Reply("Back.")], [Reply("I help.")]) as it:
        assert (await it.ask()).text == "I help."
        it.clock.advance(timedelta(hours=24, seconds=1))
        assert (await it.ask()).text == "Back."


async def test_with_another_key_a_model_is_asked_again_at_once() -> None:
    async with vendors([Reply("wrong key", status=401), Reply("Good key.")], [Reply("I help.")]) as it:
        assert (await it.ask()).text == "I help."
        members = [replace(it.members[0], mark="another key"), it.members[1]]
        chain = ModelChain(members, ["sonnet"], cooldowns=it.cooldowns, now=it.clock)
        assert (await chain.reply(HI, lambda _: None)).text == "Good key."
        assert await it.store.cooldowns.resting() == []


async def test_a_run_whose_model_rests_or_is_gone_goes_on_with_the_usual_one() -> None:
    async with vendors([], [Reply("wrong key", status=401)]) as it:
        for _ in range(2):
            reply = await it.ask(replace(HI, kept="sonnet"))
            assert (reply.text, reply.choice.model, reply.choice.instead_of) == ("You said: hi", "sonnet", "sonnet")
        reply = await it.ask(replace(HI, kept="gone"))
        assert (reply.choice.model, reply.choice.instead_of) == ("openai/gpt-4o", "")
        assert it.counts() == (3, 1)


async def test_a_summary_is_written_by_the_model_for_it() -> None:
    async with vendors([], [Reply("In short.")]) as it:
        reply = await it.ask(replace(HI, work=Work.SUMMARY))
        assert (reply.text, reply.choice.why, reply.choice.instead_of) == ("In short.", "for summary", "")


async def test_a_vendor_that_fails_where_the_store_is_away_rests_here_alone() -> None:
    async with vendors([Reply("slow down", status=429)], [Reply("I help."), Reply("I help.")]) as it:
        await it.store.close()
        assert (await it.ask()).text == "I help."
        assert (await it.ask()).text == "I help."
        assert it.counts() == (1, 2)


# ------------------------------------------------------------------------------------------------------------- routing

ROUTES = [
    Route("usual"),
    Route("coder", (Work.CODING,)),
    Route("short", (Work.SUMMARY, Work.REPORT)),
    Route("clever", least_complexity=60),
    Route("cleverer", least_complexity=500),
]


def asking(*turns: Turn | str, **given: object) -> ModelRequest:
    said = [UserTurn(turn) if isinstance(turn, str) else turn for turn in turns]
    return replace(ModelRequest("", said, ()), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "model", "why"),
    [
        (asking("hi"), "usual", ""),
        (asking("hi", kept="clever", wanted="coder"), "clever", "the run began with it"),
        (asking("hi", wanted="coder"), "coder", "chosen for this conversation"),
        (asking("hi", wanted="gone", kept="gone too"), "usual", ""),
        (asking("hi", own="coder"), "coder", "the agent's own"),
        (asking("hi", own="coder", wanted="clever"), "clever", "chosen for this conversation"),
        (asking("hi", own="gone"), "usual", ""),
        (asking("```python\nx = 1\n```"), "coder", "for coding"),
        (asking("tell it", work=Work.REPORT), "short", "for report"),
        (asking("word " * 60), "clever", "complexity 76, at least 60"),
        (asking("word " * 600), "cleverer", "complexity 751, at least 500"),
    ],
)
def test_who_is_chosen_and_why(request_: ModelRequest, model: str, why: str) -> None:
    choice = chosen(ROUTES, request_)
    assert (choice.model, choice.why) == (model, why)


def test_kinds_of_work_are_told_from_what_people_said_last() -> None:
    picture = UserTurn("what is this?", files=(FileRef("photo.png", "photo.png", 3),))
    assert work_of(asking(picture)) is Work.VISION
    assert work_of(asking("Please plan my week")) is Work.PLANNING
    assert work_of(asking("```\nx\n```", AssistantTurn("I see."), "thanks")) is Work.CHAT


def test_tool_calls_code_and_turns_make_a_request_more_complex() -> None:
    plain = asking("hello there")
    called = asking("hello", AssistantTurn("", (Call("1", "t", "{}"), Call("2", "t", "{}"))), "hello there")
    assert complexity(plain) == 2 + 1
    assert complexity(called) == 2 + 2 * 20 + 3
    assert complexity(asking("```\nx\n```")) == 2 + 2 * 30 + 1


def test_once_a_budget_is_spent_the_one_with_the_least_price_is_chosen() -> None:
    routes = [
        Route("unknown"),
        Route("dear", price=lambda: 18.0),
        Route("cheap", price=lambda: 0.75),
        Route("x", (Work.CHAT,)),
    ]
    choice = chosen(routes, asking("hi", cheapest=True, kept="dear"))
    assert (choice.model, choice.why) == ("cheap", "a budget is spent: the cheapest")
    assert chosen(routes[:1], asking("hi", cheapest=True)).model == "unknown"


async def test_nobody_dearer_stands_in_for_the_cheapest() -> None:
    async with vendors([Reply("slow down", status=429, retry_after="60")], [Reply("I am dear.")]) as it:
        with pytest.raises(ModelFailed):
            await it.chain.reply(asking("hi", cheapest=True), lambda _: None)
        assert it.counts() == (1, 0)


async def test_calls_failures_fallbacks_and_rests_are_counted_by_the_names_of_the_settings() -> None:
    metering = Metering(Metrics(), Web())
    async with vendors([Reply("busy", status=429, retry_after="60")], [Reply("hello")]) as it:
        assert metering.model(it.chain) is it.chain
        assert (await it.ask()).text == "hello"
    meters = metering.meters
    assert dict(meters.model_calls) == {("openai/gpt-4o", "failed"): 1, ("sonnet", "replied"): 1}
    assert dict(meters.model_failures) == {("openai/gpt-4o", "busy"): 1}
    assert dict(meters.stood_in) == {("sonnet", "openai/gpt-4o"): 1}
    assert dict(meters.rested) == {("openai/gpt-4o", "busy"): 1}
    assert dict(meters.tokens)[("anthropic/claude-sonnet-4-5", "out")] > 0
