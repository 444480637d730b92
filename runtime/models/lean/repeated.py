"""A call like one before it enters LiteLLM where its request is made.

On the way there LiteLLM works out from a call's arguments which vendor is meant, which of them it knows and how it wants them,
by way of a thread, of validation and of records for loggers: half the processor time of a call. Where only the
messages differ the result is the same, so the first call of a kind is watched, and others go on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from copy import copy
from typing import Any, Final

Arguments = Mapping[str, Any]

VENDOR: Final = "openai"
"""The wire of OpenAI and of servers like it. For some others LiteLLM makes arguments of messages."""

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
        if kind is None or any(map(is_signed, arguments["messages"])):
            return await self._watched(litellm, arguments, constant)
        return await kind.ask(litellm, arguments)

    async def _watched(self, litellm: Any, arguments: Arguments, constant: Arguments) -> Any:
        entered: list[dict[str, Any]] = []
        token = ENTERED.set(entered)
        try:
            answer = await litellm.acompletion(**arguments)
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

    async def ask(self, litellm: Any, arguments: Arguments) -> Any:
        """Errors: as `litellm.acompletion` raises them."""
        main = litellm.main
        try:
            messages = main.validate_and_fix_openai_messages(messages=arguments["messages"])
            return await main.base_llm_http_handler.completion.enter(**self._fresh(main, messages))
        except Exception as error:
            told: dict[str, Any] = {"completion_kwargs": arguments, "extra_kwargs": arguments}
            raise main.exception_type(
                model=arguments["model"], custom_llm_provider=VENDOR, original_exception=error, **told
            ) from error

    def _fresh(self, main: Any, messages: list[Any]) -> dict[str, Any]:
        """The entry of a call with `messages`. What LiteLLM writes into is its own."""
        if self._response is None:
            self._response = main.ModelResponse()
            self._response.usage = main.litellm.Usage()
            self._entry["provider_config"] = Written(self._entry, config_of(main, self._entry))
        entry = {name: own(value) for name, value in self._entry.items()}
        record = entry["logging_obj"] = record_of(entry)
        record.messages = messages
        return entry | {"messages": messages, "model_response": copy(self._response)}


class Written:
    """In place of a vendor's config: a request is written once, and after that only its messages are.

    The tools of an agent are most of a request. Their JSON, and a copy of them without marks for caches, took 0.3 ms a call.
    """

    def __init__(self, entry: Arguments, config: Any) -> None:
        self._config = config
        self._streams = {"stream": True} if entry["stream"] else {}
        self._rest = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._config, name)

    def transform_request(self, *, optional_params: dict[str, Any], **named: Any) -> Any:
        """Request of a call; without its tools where they are written already."""
        if self._rest:
            optional_params = {name: value for name, value in optional_params.items() if name != "tools"}
        return self._config.transform_request(optional_params=optional_params, **named)

    def sign_request(self, *, headers: Any, request_data: dict[str, Any], fake_stream: bool, **_: Any) -> Any:
        """Headers, and the body, to which LiteLLM itself adds the wish for a stream after this."""
        if fake_stream:
            return headers, None
        if not self._rest:
            rest = {name: value for name, value in request_data.items() if name not in ("model", "messages")}
            self._rest = json.dumps({"": "", **rest, **self._streams}).removeprefix('{"": ""')
        model, messages = json.dumps(request_data["model"]), json.dumps(request_data["messages"])
        return headers, f'{{"model": {model}, "messages": {messages}{self._rest}'.encode()


def config_of(main: Any, entry: Arguments) -> Any:
    """Config that LiteLLM looks up for a call that enters its HTTP client without one."""
    from litellm.utils import ProviderConfigManager

    vendor = main.litellm.LlmProviders(VENDOR)
    return entry.get("provider_config") or ProviderConfigManager.get_provider_chat_config(
        model=entry["model"], provider=vendor
    )


def own(value: Any) -> Any:
    """A copy of what may be written into; of `optional_params` that is also one of its values."""
    match value:
        case dict():
            return {name: copy(one) if isinstance(one, dict | list) else one for name, one in value.items()}
        case _:
            return value


def record_of(named: Arguments) -> Any:
    """The record of a call, which its loggers would read, for another one: without what was said."""
    record = copy(named["logging_obj"])
    record.messages, record.streaming_chunks, record.sync_streaming_chunks = [], [], []
    record.model_call_details = record.model_call_details | {"input": [], "messages": []}
    return record


def is_signed(message: Mapping[str, Any]) -> bool:
    calls: Iterable[Mapping[str, Any]] = message.get("tool_calls", ())
    return any(SIGNED in call["id"] for call in calls)
