"""The request of a call like one before it: what all of them share is made once, by LiteLLM's config of the vendor."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any, Final

from runtime.models.lean.sent import Read, Straight, arrived, is_bounded, plain, straight

Arguments = Mapping[str, Any]

VENDOR: Final = "openai"
"""The wire of OpenAI and of servers like it. For some others LiteLLM makes arguments of messages."""

WRITTEN_OTHERWISE: Final = frozenset({"json_mode", "extra_body", "fake_stream"})
"""Parameters that LiteLLM's client takes out of a call itself."""


class Request:
    """A call whose answer comes whole: from its messages to the request, and from the response to the answer, by LiteLLM's config.

    Its client makes the rest anew for each call: headers, address, and records for loggers. Plain words need neither.
    """

    def __init__(self, main: Any, entry: Arguments) -> None:
        import httpx
        from litellm.llms.custom_httpx.http_handler import get_async_httpx_client

        self._config, self._entry = entry["provider_config"], entry
        self._client: Any = partial(get_async_httpx_client, llm_provider=main.litellm.LlmProviders(VENDOR))
        optional = own(entry["optional_params"])
        self._optional = {name: value for name, value in optional.items() if name not in WRITTEN_OTHERWISE}
        about = {name: entry[name] for name in ("api_key", "model", "api_base", "litellm_params")}
        about["optional_params"] = self._optional
        self._headers = self._config.validate_environment(headers=own(entry["headers"] or {}), messages=[], **about)
        self._url = httpx.URL(self._config.get_complete_url(stream=False, **about))
        self._way: tuple[Any, Arguments, Straight | None] | None = None

    async def ask(self, main: Any, messages: list[Any], response: Callable[[], Any]) -> Any:
        """The answer; LiteLLM fills a `response` where it is not plain words. Errors: as the client raises them."""
        entry, litellm_params, headers = self._entry, self._entry["litellm_params"], own(self._headers)
        about = {"model": entry["model"], "messages": messages, "litellm_params": litellm_params}
        data = self._config.transform_request(optional_params=own(self._optional), headers=headers, **about)
        headers, body = self._config.sign_request(headers=headers, request_data=data, fake_stream=False)
        client = self._client(params={"ssl_verify": litellm_params.get("ssl_verify")})
        sent = await self._sent(client, headers, body)
        if isinstance(sent, Read):
            if answer := plain(sent.body):
                return answer
            raw = sent.response()
        else:
            raw = await self._received(main, client, headers, data, body, sent)
        return self._config.transform_response(
            raw_response=raw,
            model_response=response(),
            api_key=entry["api_key"],
            request_data=data,
            optional_params=self._optional,
            encoding=entry["encoding"],
            json_mode=False,
            logging_obj=NO_RECORD,
            **about,
        )

    async def _sent(self, client: Any, headers: Arguments, body: bytes | None) -> Any:
        """Outcome of the request on the straight way; None where it was not sent."""
        if body is None or is_bounded():
            return None
        if self._way is None or self._way[0] is not client or self._way[1] != headers:
            self._way = client, headers, await straight(client, self._url, headers, self._entry["timeout"])
        way = self._way[2]
        return await way.send(body) if way else None

    async def _received(self, main: Any, client: Any, headers: Any, data: Any, body: bytes | None, sent: Any) -> Any:
        """The response by LiteLLM's client: of what was `sent` already, or it sends. Errors: as the client raises them."""
        asking = main.base_llm_http_handler._make_common_async_call(
            async_httpx_client=client,
            provider_config=self._config,
            api_base=self._url,
            headers=headers,
            data=data,
            timeout=self._entry["timeout"],
            litellm_params=self._entry["litellm_params"],
            logging_obj=NO_RECORD,
            signed_json_body=body,
        )
        if sent is None:
            return await asking
        with arrived(sent):
            return await asking


class NoRecord:
    """In place of the record of a call, for loggers that we have none of."""

    def post_call(self, **_: object) -> None:
        """Note nothing."""


NO_RECORD: Final = NoRecord()


def is_plain(entry: Arguments) -> bool:
    """True for a call whose answer comes whole and is nothing but what LiteLLM's config makes of the response."""
    own_ways = entry["stream"], entry.get("fake_stream"), entry.get("client"), entry.get("shared_session")
    is_written = entry["acompletion"] and not entry["provider_config"].uses_async_transform_request
    otherwise = (entry["optional_params"].get(name) for name in WRITTEN_OTHERWISE)
    return bool(is_written) and not any(own_ways) and not any(otherwise)


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


def own(value: Any) -> Any:
    """A copy of what may be written into; of `optional_params` that is also one of its values."""
    match value:
        case dict():
            return {name: copy(one) if isinstance(one, dict | list) else one for name, one in value.items()}
        case _:
            return value
