"""A whole process in the test's own loop, with a channel whose platform is two lists."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from bot.server.app import App, build
from bot.server.process import serving
from bot.settings.settings import Settings, load
from bot.testing.scripted import Answer, Scripted
from runtime.contract import (
    CONNECTED,
    Address,
    Attempt,
    Call,
    Choice,
    Clicked,
    ConnectionStatus,
    Delivery,
    Features,
    Identity,
    Part,
    Receipt,
    Said,
    Settled,
    SettleResult,
    Signal,
    Sink,
    Tool,
    Verdict,
    Wire,
)
from runtime.domain.approvals import ApprovalState
from runtime.domain.ids import new_id
from runtime.errors import Uncertain

ADA = Identity("notebook:ada")
DESK = Address("notebook", "notebook-1", "desk")
LIST = Call("c1", "list_files", "{}")
WRITE = Call("c2", "write_file", '{"path": "secret.txt", "content": "the secret"}')


class Notebook:
    """A channel whose platform is two lists. `cut` sends end without an answer; with `edits` it changes what is shown, which takes
    `change` seconds."""

    channel, account, identity = "notebook", "main", "notebook-1"

    def __init__(self, cut: int = 0, *, edits: bool = False, change: float = 0.0) -> None:
        self.shown: list[Part] = []
        self.cut = cut
        self.edits = edits
        self.change = change
        self.news = asyncio.Event()

    def features(self) -> Features:
        return Features(settles=True, edits=self.edits)

    async def listen(self, sink: Sink) -> None:
        await asyncio.Event().wait()

    def render(self, delivery: Delivery) -> list[Wire]:
        return [Wire(delivery.content.text)]

    async def show(self, part: Part) -> Receipt:
        if self.cut:
            self.cut -= 1
            raise Uncertain("the line was cut: the secret")
        self.shown.append(part)
        self.news.set()
        return Receipt(part.id)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        await asyncio.sleep(self.change)
        return await self.show(part)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return SettleResult.ABSENT

    def standing(self) -> ConnectionStatus:
        return CONNECTED

    async def until(self, words: str) -> Part:
        """Wait until a part with these words is shown."""
        async with asyncio.timeout(20):
            while not (found := next((part for part in self.shown if words in part.body), None)):
                self.news.clear()
                await self.news.wait()
        return found


class Running:
    """A process at work, and what people do with it."""

    def __init__(self, app: App, notebook: Notebook, url: str) -> None:
        self.app = app
        self.notebook = notebook
        self.url = url

    async def say(self, words: str, key: str = "") -> Verdict:
        return await self.app.sink(
            Signal("notebook-1", key or new_id(), ADA, "Ada", DESK, Said(words), datetime.now(UTC))
        )

    async def approve(self, about_to: Callable[[], None] = lambda: None) -> Verdict:
        """Say yes to the one open question; `about_to` is told before the click goes in."""
        [approval] = await self.app.store.approvals.approvals(state=ApprovalState.PENDING)
        click = Clicked(approval.id, Choice.APPROVE)
        about_to()
        return await self.app.sink(Signal("notebook-1", new_id(), ADA, "Ada", DESK, click, datetime.now(UTC)))


@asynccontextmanager
async def running(
    folder: Path,
    answers: Sequence[Answer],
    *,
    cut: int = 0,
    edits: bool = False,
    change: float = 0.0,
    tools: Mapping[str, Tool] | None = None,
    **given: object,
) -> AsyncIterator[Running]:
    overrides = {"web.port": 0, "data_dir": str(folder), "access.owners": [ADA], "nodes.lease_seconds": 30}
    settings = load(
        overrides={**overrides, **{name.replace("__", "."): value for name, value in given.items()}},
        environ={},
        folder=folder,
    )
    notebook, made = Notebook(cut, edits=edits, change=change), list[App]()

    async def make(settings: Settings) -> App:
        made.append(await build(settings, adapters=lambda _: [notebook], model=Scripted(answers), tools=tools))
        return made[0]

    async with serving(settings, make=make, with_link=False) as ready:
        yield Running(made[0], notebook, ready.control.url)
