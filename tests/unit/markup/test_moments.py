"""An instant in a text: carried by the tree, shown by each channel in its own way, and in words that name their clocks."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from adapters.discord.outgoing.dialect import to_discord
from adapters.slack.outgoing.render import render as to_slack
from adapters.telegram.outgoing.entities import written
from runtime.contract import Address, Content, Delivery, DeliveryId, Kind
from runtime.markup import moment, parse, split, to_html, to_plain
from runtime.markup.moments import in_words
from runtime.markup.spans import inside
from runtime.markup.tree import Document, Moment, Paragraph, Strong, Text

AT: Final = datetime(2026, 11, 22, 19, 45, tzinfo=UTC)
SECONDS: Final = 1795376700
HERE: Final = moment(AT, ZoneInfo("Europe/Berlin"))
WORDS: Final = "2026-11-22 20:45 (Europe/Berlin)"
SAID: Final = f"**Approved** by Ada, {HERE}: `ls`"


def test_it_is_read_from_the_text_and_written_in_words_that_name_their_clocks() -> None:
    assert AT.timestamp() == SECONDS
    assert f"[{WORDS}](time:2026-11-22T19:45:00Z)" == HERE
    assert parse(HERE) == Document((Paragraph((Moment(AT, WORDS),)),))
    assert moment(AT).startswith("[2026-11-22 19:45 UTC](")
    assert to_plain(parse(SAID)) == f"Approved by Ada, {WORDS}: ls"
    assert in_words(SAID) == f"**Approved** by Ada, {WORDS}: `ls`"


@pytest.mark.parametrize(
    "text",
    ["[x](time:)", "[x](time:soon)", "[x](time:2026-11-22T19:45:00)", "[x](time:1-1-1T00:00:00Z)", "[x](times:1)"],
)
def test_what_is_no_instant_is_text(text: str) -> None:
    assert parse(text) == Document((Paragraph((Text(text),)),))


def test_the_page_has_it_as_a_time() -> None:
    assert f'<time datetime="2026-11-22T19:45:00Z">{WORDS}</time>' in to_html(parse(SAID))


def test_discord_has_its_own_sign() -> None:
    assert to_discord(parse(SAID)) == f"**Approved** by Ada, <t:{SECONDS}:f>: `ls`"


def test_telegram_has_an_entity_over_the_words() -> None:
    text, entities = written(parse(f"At {HERE} **then**"))
    [entity] = [one for one in entities if one["type"] == "date_time"]
    assert text[entity["offset"] : entity["offset"] + entity["length"]] == WORDS
    assert (entity["unix_time"], entity["date_time_format"]) == (SECONDS, "Dt")


def slack_blocks(text: str) -> list[dict[str, object]]:
    to = Delivery(DeliveryId("d"), "o", 1, Kind.FINAL, Address("slack", "T1", "C1"), Content(text))
    [wire] = to_slack(to)
    body = json.loads(wire.body)
    assert "<!date" not in body["text"], "what notifications read has words"
    return list(body["blocks"])


def test_slack_has_its_own_sign_in_a_section_and_all_else_as_before() -> None:
    section, rest = slack_blocks(f"{SAID}\n\n```\nrm -rf *\n```")
    sign = f"<!date^{SECONDS}^{{date_short_pretty}} {{time}}|{WORDS}>"
    assert section["text"] == {"type": "mrkdwn", "text": f"*Approved* by Ada, {sign}: `ls`", "verbatim": True}
    assert rest == {"type": "markdown", "text": "```\nrm -rf *\n```"}
    [listed] = slack_blocks(f"- one <!channel> & *two*, {HERE}\n- three")
    assert listed["text"]["text"] == f"• one &lt;\u200b!channel&gt; &amp; _two_, {sign}\n• three"  # type: ignore[index]
    [table] = slack_blocks(f"| a |\n| --- |\n| {HERE} |")
    assert WORDS in str(table["text"])


def test_it_is_never_cut_in_two() -> None:
    document = parse(" ".join(f"word {HERE}" for _ in range(50)))
    pieces = split(document, lambda piece: len(to_plain(piece)), 200)
    found = [
        child for piece in pieces for block in piece.blocks for child in inside(block) if isinstance(child, Moment)
    ]
    assert found == [Moment(AT, WORDS)] * 50


def test_it_stands_within_marks() -> None:
    [paragraph] = parse(f"**due {HERE}**").blocks
    assert paragraph == Paragraph((Strong((Text("due "), Moment(AT, WORDS))),))
    assert to_discord(Document((paragraph,))) == f"**due <t:{SECONDS}:f>**"
