"""Answers that one person reads: Slack reads no Markdown in a text, so what has some stands in blocks."""

from __future__ import annotations

import pytest

from adapters.slack.outgoing.notices import private_words
from runtime.chat.commands import helped


@pytest.mark.parametrize("text", ["Nothing is running here. I'm ready.", "That question is already answered.", "1 < 2"])
def test_plain_words_are_a_text(text: str) -> None:
    assert private_words(text) == {"text": text.replace("<", "&lt;")}


def test_markdown_stands_in_a_block_and_its_plain_twin_beside_it() -> None:
    assert private_words("- ✅ **ops**: done (`shell`)") == {
        "text": "- ✅ ops: done (shell)",
        "blocks": [{"type": "markdown", "text": "- ✅ **ops**: done (`shell`)"}],
    }


def test_an_instant_is_shown_by_the_readers_own_clocks() -> None:
    made = private_words("next [2026-11-22 19:45 UTC](time:2026-11-22T19:45:00Z)")
    assert "<!date^1795376700^" in made["blocks"][0]["text"]["text"]


def test_the_list_of_commands_fits() -> None:
    assert private_words(helped("/signalbox "))["blocks"]


def test_what_would_be_several_messages_stays_a_text() -> None:
    text = "**word** " * 4_000
    assert private_words(text) == {"text": text}
