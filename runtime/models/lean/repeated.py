"""A call like one before it enters LiteLLM where its request is made.

On the way there LiteLLM works out from a call's arguments which vendor is meant, which of them it knows and how it wants them,
by way of a thread, of validation and of records for loggers: half the processor time of a call. Where only the
messages differ the result is the same, so the first call of a kind is watched, and others go on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from copy import copy
from functools import partial
from typing import Any, Final

from runtime.models.lean.written import VENDOR, Arguments, Request, Written, is_plain, own
from runtime.models.messages import own_tools

KINDS_MAX: Final = 8
"""Kinds of calls to one model that are remembered: with these tools or those, and with words only."""

SIGNED: Final = "__thought__"
"""In the id of a call that Gemini made; LiteLLM takes it off for other vendors."""

ENTERED: Final[ContextVar[list[dict[str, Any]] | None]] = ContextVar("ENTERED", default=None)
"""Where a watched call's entry is noted."""


def watch(main: Any) -> None:
    """Have LiteLLM's module `main` note how a call enters its HTTP client, for whoever watches."""
    main.base_llm_http_handler.completion = Noting(main.base_llm_http_handler.completion)


class Noting:
    """In place of the client's entry, which it hands everything to."""

    def __init__(self, enter: Callable[..., Any]) -> None:
        self.enter = enter

    def __call__(self, **named: Any) -> Any:
        entered = ENTERED.get()
        if entered is not None:
            entered.append({name: own(value) for name, value in named.items()} | {"logging_obj": record_of(named)})
        return self.enter(**named)


class RepeatedCalls:
    """Calls to one model, through LiteLLM."""

    def __init__(self) -> None:
        self._kinds: list[Kind] = []

    async def ask(self, litellm: Any, arguments: Arguments) -> Any:
        """The answer of `litellm.acompletion`. Errors: as it raises them."""
        constant = {name: value for name, value in arguments.items() if name != "messages"}
        kind = next((one for one in self._kinds if one.constant == constant), None)
        if kind is None or any(is_signed(one) for one in arguments["messages"] if "tool_calls" in one):
            return await self._watched(litellm, arguments, constant)
        return await kind.ask(litellm, arguments)

    async def _watched(self, litellm: Any, arguments: Arguments, constant: Arguments) -> Any:
        entered: list[dict[str, Any]] = []
        token = ENTERED.set(entered)
        try:
            answer = await litellm.acompletion(**own_tools(arguments))
        finally:
            ENTERED.reset(token)
        if len(entered) == 1 and entered[0]["custom_llm_provider"] == VENDOR:
            self._kinds = [Kind(constant, entered[0]), *self._kinds][:KINDS_MAX]
        return answer


class Kind:
    """Calls that differ in their messages alone. `entry` is how one of them entered the client."""

    def __init__(self, constant: Arguments, entry: dict[str, Any]) -> None:
        self.constant = constant
        self._entry = {name: value for name, value in entry.items() if name not in ("messages", "model_response")}
        self._response: Any = None
        self._request: Request | None = None
        self._made = False

    async def ask(self, litellm: Any, arguments: Arguments) -> Any:
        """Errors: as `litellm.acompletion` raises them."""
        main = litellm.main
        try:
            messages = main.validate_and_fix_openai_messages(messages=arguments["messages"])
            if not self._made:
                self._make(main)
            if self._request is not None:
                return await self._request.ask(main, messages, partial(copy, self._response))
            return await main.base_llm_http_handler.completion.enter(**self._fresh(messages))
        except Exception as error:
            told: dict[str, Any] = {"completion_kwargs": arguments, "extra_kwargs": arguments}
            raise main.exception_type(
                model=arguments["model"], custom_llm_provider=VENDOR, original_exception=error, **told
            ) from error

    def _make(self, main: Any) -> None:
        """Make what all calls share."""
        self._response = main.ModelResponse()
        self._response.usage = main.litellm.Usage()
        self._entry["provider_config"] = Written(self._entry, config_of(main, self._entry))
        if is_plain(self._entry):
            self._request = Request(main, self._entry)
        self._made = True

    def _fresh(self, messages: list[Any]) -> dict[str, Any]:
        """The entry of a call with `messages`. What LiteLLM writes into is its own."""
        entry = {name: own(value) for name, value in self._entry.items()}
        record = entry["logging_obj"] = record_of(entry)
        record.messages = messages
        return entry | {"messages": messages, "model_response": copy(self._response)}


def config_of(main: Any, entry: Arguments) -> Any:
    """Config that LiteLLM looks up for a call that enters its HTTP client without one."""
    from litellm.utils import ProviderConfigManager

    vendor = main.litellm.LlmProviders(VENDOR)
    return entry.get("provider_config") or ProviderConfigManager.get_provider_chat_config(
        model=entry["model"], provider=vendor
    )


def record_of(named: Arguments) -> Any:
    """The record of a call, which its loggers would read, for another one: without what was said."""
    record = copy(named["logging_obj"])
    record.messages, record.streaming_chunks, record.sync_streaming_chunks = [], [], []
    record.model_call_details = record.model_call_details | {"input": [], "messages": []}
    return record


def is_signed(message: Mapping[str, Any]) -> bool:
    calls: Iterable[Mapping[str, Any]] = message["tool_calls"]
    return any(SIGNED in call["id"] for call in calls)
