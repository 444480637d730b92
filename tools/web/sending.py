"""The tool that changes something elsewhere: a request other than a look, through the guarded client alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from runtime.contract import (
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Reads,
    Tool,
    ToolContext,
)
from runtime.egress import Egress, NoAnswer
from runtime.errors import ToolFailed, ToolRetry
from tools.kit.declare import tool
from tools.kit.keys import key_of
from tools.web.fetch import BOUND, MOST_BYTES, USUAL, told

HTTP_REQUEST: Final = "http_request"
SEND_TIMEOUT: Final = timedelta(seconds=30)
REQUEST_TIMEOUT: Final = timedelta(seconds=60)
BODY_MAX_CHARS: Final = 100_000
HEADERS_MAX: Final = 20
OWN_HEADERS: Final = ("idempotency-key", "content-type")
"""Headers that a call has no say in, or an argument of its own for. An API that knows the first carries a repeat of the
very same call out once: draft-ietf-httpapi-idempotency-key-header."""
REQUEST_FLOW: Final = Flow(
    Reads.OUTSIDE,
    "{url}",
    carries={"url": Carries.HOST, "method": Carries.DETAIL, "body": Carries.WORDS, "content_type": Carries.DETAIL},
)
OUTCOME_UNKNOWN: Final = (
    "Nobody knows whether it was carried out: {reason} Look before you send it again, or ask the person who wants it."
)


def request_tool(egress: Egress) -> Tool:
    """The tool `http_request`, which sends through `egress`: rules of the settings must allow the method and the host."""

    @tool(effect=Effect.WRITE, timeout=REQUEST_TIMEOUT, output_bound=BOUND, card=_card, seldom=True, flow=REQUEST_FLOW)
    async def http_request(
        method: Literal["POST", "PUT", "PATCH", "DELETE"],
        url: Annotated[str, "An https:// address."],
        context: ToolContext,
        body: Annotated[str, "As it is sent."] = "",
        content_type: Annotated[str, "Of the body."] = "application/json",
        headers: Annotated[dict[str, str], "More of them; no keys."] = {},  # noqa: B006 - a schema's default, never changed
    ) -> str:
        """Send a request that changes something at an API."""
        if len(body) > BODY_MAX_CHARS or len(headers) > HEADERS_MAX:
            raise ToolRetry(
                f"A body has at most {BODY_MAX_CHARS:,} characters, and there may be {HEADERS_MAX} headers."
            )
        own = {  # some vendors count the ids of calls anew with each reply, so that what is sent belongs to the key
            "Idempotency-Key": key_of(context.run_id, context.call_id, method, url, body),
            **({"Content-Type": content_type} if body else {}),
        }
        given = {name: value for name, value in headers.items() if name.lower() not in OWN_HEADERS} | own
        data = body.encode() if body else None
        try:
            answer = await egress.request(
                method, url, tool=HTTP_REQUEST, headers=given, body=data, most=MOST_BYTES, timeout=SEND_TIMEOUT
            )
        except NoAnswer as error:
            raise ToolFailed(OUTCOME_UNKNOWN.format(reason=error) if error.sent else str(error)) from error
        return await told(answer, most=USUAL)

    return http_request


def _card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    """The method and the host first: an address may be long."""
    try:
        host = urlsplit(str(arguments.get("url"))).hostname
    except ValueError:
        host = None
    parts: list[CardPart] = [
        CardNote(f"{arguments.get('method')} to {host or 'an address that is none'}"),
        CardValue("url"),
    ]
    if arguments.get("body"):
        parts += [CardValue("content_type"), CardText("body")]
    return [*parts, CardValue("headers")] if arguments.get("headers") else parts
