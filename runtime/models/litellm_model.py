"""Any model that LiteLLM speaks to, behind our Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

import structlog

from runtime.contract import AssistantTurn, ModelReply, ModelRequest, OnText, Usage, UserTurn
from runtime.domain.transcript import OURS
from runtime.errors import Cause, ContextOverflow, ModelFailed
from runtime.models.account.keys import Keys
from runtime.models.account.pricing import Pricing, bounded, cached_tokens, estimated_usage
from runtime.models.account.tokens import KeyInUse
from runtime.models.draft import Draft
from runtime.models.failures import (
    BROKE_OFF,
    EMPTY_ANSWER,
    FILTERED,
    REFUSED,
    TOO_LONG,
    WHOLE_STREAM,
    Failure,
    Repeat,
    Unusable,
    endless,
    failure_of,
)
from runtime.models.images import NO_IMAGES, Sight
from runtime.models.lean.repeated import RepeatedCalls
from runtime.models.litellm_loading import LIBRARY, Library
from runtime.models.messages import Offer, in_loop, own_tools, thought_back, to_messages
from runtime.models.settings import ModelSettings
from runtime.text.glyphs import bound

log = structlog.get_logger("models")

BACKOFF: Final = (timedelta(seconds=0.5), timedelta(seconds=2))
"""Waits before the repeats where the provider names none; the last one goes on."""

CONTINUATIONS: Final = 3
"""How often an answer that was cut at the length limit is asked to go on."""

GO_ON: Final = (
    f"{OURS}Your answer was cut at its length limit. Go on exactly where it ended: repeat nothing, and begin with no words "
    "of your own about it."
)
CUT_NOTE: Final = "\n\n*(The answer ends here: the model reached its length limit.)*"

TURNED_OVER: Final = (Cause.BUSY, Cause.BILLING, Cause.AUTH)
"""Failures of a key, or of the account behind it; the sooner it is over, the earlier."""

CLAUDE: Final = "claude"
"""In the name of each model of Anthropic's, whichever vendor has it."""

HEAD_START: Final = 0.2
"""Seconds for a sign of being at work to be on its way before LiteLLM is loaded, which takes up a processor."""
NO_PRICE: Final = 'budgets.unpriced is "refuse"; set input_price and output_price'

Sleep = Callable[[float], Awaitable[None]]
Failed = tuple[Failure, Exception]


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and whether it was cut at the model's length limit."""

    reply: ModelReply
    is_cut: bool


class LiteModel:
    """One model, asked through LiteLLM."""

    def __init__(self, settings: ModelSettings, *, library: Library = LIBRARY, sleep: Sleep = asyncio.sleep) -> None:
        self.name = settings.name
        self._settings = settings
        self._library = library
        self._sleep = sleep
        self._offer = Offer()
        self._keys = Keys(settings.keys)
        self._pricing = Pricing(settings.name, settings.prices)
        self._sight = Sight(settings.name, settings.images)
        self._repeated = RepeatedCalls()

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        litellm = await self._loaded(on_text)
        if self._settings.prices.are_needed and not self._pricing.is_known(litellm):
            raise ModelFailed(
                f"The model {self._settings.title} has no known price, so it isn't asked.", detail=NO_PRICE
            )
        self._library.spare_loggers()
        try:
            answer = self._reply_of(litellm, await self._usable(litellm, request, on_text), request)
            for _ in range(CONTINUATIONS):
                if not answer.is_cut:
                    break
                answer = await self._continued(litellm, request, answer, on_text)
        except Exception as error:
            self._library.tell_fault(error, self.name, self._keys.hidden)
            raise
        return replace(answer.reply, text=answer.reply.text + CUT_NOTE) if answer.is_cut else answer.reply

    async def _usable(self, litellm: Any, request: ModelRequest, on_text: OnText) -> Draft:
        """An answer that can be used, after as many tries as its failures are worth. Each key is tried once in each."""
        images = await self._sight.images(litellm, request)
        tries, of_keys, used = 1, list[Failed](), KeyInUse(self._keys, self._settings.tokens)
        while True:
            key = self._keys.current
            try:
                value = await used.value(key)
                draft = await self._ask(litellm, self._arguments(request, images, value), on_text)
                require_usable(draft)
            except Exception as error:  # noqa: BLE001 - LiteLLM names no closed set of errors; all end in ModelFailed
                failure = failure_of(error, litellm=litellm, model=self.name, limit=self._settings.timeout)
                if images and self._refuses_images(error, failure, images):
                    images = NO_IMAGES
                elif await used.renewed(getattr(error, "status_code", None)):
                    log.info("asked again with a fresh token", model=self.name)
                elif len(of_keys) + 1 < len(self._keys) and self._turns_over(failure, key):
                    of_keys.append((failure, error))
                else:
                    await self._wait_or_raise(*soonest_over([*of_keys, (failure, error)]), tries)
                    tries, of_keys = tries + 1, []
            else:
                self._keys.accept(key)
                return draft

    def _refuses_images(self, error: Exception, failure: Failure, images: Mapping[str, str]) -> bool:
        """True if it is the images that a provider does not take; they are not shown to it again."""
        if failure.cause is not Cause.REQUEST or getattr(error, "status_code", None) not in REFUSED:
            return False
        log.warning("asked again without images", model=self.name, detail=self._detail(error))
        self._sight.refuse(images)
        return True

    def _turns_over(self, failure: Failure, key: str) -> bool:
        """True if another key may do better."""
        if failure.cause not in TURNED_OVER:
            return False
        log.warning("turned over to the next key", model=self.name, reason=failure.words)
        self._keys.turn_over(key, refused=failure.cause is not Cause.BUSY)
        return True

    async def _continued(self, litellm: Any, request: ModelRequest, begun: Answer, on_text: OnText) -> Answer:
        """The answer with what comes after its cut; where that cannot be had it ends there and says so."""
        asked = replace(request, turns=[*request.turns, AssistantTurn(begun.reply.text), UserTurn(GO_ON)])
        try:
            draft = await self._usable(litellm, asked, lambda more: on_text(begun.reply.text + more))
        except ModelFailed as error:
            log.warning("an answer was not continued", model=self.name, reason=str(error))
            return Answer(replace(begun.reply, text=begun.reply.text + CUT_NOTE), is_cut=False)
        more = self._reply_of(litellm, draft, asked)
        text, spent = begun.reply.text + more.reply.text, begun.reply.usage + more.reply.usage
        thought = more.reply.reasoning or begun.reply.reasoning
        return Answer(ModelReply(text, more.reply.calls, spent, reasoning=thought), more.is_cut)

    async def _loaded(self, on_text: OnText) -> Any:
        """LiteLLM. Where that takes seconds people are shown first that somebody is at work."""
        if not self._library.is_loaded:
            on_text("")
            await asyncio.sleep(HEAD_START)
        return await self._library.get(lean=self._settings.lean)

    def _arguments(self, request: ModelRequest, images: Mapping[str, str], key: str) -> dict[str, Any]:
        settings = self._settings
        arguments: dict[str, Any] = {
            "model": settings.name,
            "messages": to_messages(request.system, request.turns, images, request.working, settings.name),
            "stream": settings.stream,
            "timeout": settings.timeout.total_seconds(),
            "num_retries": 0,  # also silences the SDK's own retries: ours are the only ones
            "_skip_mcp_handler": True,  # our tools are ours: else the first call with tools loads 19 MB to ask
        }
        optional = {
            "tools": self._offer.of(request.tools),
            "tool_choice": "none" if request.words_only and request.tools else None,
            "api_base": settings.api_base,
            "api_key": key or key_for_own_server(settings),
            "extra_headers": {"OpenAI-Organization": settings.organization} if settings.organization else None,
            "stream_options": {"include_usage": True} if settings.stream else None,
        }
        controls = controls_for(settings, request)
        return arguments | {name: value for name, value in optional.items() if value} | controls

    async def _ask(self, litellm: Any, arguments: dict[str, Any], on_text: OnText) -> Draft:
        seconds, time = self._settings.timeout.total_seconds(), asyncio.get_running_loop().time
        end = time() + WHOLE_STREAM * seconds
        async with asyncio.timeout(seconds) as limit:
            answer = await self._asked(litellm, arguments)
            if not self._settings.stream:
                return whole(answer)
            draft = Draft()
            async with aclosing(answer):
                async for chunk in spoken(answer):
                    limit.reschedule(time() + seconds)
                    if time() > end:
                        raise Unusable(endless(WHOLE_STREAM * self._settings.timeout))
                    if draft.add(chunk.choices[0].delta):
                        on_text(draft.text)
                draft.end()
                draft.finish = answer.received_finish_reason  # a chunk says "stop" even where the server said nothing
                draft.usage = await streamed_usage(litellm, answer)
            return draft

    async def _asked(self, litellm: Any, arguments: dict[str, Any]) -> Any:
        if self._settings.lean:
            return await self._repeated.ask(litellm, arguments)
        return await litellm.acompletion(**own_tools(arguments))

    async def _wait_or_raise(self, failure: Failure, error: Exception, tries: int) -> None:
        """Wait for the next try where there is one, else raise what a person should read."""
        settings = self._settings
        repeats = {Repeat.NEVER: 0, Repeat.ONCE: 1, Repeat.OFTEN: settings.max_retries}[failure.repeat]
        if settings.yields and failure.cause is Cause.BUSY and failure.wait is None:
            repeats = 0  # it needs a rest, and names none
        wait = BACKOFF[min(tries, len(BACKOFF)) - 1] if failure.wait is None else failure.wait
        if tries > repeats or wait > settings.longest_wait:
            # Not "from error": a log of the whole chain would print what the provider wrote, perhaps the key.
            raised = ContextOverflow if failure.cause is Cause.OVERFLOW else ModelFailed
            words, detail = self._keys.hidden(failure.words), self._detail(error)
            raise raised(words, detail=detail, cause=failure.cause, wait=failure.wait) from None
        await self._sleep(max(wait, timedelta(0)).total_seconds())

    def _detail(self, error: Exception) -> str:
        return bound(self._keys.hidden(f"{type(error).__name__}: {error}"), 1_000)

    def _reply_of(self, litellm: Any, draft: Draft, request: ModelRequest) -> Answer:
        taken = (call.id for turn in request.turns if isinstance(turn, AssistantTurn) for call in turn.calls)
        calls = draft.calls(taken) if draft.has_calls else ()
        usage = draft.usage or estimated_usage(litellm, request, draft.text, calls)
        cost = self._pricing.cost(litellm, usage)
        tokens = bounded(usage.prompt_tokens), bounded(usage.completion_tokens)
        spent = Usage(self.name, *tokens, cost or 0, cached_tokens(usage), unpriced=cost is None)
        reply = ModelReply(draft.text, calls, spent, reasoning=draft.reasoning(self.name))
        return Answer(reply, draft.finish == "length")


def controls_for(settings: ModelSettings, request: ModelRequest) -> dict[str, Any]:
    """Controls for one request. In a loop of tool calls Anthropic's models think on only where they thought before.

    Of a call that another model made, or this one without thinking, there are no signed thoughts to send back.
    """
    called = next(in_loop(request.turns), None) if CLAUDE in settings.name else None
    thinks = called is None or bool(thought_back(request.turns[called], settings.name))
    controls = settings.controls.on_the_wire()
    return controls if thinks else {name: value for name, value in controls.items() if name != "reasoning_effort"}


def soonest_over(of_keys: Sequence[Failed]) -> Failed:
    """Of the failures of all keys the one that says when to ask again. The last one does where it is of no key."""
    last, _ = of_keys[-1]
    if last.cause not in TURNED_OVER:
        return of_keys[-1]
    return min(of_keys, key=lambda one: (TURNED_OVER.index(one[0].cause), one[0].wait or timedelta(0)))


def key_for_own_server(settings: ModelSettings) -> str:
    """OpenAI's client insists on a key, which a server of one's own seldom asks for."""
    return "none" if settings.api_base and settings.name.startswith("openai/") else ""


def require_usable(draft: Draft) -> None:
    """Errors: Unusable where `draft` is cut or empty. Calls beside a plain "stop" are fine; a cut call never is."""
    if draft.finish is None:
        raise Unusable(BROKE_OFF)
    if draft.finish == "content_filter":
        raise Unusable(FILTERED)
    if draft.finish == "length" and (draft.has_calls or not draft.text.strip()):
        raise Unusable(TOO_LONG)
    if not draft.text.strip() and not draft.has_calls:
        raise Unusable(EMPTY_ANSWER)


def whole(answer: Any) -> Draft:
    usage = answer.usage if answer.usage.total_tokens else None
    draft = Draft(finish=answer.choices[0].finish_reason, usage=usage)
    draft.take(answer.choices[0].message)
    return draft


async def spoken(stream: Any) -> AsyncIterator[Any]:
    """The chunks of `stream` up to the one that ends the answer.

    What LiteLLM does after that one (it builds the whole response anew for its loggers) costs a third of the call and
    gives us nothing.
    """
    async for chunk in stream:
        if chunk.choices:
            yield chunk
            if chunk.choices[0].finish_reason:
                return


async def streamed_usage(litellm: Any, stream: Any) -> Any:
    """The provider's count, which may be the last thing on the wire; None where it sends none.

    Errors: Unusable where something in there cannot be read. A connection that is cut there has cut nothing of the answer.
    """
    found = next((usage for chunk in reversed(stream.chunks) if (usage := getattr(chunk, "usage", None))), None)
    if stream.received_finish_reason and hasattr(stream.completion_stream, "__aiter__"):
        from runtime.models.frames import CUT_ERRORS, Unreadable  # at this point its library is loaded

        try:
            async for raw in stream.completion_stream:
                found = (raw.get("usage") if isinstance(raw, dict) else getattr(raw, "usage", None)) or found
        except Unreadable as error:
            raise Unusable(BROKE_OFF) from error
        except CUT_ERRORS as error:
            log.debug("cut behind the end of an answer", reason=str(error))
    return found if found is None or isinstance(found, litellm.Usage) else litellm.Usage(**dict(found))
