"""Deliveries and runs: lists with one row in detail, and all that an operator may do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import DataTable, Static

from bot.operator.views import View
from bot.terminal.output import clean
from bot.tui.pane import Pane
from bot.tui.texts import facts_of, in_line, shown
from runtime.text.glyphs import visible

ROWS_SHOWN: Final = 200
CELL_MAX_CHARS: Final = 60
RESULT_MAX_CHARS: Final = 1_000
NOTHING_HERE: Final = "There is nothing here."


class TablePane(Pane):
    """Rows above, the one under the cursor beneath. `columns` are keys of a row with their heads."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("j", "move(1)", "Next"), Binding("k", "move(-1)", "Previous")]
    columns: ClassVar[Mapping[str, str]]

    def __init__(self, ident: str) -> None:
        super().__init__(id=ident)
        self._rows: list[View] = []
        self._listed: object = None
        self._detail_of = ""

    def compose(self) -> ComposeResult:
        yield DataTable(cursor_type="row", show_row_labels=False)
        with VerticalScroll(classes="detail"):
            yield Static(NOTHING_HERE, markup=False)

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        for key, head in self.columns.items():
            table.add_column(head, key=key)
        super().on_mount()

    def begins_with(self) -> Widget:
        return self.query_one(DataTable)

    async def rows(self) -> Sequence[View]:
        raise NotImplementedError

    async def detail(self, ident: str) -> RenderableType:
        raise NotImplementedError

    async def read(self) -> None:
        self._rows = [*await self.rows()]
        cells = [(row["id"], *(in_line(row[key], CELL_MAX_CHARS) for key in self.columns)) for row in self._rows]
        table = self.query_one(DataTable)
        if cells != self._listed:
            here, at = self.here, table.cursor_row
            self._listed = cells
            table.clear()
            for ident, *words in cells:
                table.add_row(*(Text(one) for one in words), key=ident)
            place = next((n for n, (ident, *_) in enumerate(cells) if here and ident == here["id"]), at)
            table.move_cursor(row=max(0, min(place, len(cells) - 1)))
        await self._read_detail()

    async def _read_detail(self) -> None:
        row = self.here
        told = await self.detail(row["id"]) if row else Text(NOTHING_HERE)
        if row is None or self.here == row:
            self.query_one(Static).update(told)

    @property
    def here(self) -> View | None:
        at = self.query_one(DataTable).cursor_row
        return self._rows[at] if 0 <= at < len(self._rows) else None

    def on_data_table_row_highlighted(self, _: DataTable.RowHighlighted) -> None:
        if self.here and self.here["id"] != self._detail_of:
            self._detail_of = self.here["id"]
            self.woken.set()

    def action_move(self, by: int) -> None:
        table = self.query_one(DataTable)
        table.move_cursor(row=max(0, min(len(self._rows) - 1, table.cursor_row + by)))


class OutboxPane(TablePane):
    """Deliveries with their states. R sends one again that is held or dead, G gives one up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "retry", "Retry"),
        Binding("g", "give_up", "Give up"),
        Binding("u", "unsettled", "Unsettled alone"),
    ]
    columns: ClassVar = {"state": "State", "kind": "Kind", "attempts": "Tries", "created_at": "Created", "room": "Room"}
    UNSETTLED: ClassVar = ("queued", "open", "held", "dead")

    def __init__(self) -> None:
        super().__init__("outbox")
        self._unsettled_alone = False

    async def rows(self) -> Sequence[View]:
        if not self._unsettled_alone:
            return await self.tui.link.ask(lambda wire: wire.operator.deliveries(limit=ROWS_SHOWN))
        found: list[View] = []
        for state in self.UNSETTLED:
            found += await self.tui.link.ask(lambda wire, state=state: wire.operator.deliveries(state, ROWS_SHOWN))  # type: ignore[misc]
        return sorted(found, key=lambda row: (row["created_at"], row["id"]), reverse=True)

    async def detail(self, ident: str) -> RenderableType:
        row = await self.tui.link.ask(lambda wire: wire.operator.delivery(ident))
        parts = [(f"Part {part['ordinal']}", f"{part['state']}, {part['attempts']} tries") for part in row["parts"]]
        facts = facts_of(
            [
                ("State", row["state"]),
                ("Reason", row["reason"]),
                ("Not before", row["not_before"]),
                ("Settled", row["settled_at"]),
                *parts,
            ]
        )
        return Text.assemble(facts, "\n\n", shown(row["text"]))

    def action_unsettled(self) -> None:
        self._unsettled_alone = not self._unsettled_alone
        self.tui.tell("Only what isn't shown yet." if self._unsettled_alone else "All deliveries.")
        self.woken.set()

    @work(group="act")
    async def action_retry(self) -> None:
        if row := self.here:
            made = await self.asked(lambda wire: wire.operator.requeue(row["id"]))
            if made is not None:
                self.tui.tell(f"It is sent again: {made['state']}.")

    @work(group="act")
    async def action_give_up(self) -> None:
        row = self.here
        if row is not None and await self.tui.sure("Give it up, so that it is never shown?"):
            made = await self.asked(lambda wire: wire.operator.discard(row["id"]))
            if made is not None:
                self.tui.tell(f"Given up: {made['state']}.")


class RunsPane(TablePane):
    """Runs with the steps of one. S stops one, G does its work again where that can be done."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("s", "stop", "Stop"), Binding("g", "again", "Run again")]
    columns: ClassVar = {
        "state": "State",
        "agent": "Agent",
        "trigger": "Begun by",
        "started_at": "Started",
        "requester": "For",
        "room": "Room",
    }

    def __init__(self) -> None:
        super().__init__("runs")

    async def rows(self) -> Sequence[View]:
        return await self.tui.link.ask(lambda wire: wire.operator.runs(limit=ROWS_SHOWN))

    async def detail(self, ident: str) -> RenderableType:
        row = await self.tui.link.ask(lambda wire: wire.operator.run(ident))
        head = facts_of(
            [
                ("Run", row["id"]),
                ("State", row["state"]),
                ("Error", row["error"]),
                ("Seconds", f"{row['seconds']:.1f}"),
                ("Cost", f"${row['cost_micros'] / 1_000_000:.6f}" if row["cost_micros"] else ""),
                ("Run again", "yes: G" if row["can_repeat"] else row["why_not_again"]),
            ]
        )
        return Text("\n").join([head, Text(""), *map(_step, row["steps"])])

    @work(group="act")
    async def action_stop(self) -> None:
        row = self.here
        if row is not None and await self.tui.sure("Stop this run, and all that it handed on?"):
            made = await self.asked(lambda wire: wire.operator.stop_run(row["id"]))
            if made is not None:
                self.tui.tell(made["told"])

    @work(group="act")
    async def action_again(self) -> None:
        row = self.here
        if row is not None and await self.tui.sure("Do the work of this run once more?"):
            made = await self.asked(lambda wire: wire.operator.run_again(row["id"]))
            if made is not None:
                self.tui.tell(made["told"])


def _step(step: View) -> Text:
    took = f"{step['began_after']:.1f} s to {step['ended_after']:.1f} s"
    if step["kind"] == "model":
        return Text(f"{step['number']:>3} model · {step['state']} · {took}")
    call = clean(visible(step["call"]))
    result = shown((step["result"] or "")[:RESULT_MAX_CHARS])
    lines = "\n".join(f"      {line}" for line in f"{call}\n→ {result}".splitlines())
    return Text(f"{step['number']:>3} {in_line(step['tool'])} · {step['state']} · {took}\n{lines}")
