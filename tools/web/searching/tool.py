"""The tool that searches the web: one service after another, until one answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Final

import structlog

from runtime.contract import Carries, Effect, Flow, Reads, Tool
from runtime.egress import Egress, NoAnswer, Refused
from runtime.errors import ToolFailed, ToolRetry
from tools.kit.declare import tool
from tools.web.searching.services import Result, Service

log = structlog.get_logger("search")

WEB_SEARCH: Final = "web_search"
RESULTS_USUAL: Final = 5
RESULTS_MAX: Final = 20
QUERY_MAX_CHARS: Final = 400
ANSWER_MAX_BYTES: Final = 1 << 20
SERVICE_TIMEOUT: Final = timedelta(seconds=10)
SEARCH_TIMEOUT: Final = timedelta(seconds=45)
RESULTS_BOUND: Final = 20_000
"""Characters of a result."""
ANSWERED: Final = 200
SEARCH_FLOW: Final = Flow(Reads.OUTSIDE, "web search", carries={"query": Carries.WORDS, "n": Carries.DETAIL})
NOTHING_FOUND: Final = "Nothing was found. Try other words."


def search_tool(egress: Egress, services: Sequence[Service]) -> Tool:
    """The tool `web_search`, which asks `services` in this order through `egress`."""

    @tool(effect=Effect.READ, timeout=SEARCH_TIMEOUT, output_bound=RESULTS_BOUND, flow=SEARCH_FLOW)
    async def web_search(
        query: Annotated[str, "Words that the page would have."],
        n: Annotated[int, f"Results, at most {RESULTS_MAX}."] = RESULTS_USUAL,
    ) -> str:
        """Search the web; http_get then reads a page. Name the pages that you use."""
        query = " ".join(query.split())
        if not query or len(query) > QUERY_MAX_CHARS or not 1 <= n <= RESULTS_MAX:
            raise ToolRetry(f"Give a query of at most {QUERY_MAX_CHARS} characters, and n from 1 to {RESULTS_MAX}.")
        return told(await found(egress, services, query, n))

    return web_search


async def found(egress: Egress, services: Sequence[Service], query: str, n: int) -> Sequence[Result]:
    """Results of the first service that answers. Errors: ToolFailed if none does, with each one's reason."""
    faults = []
    for service in services:
        try:
            return await _asked(egress, service, query, n)
        except (Refused, NoAnswer) as error:
            log.warning("a search service does not answer", service=service.name, reason=str(error))
            faults.append(f"{service.name}: {error}")
    raise ToolFailed(f"No search service answered. {' '.join(faults)}")


async def _asked(egress: Egress, service: Service, query: str, n: int) -> Sequence[Result]:
    order = service.ask(query, n)
    answer = await egress.request(
        order.method,
        order.url,
        tool=WEB_SEARCH,
        headers=order.headers,
        body=order.body,
        most=ANSWER_MAX_BYTES,
        timeout=SERVICE_TIMEOUT,
    )
    if answer.status != ANSWERED:
        raise NoAnswer(f"It answered with status {answer.status}.", sent=True)
    try:
        return service.read(answer.body, n)
    except (ValueError, RecursionError) as error:
        raise NoAnswer(f"Its answer can't be read: {error}.", sent=True) from error


def told(results: Sequence[Result]) -> str:
    """Results as the model reads them."""
    lines = [
        f"{number}. {one.title or one.url}\n{one.url}\n{one.words}".rstrip() for number, one in enumerate(results, 1)
    ]
    return "\n\n".join(lines) or NOTHING_FOUND
