"""Questions that wait for a person, answered by the keys of the page; beneath them what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar, Final

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from bot.operator.views import View
from bot.terminal.room_wire import RoomWire
from bot.tui.dialogs import ChoiceDialog, TextDialog
from bot.tui.pane import Pane
from bot.tui.texts import question_line, question_of

QUESTIONS_MAX: Final = 200
DECIDED_MAX: Final = 30
ARMED_SECONDS: Final = 4.0
"""Between the two presses of A for a dangerous call, as on the page."""
PRESS_AGAIN: Final = "This call is dangerous. Press A again to approve it."
NOT_SO: Final = "That isn't an answer to this question. Enter lists its answers."
NOTHING_WAITS: Final = "Nothing is waiting for a decision."
WHY_EMPTY: Final = "Ask the agent about this call (empty: Why do you want to do this?)"


class ApprovalsPane(Pane):
    """J and K move, A approves, D denies, E edits, W asks why, X selects several, Enter lists all answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move(1)", "Next"),
        Binding("k", "move(-1)", "Previous"),
        Binding("a", "answer('approve')", "Approve"),
        Binding("d", "answer('deny')", "Deny"),
        Binding("r", "reason", "Deny with a reason"),
        Binding("e", "edit", "Edit"),
        Binding("w", "why", "Ask why"),
        Binding("x", "choose", "Select"),
    ]

    def __init__(self) -> None:
        super().__init__(id="approvals")
        self._rows: list[View] = []
        self._chosen: set[str] = set()
        self._listed: object = None
        self._armed: tuple[object, float] = ((), 0.0)
        self.waiting = 0

    def compose(self) -> ComposeResult:
        yield OptionList(id="questions", markup=False)
        with VerticalScroll(id="question"):
            yield Static(NOTHING_WAITS, markup=False, id="question-text")

    @property
    def is_seen(self) -> bool:
        return True  # the number of questions is told on its tab

    def begins_with(self) -> Widget:
        return self.query_one("#questions")

    async def read(self) -> None:
        pending, newest = await self.tui.link.ask(_read)
        decided = [row for row in newest if row["state"] != "pending"][:DECIDED_MAX]
        settled = {row["id"] for row in decided}  # some between the two readings
        pending = [row for row in pending if row["id"] not in settled]
        self._rows = [*pending, *decided]
        self._chosen &= {row["id"] for row in pending}
        self.waiting = len(pending)
        self.tui.count_questions(self.waiting)
        self._draw()

    def _draw(self) -> None:
        lines = [(row["id"], question_line(row, is_chosen=row["id"] in self._chosen)) for row in self._rows]
        if lines != self._listed:
            listing = self.query_one("#questions", OptionList)
            here = listing.highlighted
            ident = listing.highlighted_option.id if listing.highlighted_option else ""
            self._listed = lines
            listing.clear_options()
            for one, line in lines:
                listing.add_option(Option(Text(line, no_wrap=True, overflow="ellipsis"), one))
            place = next((at for at, (one, _) in enumerate(lines) if one == ident), None)
            if lines:  # what was decided has gone down: the next one stands where it stood
                moved = place is not None and here is not None and place > here
                listing.highlighted = min(here or 0, len(lines) - 1) if place is None or moved else place
        self._draw_question()

    def _draw_question(self) -> None:
        row = self._here
        self.query_one("#question-text", Static).update(question_of(row) if row else Text(NOTHING_WAITS))

    @property
    def _here(self) -> View | None:
        at = self.query_one("#questions", OptionList).highlighted
        return self._rows[at] if at is not None and at < len(self._rows) else None

    def on_option_list_option_highlighted(self, _: OptionList.OptionHighlighted) -> None:
        self._draw_question()

    def on_option_list_option_selected(self, _: OptionList.OptionSelected) -> None:
        self._choose_answer()

    def action_move(self, by: int) -> None:
        listing = self.query_one("#questions", OptionList)
        if self._rows:
            listing.highlighted = max(0, min(len(self._rows) - 1, (listing.highlighted or 0) + by))

    def action_choose(self) -> None:
        row = self._here
        if row and row["state"] == "pending":
            self._chosen ^= {row["id"]}
            self._draw()

    @work(group="act")
    async def action_answer(self, choice: str) -> None:
        """Answer the question here, or each that is selected; a dangerous one by two presses."""
        rows = self._meant(choice)
        if not rows:
            self.tui.tell(NOT_SO)
            return
        if choice == "approve" and any(row["effect"] == "danger" for row in rows) and not self._is_sure(rows):
            self.tui.tell(PRESS_AGAIN)
            return
        self._armed = ((), 0.0)
        for row in rows:
            await self._decide(row, choice)

    def _meant(self, choice: str) -> list[View]:
        here = self._here
        rows = [row for row in self._rows if row["id"] in self._chosen] or ([here] if here else [])
        return [row for row in rows if row["state"] == "pending" and choice in row["choices"]]

    def _is_sure(self, rows: Sequence[View]) -> bool:
        """True for the second press about the same."""
        what, before = tuple(row["as_shown"] for row in rows), self._armed
        self._armed = (what, monotonic())
        return before[0] == what and monotonic() - before[1] < ARMED_SECONDS

    async def _decide(self, row: View, choice: str, reason: str = "") -> None:
        made = await self.asked(lambda wire: wire.operator.decide(row["as_shown"], choice, reason))
        if made is not None:
            self._chosen.discard(row["id"])
            self.tui.tell(f"{row['tool'] or row['kind']}: {made['state']}.")

    @work(group="act")
    async def action_reason(self) -> None:
        for row in self._meant("deny")[:1]:
            reason = await self.tui.push_screen_wait(TextDialog("Deny. The reason, which the agent reads:"))
            if reason is not None:
                await self._decide(row, "deny", reason)

    @work(group="act")
    async def action_edit(self) -> None:
        row = self._here
        if not (row and row["state"] == "pending" and row["editable"]):
            self.tui.tell("This call can't be edited.")
            return
        text = await self.tui.push_screen_wait(TextDialog("Edit the call, and approve it:", row["edited"]))
        if text is not None:
            made = await self.asked(lambda wire: wire.operator.edit(row["as_shown"], text))
            if made is not None:
                self.tui.tell(f"{row['tool']}: {made['state']}, as edited.")

    @work(group="act")
    async def action_why(self) -> None:
        row = self._here
        if not (row and row["askable"]):
            self.tui.tell("The agent can't be asked about this.")
            return
        question = await self.tui.push_screen_wait(TextDialog(WHY_EMPTY))
        if question is None:
            return
        made = await self.asked(lambda wire: wire.operator.ask_back(row["as_shown"], question.strip()))
        if made is not None:
            self.tui.tell("Asked. The answer comes beneath the question.")

    @work(group="act")
    async def _choose_answer(self) -> None:
        row = self._here
        if not row or row["state"] != "pending":
            return
        choice = await self.tui.push_screen_wait(ChoiceDialog(row["question"], row["choices"]))
        if choice is not None:
            await self._decide(row, choice)


async def _read(wire: RoomWire) -> tuple[list[View], list[View]]:
    pending = await wire.operator.approvals("pending", QUESTIONS_MAX, order="oldest")
    return pending, await wire.operator.approvals(limit=QUESTIONS_MAX)
