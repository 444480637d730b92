"""The screen: four parts, a line that says how the process is, and one that says what was done."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import ContentSwitcher, Footer, Static

from bot.node.invocation import as_called
from bot.settings.settings import Settings
from bot.tui.approvals import ApprovalsPane
from bot.tui.chat import ChatPane
from bot.tui.dialogs import ConfirmDialog
from bot.tui.link import Link
from bot.tui.pane import Pane
from bot.tui.tables import OutboxPane, RunsPane
from bot.tui.texts import in_line

PARTS: Final = {"chat": "F1 Chat", "approvals": "F2 Approvals", "outbox": "F3 Outbox", "runs": "F4 Runs"}
NARROW_COLUMNS: Final = 70
"""Below which the list of conversations makes way, until F6 asks for it."""
TOLD_SECONDS: Final = 12.0

STYLE: Final = """
Screen { layout: vertical; }
#head { height: 1; text-style: reverse; }
#away { height: auto; max-height: 2; text-style: bold; }
#told { height: auto; max-height: 2; }
ContentSwitcher { height: 1fr; }
#rooms { width: 24; border: none; border-right: solid; padding: 0; }
.narrow #rooms { display: none; }
.narrow #rooms:focus-within, .narrow #rooms.asked { display: block; }
#log { height: 1fr; }
.entry { margin-bottom: 1; padding: 0 1; }
#composer { height: auto; min-height: 1; max-height: 6; border: none; border-top: solid; padding: 0 1; }
#questions { height: 40%; border: none; }
#question { height: 1fr; border-top: solid; padding: 0 1; }
DataTable { height: 45%; }
.detail { height: 1fr; border-top: solid; padding: 0 1; }
ModalScreen { align: center middle; }
.dialog { width: 76; max-width: 95%; height: auto; max-height: 90%; border: solid; padding: 0 1; }
.dialog TextArea { height: 8; }
.dialog OptionList { height: auto; max-height: 12; border: none; }
"""


class SignalboxTui(App[None]):
    """Shows a Signalbox that runs, by its operators' API. Ends without touching what runs."""

    CSS = STYLE
    TITLE = "Signalbox"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "show('chat')", "Chat", show=False, priority=True),
        Binding("f2", "show('approvals')", "Approvals", show=False, priority=True),
        Binding("f3", "show('outbox')", "Outbox", show=False, priority=True),
        Binding("f4", "show('runs')", "Runs", show=False, priority=True),
        Binding("ctrl+q", "quit", "Quit", priority=True),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
    ]

    def __init__(self, settings: Settings, room: str = "", *, is_light: bool = False) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-light" if is_light else "ansi-dark"
        self.link = Link(settings.data_dir, self._link_changed)
        self._panes: dict[str, Pane] = {
            "chat": ChatPane(room),
            "approvals": ApprovalsPane(),
            "outbox": OutboxPane(),
            "runs": RunsPane(),
        }
        self._questions = 0
        self._forgetting: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield Static(id="away", markup=False)
        with ContentSwitcher(initial="chat"):
            yield from self._panes.values()
        yield Static(id="told", markup=False)
        yield Footer()

    async def until_left(self) -> int:
        """Show it until its user leaves, or a signal ends it; the exit code. The terminal is left as it was."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, partial(self.exit, return_code=128 + number))
        await self.run_async()
        return self.return_code or 0

    def on_mount(self) -> None:
        self._draw_head()
        self._keep_link()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < NARROW_COLUMNS, "narrow")  # its own size is the one before

    @property
    def seen(self) -> Pane:
        return self._panes[self.query_one(ContentSwitcher).current or "chat"]

    def action_show(self, part: str) -> None:
        if len(self.screen_stack) > 1:
            return  # a question is open: Escape leaves it first
        self.query_one(ContentSwitcher).current = part
        self._draw_head()
        self.seen.enter()

    def tell(self, words: str) -> None:
        """Say what was done, or why not."""
        self.query_one("#told", Static).update(Text(in_line(as_called(words), 400)))
        if self._forgetting is not None:
            self._forgetting.stop()
        self._forgetting = self.set_timer(TOLD_SECONDS, lambda: self.query_one("#told", Static).update(""))

    async def sure(self, question: str) -> bool:
        """Have the operator say yes to what can't be undone."""
        answer: bool | None = await self.push_screen_wait(ConfirmDialog(question))
        return answer is True

    def count_questions(self, count: int) -> None:
        if count != self._questions:
            self._questions = count
            self._draw_head()

    @work(exclusive=True, group="link")
    async def _keep_link(self) -> None:
        await self.link.run()

    def _link_changed(self) -> None:
        self._draw_head()
        self.wake()

    def wake(self) -> None:
        """Have all parts read their rows again: something has changed."""
        for pane in self._panes.values():
            if pane.is_mounted:
                pane.woken.set()

    def _draw_head(self) -> None:
        here = self.query_one(ContentSwitcher).current
        names = []
        for part, title in PARTS.items():
            count = f" ({self._questions})" if part == "approvals" and self._questions else ""
            names.append(f"[{title}{count}]" if part == here else f" {title}{count} ")
        self.query_one("#head", Static).update(Text(" ".join(names), no_wrap=True))
        trouble = self.query_one("#away", Static)
        trouble.update(Text(in_line(as_called(self.link.trouble or self.link.note), 400)))
        trouble.display = bool(self.link.trouble or self.link.note)
