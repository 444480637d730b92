"""Makes the text and the pictures of a report as its run would, for one who looks: nothing is posted or kept.

The template's own model is asked, so the text is what a report would say. Only tools that read our own figures are called,
and the process that renders is bounded as for every report.
"""

from __future__ import annotations

import asyncio
import base64
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from bot.operator.actor import Actor
from bot.operator.views import View
from runtime.agent.run_state import Maker
from runtime.contract import (
    AssistantTurn,
    Call,
    FileRef,
    Job,
    ModelRequest,
    RunId,
    SessionKey,
    Tool,
    ToolContext,
    ToolTurn,
    Turn,
)
from runtime.domain.schedules import NO_NEWS
from runtime.domain.transcript import ERROR
from runtime.errors import ModelFailed, ToolError
from runtime.http.errors import Refusal
from runtime.markup import parse, to_html
from runtime.markup.moments import in_words
from runtime.text.glyphs import clip

PREVIEW_LIMIT: Final = timedelta(seconds=30)
"""For all of it: what a reader waits for who looks at a report."""
PLACE_WAIT: Final = timedelta(seconds=5)
PREVIEW_MAX_CHARS: Final = 40_000
PREVIEWS_AT_ONCE: Final = 2
ROUNDS_MAX: Final = 4
"""Replies of a template: its data, its charts, its text, and one to spare."""
CHART: Final = "chart"
ONLY_FIGURES: Final = (
    "This template calls {tool}, which a preview doesn't: it only calls what reads Signalbox's own figures ({known}). "
    "When the report is due, {tool} is called like any other tool."
)
TOO_SLOW: Final = "The preview took longer than {seconds:g} seconds, so it was stopped. Does the template loop?"
OTHERS_LOOK: Final = "Others are looking at reports just now. Try again in a moment."
NO_CHARTS: Final = f"{ERROR}charts can only be drawn while Signalbox runs."


@dataclass(slots=True)
class Drawn:
    """Pictures that are put onto the report, each with what it shows in words."""

    folder: Path
    files: list[tuple[FileRef, str]] = field(default_factory=list)

    def pictures(self) -> list[View]:
        return [
            {
                "name": file.name,
                "alt": alt,
                "png": base64.b64encode((self.folder / file.path).read_bytes()).decode(),
            }
            for file, alt in self.files
        ]


@dataclass(frozen=True, slots=True)
class ReportPreview:
    """`maker` speaks in a model's place. `figures` are the tools that may be called, and `chart` draws, where anything
    can. `mask` hides secrets, and `places` bound how many are made at once."""

    maker: Callable[[Job], Maker]
    figures: Mapping[str, Tool]
    chart: Tool | None
    mask: Callable[[str], str]
    places: asyncio.Semaphore

    async def made(self, job: Job, actor: Actor) -> View:
        """The report's text and pictures. Errors: Refusal 422 with what is wrong."""
        with tempfile.TemporaryDirectory(prefix="signalbox-preview-") as folder:
            drawn = Drawn(Path(folder))
            try:
                async with self._place(), asyncio.timeout(PREVIEW_LIMIT.total_seconds()):
                    text = await self._text(job, drawn, actor)
            except ModelFailed as error:
                raise Refusal(422, str(error)).of_field(job.task.kind) from error
            except TimeoutError as error:
                words = TOO_SLOW.format(seconds=PREVIEW_LIMIT.total_seconds())
                raise Refusal(422, words).of_field(job.task.kind) from error
            return {**_told(self.mask(text)), "charts": await asyncio.to_thread(drawn.pictures)}

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """One of the places, for which nobody waits long. Errors: Refusal 429."""
        try:
            async with asyncio.timeout(PLACE_WAIT.total_seconds()):
                await self.places.acquire()
        except TimeoutError:
            raise Refusal(429, OTHERS_LOOK) from None
        try:
            yield
        finally:
            self.places.release()

    async def _text(self, job: Job, drawn: Drawn, actor: Actor) -> str:
        maker, turns = self.maker(job), list[Turn]()
        for _ in range(ROUNDS_MAX):
            reply = await maker.reply(ModelRequest("", turns, ()), lambda _: None)
            if not reply.calls:
                return reply.text
            results = [await self._called(call, job, drawn, actor) for call in reply.calls]
            turns += [AssistantTurn(reply.text, reply.calls), *results]
        raise ModelFailed("This template asks for more and more. Remove some of its data.")

    async def _called(self, call: Call, job: Job, drawn: Drawn, actor: Actor) -> ToolTurn:
        tool = self.chart if call.tool == CHART else self.figures.get(call.tool)
        if tool is None and call.tool == CHART:
            return ToolTurn(call.id, call.tool, NO_CHARTS)
        if tool is None:
            words = ONLY_FIGURES.format(tool=call.tool, known=", ".join(sorted(self.figures)))
            raise Refusal(422, words).of_field(job.task.kind)
        here: list[FileRef] = []
        context = ToolContext(drawn.folder, SessionKey(""), RunId(""), "", requester=actor.person, attach=here.append)
        arguments = json.loads(call.arguments)
        try:
            result = await tool.call(arguments, context)
        except ToolError as error:
            return ToolTurn(call.id, call.tool, f"{ERROR}{error}")
        drawn.files += [(file, _alt(arguments)) for file in here]
        return ToolTurn(call.id, call.tool, result)


def _alt(arguments: Mapping[str, Any]) -> str:
    """Words for people who can't see a chart that was drawn of these arguments."""
    from tools.charting.alt import alt_of
    from tools.charting.arguments import Asked, order_of

    return alt_of(order_of(Asked(**{"labels": (), "series": (), **arguments})))


def _told(text: str) -> View:
    """The text as Markdown and as pages show it. One that is too long for a look is cut."""
    if text.strip() == NO_NEWS:
        return {"silent": True, "cut": False, "text": "", "html": ""}
    shown = clip(text, PREVIEW_MAX_CHARS)
    return {
        "silent": False,
        "cut": len(text) > PREVIEW_MAX_CHARS,
        "text": in_words(shown),
        "html": to_html(parse(shown)),
    }
