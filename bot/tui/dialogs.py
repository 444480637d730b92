"""Questions over the screen: a text, a yes, or one of several answers. Escape leaves each, and does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from bot.tui.texts import in_line


class TextDialog(ModalScreen[str | None]):
    """A text, which Ctrl-S sends."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "Leave"), ("ctrl+s", "send", "Send")]

    def __init__(self, title: str, text: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._title, style="bold"))
            yield TextArea(self._text, id="dialog-text")
            yield Static(Text("Ctrl-S sends, Escape leaves"))

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.focus()
        area.move_cursor(area.document.end)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_send(self) -> None:
        self.dismiss(self.query_one(TextArea).text)


class ChoiceDialog(ModalScreen[str | None]):
    """One of `choices` (value to label)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "leave", "Leave"),
        ("j", "down", "Next"),
        ("k", "up", "Previous"),
    ]

    def __init__(self, title: str, choices: Mapping[str, str]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._title, style="bold"))
            yield OptionList(*(Option(Text(in_line(label)), value) for value, label in self._choices.items()))
            yield Static(Text("Enter chooses, Escape leaves"))

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_down(self) -> None:
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one(OptionList).action_cursor_up()


class ConfirmDialog(ModalScreen[bool]):
    """A question that only Y answers with yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "answer(True)", "Yes"),
        ("n", "answer(False)", "No"),
        ("escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._question, style="bold"))
            yield Static(Text("Y does it, N or Escape leaves"))

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
