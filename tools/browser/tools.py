"""The tools that open, read and use web pages in a browser of the conversation's own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import (
    Caller,
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    FileRef,
    Flow,
    Json,
    Reads,
    Tool,
    ToolContext,
)
from runtime.errors import ToolFailed, ToolRetry
from runtime.text.glyphs import clip
from tools.browser.browsers import Browsers
from tools.files.files import replace as replace_file
from tools.kit.declare import FunctionTool, tool

PAGE_TEXT_MAX_CHARS: Final = 25_000
BROWSER_TIMEOUT: Final = timedelta(seconds=120)  # a start of the browser and its test, and one step
SHOTS_FOLDER: Final = "screenshots"
SHOT_PATH: Final = re.compile(rf"{SHOTS_FOLDER}/[\w][\w.-]{{0,80}}\.png")
SHOT_MAX_BYTES: Final = 20 << 20
TYPED_MAX_CHARS: Final = 10_000
CARD_MAX_CHARS: Final = 200
SOURCE: Final = "a web page"
READING: Final = Flow(Reads.OUTSIDE, SOURCE, carries={"part": Carries.DETAIL})
SHOOTING: Final = Flow(Reads.OUTSIDE, SOURCE, writes="{path}", carries={"path": Carries.DETAIL, "full": Carries.DETAIL})
"""The file counts as one from outside."""
USING: Final = Flow(Reads.OUTSIDE, SOURCE, carries={"target": Carries.THING, "text": Carries.WORDS})


def browser_tools(browsers: Browsers) -> Sequence[Tool]:
    """Looking reads; what clicks and types may change anything, so people see the page's address and the element first."""

    @tool(
        effect=Effect.READ,
        timeout=BROWSER_TIMEOUT,
        output_bound=PAGE_TEXT_MAX_CHARS,
        seldom=True,
        flow=Flow(Reads.OUTSIDE, "{url}", carries={"url": Carries.HOST}),
    )
    async def browser_open(url: Annotated[str, "An http(s):// address."], context: ToolContext) -> str:
        """Open a web page in a real browser; returns its text with numbered links and fields."""
        session = await browsers.opened(context.session)
        return await session.open(url)

    @tool(effect=Effect.READ, timeout=BROWSER_TIMEOUT, output_bound=PAGE_TEXT_MAX_CHARS, seldom=True, flow=READING)
    async def browser_read(context: ToolContext, part: Annotated[int, "Of a long page."] = 1) -> str:
        """Read the page that is open in the browser, as it is now."""
        return await (await browsers.of(context.session)).read(part)

    @tool(effect=Effect.READ, timeout=BROWSER_TIMEOUT, output_bound=PAGE_TEXT_MAX_CHARS, seldom=True, flow=SHOOTING)
    async def browser_screenshot(
        path: Annotated[str, f"PNG to write: {SHOTS_FOLDER}/NAME.png."],
        context: ToolContext,
        full: Annotated[bool, "The whole page."] = False,
    ) -> str:
        """Take a picture of the page in the browser; it is attached to the reply."""
        if not SHOT_PATH.fullmatch(path):
            raise ToolRetry(f"Give a path such as {SHOTS_FOLDER}/start-page.png.")
        session = await browsers.of(context.session)
        png = await session.picture(full=full)
        if len(png) > SHOT_MAX_BYTES:
            raise ToolFailed(f"The picture has {len(png) >> 20} MiB, and {SHOT_MAX_BYTES >> 20} is the most.")
        await asyncio.to_thread(replace_file, context.workspace, path, png)
        context.attach(FileRef(name=path.rpartition("/")[2], path=path, size=len(png), mime="image/png"))
        return f"Took {path} ({len(png) // 1024 + 1} kB). It is attached to your reply."

    @tool(effect=Effect.READ, seldom=True, flow=Flow(Reads.OURS, stays=True, carries={}))
    async def browser_close(context: ToolContext) -> str:
        """Close the browser of this conversation."""
        await browsers.close(context.session)
        return "The browser is closed."

    return (browser_open, browser_read, browser_screenshot, browser_close, *_using(browsers))


def _using(browsers: Browsers) -> Sequence[Tool]:
    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        target = browsers.target(str(arguments.get("target")))
        told, url = (target.element.told, target.url) if target else ("gone", "a page that isn't open any more")
        typed: list[CardPart] = [CardText("text")] if "text" in arguments else []
        return [
            CardValue("target", also=clip(told, CARD_MAX_CHARS)),
            *typed,
            CardNote(f"on {clip(url, CARD_MAX_CHARS)}"),
        ]

    async def refusal(arguments: Mapping[str, Json], caller: Caller) -> str:
        """Nobody is asked about an element that is not there, or is shown one of another conversation."""
        name = str(arguments.get("target"))
        return "" if browsers.has(caller.session, name) else browsers.gone(name.rpartition("-")[0])

    @tool(
        effect=Effect.DANGER,
        timeout=BROWSER_TIMEOUT,
        output_bound=PAGE_TEXT_MAX_CHARS,
        card=card,
        seldom=True,
        flow=USING,
    )
    async def browser_click(target: Annotated[str, "As it was read, such as k7qd1-12."], context: ToolContext) -> str:
        """Click a link or button on the page in the browser."""
        return await (await browsers.of(context.session, target)).click(target)

    @tool(
        effect=Effect.DANGER,
        timeout=BROWSER_TIMEOUT,
        output_bound=PAGE_TEXT_MAX_CHARS,
        card=card,
        seldom=True,
        flow=USING,
    )
    async def browser_fill(
        target: Annotated[str, "A field, as it was read."],
        text: Annotated[str, "An option's words for a list, yes or no for a box."],
        context: ToolContext,
    ) -> str:
        """Type into a field of the page in the browser; no passwords."""
        if len(text) > TYPED_MAX_CHARS:
            raise ToolFailed(f"A field takes at most {TYPED_MAX_CHARS:,} characters.")
        return await (await browsers.of(context.session, target)).fill(target, text)

    used: tuple[FunctionTool, ...] = (browser_click, browser_fill)
    return [replace(one, spec=replace(one.spec, refusal=refusal)) for one in used]
