"""Ways out of templates: each is refused in words or comes out as plain text, and none takes long or much memory.

Text is read as a template in three places: bodies of reports and schedules, and expressions for their charts (both in a
process of its own, whoever planned them, by command, on the page, in the settings or by a tool), and prompts of the
settings, which know values and conditions alone. Rules, webhooks, MCP servers, models and messages have no templates: text
that looks like one stays there as it is, which is counted too.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Final

import pytest

from adapters.webhook.parse import told_of
from adapters.webhook.payload import JSON, payload_of
from adapters.webhook.proof import signed_by
from adapters.webhook.settings import Hook, Proof
from bot.operator.reports import REPORTS_FOLDER
from runtime.models.failures import of_status
from runtime.reports.catalogue import Catalogue
from runtime.templating.order import RENDERED_MAX_CHARS, Order, Piece
from runtime.templating.program import ANSWER_MAX_CHARS
from runtime.templating.prompts import Given, PromptFault, Values, prompt_of
from runtime.templating.renderer import Renderer
from runtime.templating.sheet import Sheet, TemplateError, read_sheet
from tests.security import escapes
from tests.security.sampling import one_in
from tests.security.tally import Tallied, Tally

PROCESSOR: Final = timedelta(seconds=1)
SECRET: Final = "canary-4711"
INSIDE: Final = re.compile(
    rf"object at|0x[0-9a-f]{{6}}|Traceback|built-in|<\\?/?(class|function|bound|generator|module)|root:x:|uid=|1337|{SECRET}"
    r"|mappingproxy|Piece\(|Result\("
)
"""Signs that something of the process came out. 1,337 is 7 times 191, which the attempts have multiplied."""
FAULT_MAX_CHARS: Final = 600
AT: Final = datetime(2026, 11, 22, 9, tzinfo=UTC)
DATA: Final = {
    "x": Piece("look", "text"),
    "d": Piece("look", '{"a": 1}'),
    "rows": Piece("look", '[{"a": 1}]'),
}
SHEET: Final = Sheet("t", "")
ORDER: Final = Order(
    "",
    0,
    DATA,
    options={"hours": 24},
    name="Morning",
    now=AT.isoformat(),
    planned_at=AT.isoformat(),
    zone="Europe/Berlin",
)
PAYLOAD: Final = {"a": ["b"], "keys": 1}
HOOK: Final = Hook("deploys", "web:r1", Proof("token", "secret"), headers=("X-Event",))

Held = Callable[[], Awaitable[bool]]
Case = tuple[str, Held]


# ---------------------------------------------------------------------------------- where text is read as a template


async def _rendered(renderer: Renderer, body: str) -> bool:
    return await _is_harmless(renderer.text(SHEET, replace(ORDER, body=body)))


async def _drawn(renderer: Renderer, expression: str) -> bool:
    order = replace(ORDER, expressions={"c": expression})
    return await _is_harmless(renderer.values(SHEET, order), most=ANSWER_MAX_CHARS)


async def _only_read(renderer: Renderer, body: str) -> bool:
    return await _is_harmless(renderer.check(replace(SHEET, body=body), AT))


async def _is_harmless(answer: Awaitable[object], most: int = RENDERED_MAX_CHARS) -> bool:
    """True where it was refused in words, or where nothing of the process came out, and at most so much."""
    try:
        said = str(await answer)
    except TemplateError as error:
        said, most = str(error), FAULT_MAX_CHARS
    return INSIDE.search(said) is None and len(said) <= most


async def _prompted(text: str) -> bool:
    values: Values = {"date": "Sunday", "room": {"name": Given("ops")}, "person": {"name": Given("Ada")}}
    try:
        said = prompt_of(text).filled(values)
    except PromptFault as fault:
        said = str(fault)
    return INSIDE.search(said) is None


async def _headed(header: str) -> bool:
    return _is_refused(lambda: read_sheet("t", f"+++\n{header}\n+++\n"))


async def _named(catalogue: Catalogue, name: str) -> bool:
    return _is_refused(lambda: catalogue.sheet(name))


def _is_refused(act: Callable[[], object]) -> bool:
    try:
        act()
    except TemplateError as error:
        return INSIDE.search(str(error)) is None
    return False


# ------------------------------------------------------------------------------------- where it is data, whatever it says


def orders(text: str) -> Mapping[str, Order]:
    """Each way of a text into a template as a value, put out as code, in which nothing is escaped."""
    given = Piece("look", text)
    return {
        "a call's result": replace(ORDER, body="{{ x | code }}", data={"x": given}),
        "a call's error": replace(ORDER, body="{{ data.x.error | code }}", data={"x": replace(given, failed=True)}),
        "a chart's result": replace(ORDER, body="{{ charts.c.text | code }}", charts={"c": given}),
        "a tool's name": replace(ORDER, body="{{ data.x.tool | code }}", data={"x": Piece(text, "")}),
        "an option": replace(ORDER, body="{{ options.a | code }}", options={"a": text}),
        "a schedule's name": replace(ORDER, body="{{ name | code }}", name=text),
        "the report before": replace(ORDER, body="{{ previous | markdown }}", previous=text),
    }


async def _put_out(renderer: Renderer, order: Order, text: str) -> bool:
    return text in await renderer.text(SHEET, order)


async def _told_of_a_hook(text: str) -> bool:
    told = told_of(
        replace(HOOK, prompt=text), {"X-Event": text}, payload_of("text/plain", None, text.encode()), b"", AT
    )
    return told.text.count(text) == 3


async def _picked(place: str) -> bool:
    """True where nothing but values of the payload can be named."""
    words = payload_of(JSON, None, json.dumps(PAYLOAD).encode(), (place,)).words
    return json.loads(words) in ({}, {place: PAYLOAD}, {place: PAYLOAD.get(place)})


async def _signed(text: str) -> bool:
    """True where a place in a header is not filled in a second time."""
    proof = Proof("hmac", "secret", "X-S", "", "{id}.{timestamp}.{body}", "X-T", "X-I")
    return signed_by(proof, {"X-T": "1", "X-I": text}, b"b") == f"{text}.1.b".encode()


async def _told_of_a_model(text: str) -> bool:
    return text in of_status(400, Exception(text), "demo", None).words


async def _prompt_value(text: str) -> bool:
    return prompt_of("{{ room.name }}").filled({"room": {"name": Given(text)}}) == f'"{text}"'


def in_a_process(renderer: Renderer) -> Iterator[Case]:
    """Attempts with their places, each in a process of its own."""
    bodies = chain(escapes.BODIES, escapes.BOMBS)
    expressions = chain(escapes.EXPRESSIONS, escapes.EXPRESSION_BOMBS)
    yield from _of("body", bodies, partial(_rendered, renderer))
    yield from _of("chart", expressions, partial(_drawn, renderer))
    yield from _of("body that is only read", escapes.BOMBS, partial(_only_read, renderer))
    for text in escapes.LITERAL:
        for place, order in orders(text).items():
            yield f"{place}: {text!r}", partial(_put_out, renderer, order, text)


def in_this_process() -> Iterator[Case]:
    """The others."""
    yield from _of("prompt", escapes.PROMPTS, _prompted)
    yield from _of("header", escapes.HEADERS, _headed)
    yield from _of("report", escapes.NAMES, partial(_named, Catalogue(REPORTS_FOLDER)))
    yield from _of("webhook", escapes.LITERAL, _told_of_a_hook)
    yield from _of("field of a webhook", escapes.FIELDS, _picked)
    yield from _of("signed id", ("{body}", "{timestamp}", "{id}", "{{body}}"), _signed)
    yield from _of("vendor's error", escapes.LITERAL, _told_of_a_model)
    yield from _of("room in a prompt", escapes.LITERAL, _prompt_value)


def _of(place: str, texts: Sequence[str] | Iterator[str], held: Callable[[str], Awaitable[bool]]) -> Iterator[Case]:
    for text in texts:
        yield f"{place}: {text[:80]!r}", partial(held, text)


async def whole(tally: Tally, chosen: Sequence[Case]) -> None:
    answers = await asyncio.gather(*(held() for _, held in chosen), return_exceptions=True)
    for (words, _), held in zip(chosen, answers, strict=True):
        tally.case(held is True, f"{words}: {held!r}"[:300])
    tally.close()


@pytest.fixture
def renderer(monkeypatch: pytest.MonkeyPatch) -> Renderer:
    monkeypatch.setenv("SIGNALBOX_TEST_SECRET", SECRET)
    return Renderer(processor=PROCESSOR)


async def test_of_the_ways_out_of_a_template_a_part_is_shut(renderer: Renderer, tallied: Tallied) -> None:
    """All that cost next to nothing, and one in twenty of the others."""
    chosen = [*in_this_process(), *one_in(20, list(in_a_process(renderer)))]
    await whole(tallied("template escapes, a part", 100), chosen)


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_no_way_out_of_a_template_is_open(renderer: Renderer, tallied: Tallied) -> None:
    await whole(tallied("template escapes", 300), [*in_this_process(), *in_a_process(renderer)])
