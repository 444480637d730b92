"""Texts of the screen: nothing that others wrote steers a terminal or hides."""

from __future__ import annotations

from typing import Any

from rich.console import Console, RenderableType

from bot.tui.texts import Live, decided_of, entry_of, question_line


def _plain(drawn: RenderableType) -> str:
    console = Console(width=76, color_system=None)
    with console.capture() as captured:
        console.print(drawn)
    return captured.get()


def _entry(**more: Any) -> dict[str, Any]:
    return {"id": "e1", "version": 0, "name": "ada", "at": "2026-11-27T01:00:00+00:00", "files": [], **more}


def test_what_hides_or_steers_is_shown_as_a_code() -> None:
    bad = "saved as \u202efdp.exe\u200b \x1b[2J\x07"
    for entry in (_entry(author="person", text=bad), _entry(author="agent", markdown=bad)):
        told = _plain(entry_of(entry))
        assert "⟨U+202E⟩fdp.exe" in told
        assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(told)


def test_markup_of_the_library_is_no_markup_here() -> None:
    assert "[red]x[/red] [link=http://a]" in _plain(
        entry_of(_entry(author="person", text="[red]x[/red] [link=http://a]"))
    )


def test_tools_and_text_are_drawn_as_they_come_and_go_when_the_run_rests() -> None:
    live = Live()
    live.take({"kind": "thinking"})
    live.take({"kind": "working", "tool": "list_files", "arguments": "{}", "ended": False})
    assert "… list_files {}" in _plain(live.drawn())
    live.take({"kind": "working", "tool": "list_files", "arguments": "{}", "ended": True})
    live.take({"kind": "speaking", "text": "Here they"})
    told = _plain(live.drawn())
    assert "✓ list_files {}" in told
    assert "Here they" in told
    live.take({"kind": "resting"})
    assert not live.is_on


def test_a_decided_question_says_by_whom_and_why() -> None:
    row = {"state": "denied", "decided_by": "ada", "decided_at": None, "reason": "not\ntoday", "effect": "danger"}
    assert decided_of(row) == "Denied by ada: not today"
    waiting = {**row, "state": "pending", "tool": "shell", "kind": "call", "words": '{"a": 1}', "room": "#ops"}
    assert question_line(waiting, is_chosen=True) == '[x] ! shell {"a": 1} · #ops'
