"""The tool that changes something elsewhere: a request other than a look, through the guarded client alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final, Literal, NoReturn
from urllib.parse import quote_plus, urlsplit

from runtime.contract import (
    Caller,
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
    ToolSpec,
)
from runtime.egress import Egress, NoAnswer, Response
from runtime.errors import UNSURE, ToolFailed, ToolRetry
from tools.kit.declare import tool
from tools.kit.keys import key_of
from tools.kit.placeholders import (
    Filled,
    NoSecrets,
    SecretBook,
    Written,
    as_is,
    filling,
    in_address,
    in_json,
    names_in,
    objection,
)
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
    f"{UNSURE}carried out: {{reason}} Look before you send it again, or ask the person who wants it."
)
FILLED_PARTS: Final = ("url", "headers", "body")
"""Arguments in which placeholders are filled."""
SECRETS_HINT: Final = " A secret goes in as {{{{secret:NAME}}}}, in url, headers or body. There are: {names}."


def request_tool(egress: Egress, secrets: SecretBook | None = None) -> Tool:
    """The tool `http_request`, which sends through `egress`: rules of the settings must allow the method and the host.

    `secrets` are those that its arguments may name.
    """
    book = secrets or NoSecrets()

    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        return _card(arguments, _told_of(book, arguments))

    @tool(effect=Effect.WRITE, timeout=REQUEST_TIMEOUT, output_bound=BOUND, card=card, seldom=True, flow=REQUEST_FLOW)
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
            "Idempotency-Key": key_of(context.key.run, context.key.call, method, url, body),
            **({"Content-Type": content_type} if body else {}),
        }
        given = {name: value for name, value in headers.items() if name.lower() not in OWN_HEADERS}
        names = names_in([url, body, *given.values()])
        filled = await filling(book, names, url, tool=HTTP_REQUEST, context=context)
        try:
            answer = await egress.request(
                method,
                filled.text(url, in_address),
                tool=HTTP_REQUEST,
                headers={name: filled.text(value) for name, value in given.items()} | own,
                body=filled.text(body, _written_in(content_type)).encode() if body else None,
                most=MOST_BYTES,
                timeout=SEND_TIMEOUT,
            )
        except NoAnswer as error:
            _unanswered(error, filled)
        return filled.hidden(await told(_hidden(answer, filled), most=USUAL))

    return replace(http_request, spec=_with_secrets(http_request.spec, book))


def _with_secrets(spec: ToolSpec, book: SecretBook) -> ToolSpec:
    """A spec that refuses secrets for other hosts before anybody is asked, and names those that there are."""

    async def refusal(arguments: Mapping[str, Json], by: Caller) -> str:
        names = names_in([arguments.get(part) for part in FILLED_PARTS])
        return objection(book, names, str(arguments.get("url"))) if names else ""

    named = ", ".join(f"{name} (for {', '.join(hosts)})" for name, hosts in sorted(book.bound().items()))
    hint = SECRETS_HINT.format(names=named) if named else ""
    return replace(spec, refusal=refusal, description=spec.description + hint)


def _written_in(content_type: str) -> Written:
    """The way in which a value stands in a body of this type, so that it can't end its place there."""
    media = content_type.partition(";")[0].strip().lower()
    if media.endswith("json"):
        return in_json
    return quote_plus if media == "application/x-www-form-urlencoded" else as_is


def _hidden(answer: Response, filled: Filled) -> Response:
    """An answer without what it repeats of the secrets, before any of it is cut."""
    return replace(answer, url=filled.hidden(answer.url), body=filled.hidden_bytes(answer.body))


def _unanswered(error: NoAnswer, filled: Filled) -> NoReturn:
    reason = filled.hidden(str(error))
    raise ToolFailed(OUTCOME_UNKNOWN.format(reason=reason) if error.sent else reason) from error


def _told_of(book: SecretBook, arguments: Mapping[str, Json]) -> list[str]:
    """Sentences about the secrets that a call sends, and where they go."""
    names = names_in([arguments.get(part) for part in FILLED_PARTS])
    url = str(arguments.get("url"))
    if names and objection(book, names, url):
        return []  # it isn't sent, and says why
    return [f"sends the secret {name} to {urlsplit(url).hostname}" for name in names]


def _card(arguments: Mapping[str, Json], secrets: list[str]) -> list[CardPart]:
    """The method and the host first: an address may be long."""
    try:
        host = urlsplit(str(arguments.get("url"))).hostname
    except ValueError:
        host = None
    parts: list[CardPart] = [
        CardNote(f"{arguments.get('method')} to {host or 'an address that is none'}"),
        *map(CardNote, secrets),
        CardValue("url"),
    ]
    if arguments.get("body"):
        parts += [CardValue("content_type"), CardText("body")]
    return [*parts, CardValue("headers")] if arguments.get("headers") else parts
