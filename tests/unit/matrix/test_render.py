"""Answers as Matrix shows them: HTML that its clients keep, plain text beside it, and cards with their choices."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract import (
    Address,
    ApprovalId,
    Button,
    Choice,
    Content,
    Delivery,
    DeliveryId,
    Identity,
    Kind,
    Mention,
    Part,
    Whole,
)
from runtime.markup import moment, parse
from signalbox_matrix.choices import CHOICES_KEY
from signalbox_matrix.outgoing.html import to_matrix
from signalbox_matrix.outgoing.render import Body, render
from signalbox_matrix.outgoing.send import changed, text_content, transaction
from signalbox_matrix.parse import PART_KEY
from tests.golden import SAMPLE, same_as

HERE: Final = Path(__file__).parent
ROOM: Final = Address("matrix", "@bot:hs.test", "!r:hs.test")


def delivery(text: str, kind: Kind = Kind.FINAL, **more: Any) -> Delivery:
    return Delivery(DeliveryId("d"), "run:1", 0, kind, ROOM, Content(text, **more))


def bodies(text: str, **more: Any) -> list[Body]:
    return [Body.of(wire.body) for wire in render(delivery(text, **more))]


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("```python\na < b\n```", '<pre><code class="language-python">a &lt; b</code></pre>'),
        ("```a b\nc\n```", '<pre><code class="language-a">c</code></pre>'),
        ("[x](https://example.org)", '<p><a href="https://example.org">x</a></p>'),
        ("a  \nb", "<p>a<br>\nb</p>"),
        ('<script>alert("x")</script>', "<p>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;</p>"),
        ('say <td class="x"> and target="_blank"', None),
    ],
)
def test_html_has_only_what_the_specification_lists(markdown: str, html: str | None) -> None:
    made = to_matrix(parse(markdown))
    assert html is None or made == html
    assert "<script" not in made
    assert "<td" not in made
    assert html is not None or "target=&quot;_blank&quot;" in made


def test_an_instant_is_words() -> None:
    at = datetime(2026, 11, 22, 19, 45, tzinfo=UTC)
    assert "<time" not in to_matrix(parse(moment(at)))
    assert "2026-11-22 19:45 UTC" in to_matrix(parse(moment(at)))


def test_the_room_is_called_by_nobody() -> None:
    [body] = bodies("@room and `@room`")
    content = text_content(body)
    assert content["m.mentions"] == {}
    assert "@room" not in body.text.replace("@\u200broom", "")


def test_a_card_calls_those_who_are_to_decide_and_says_how() -> None:
    row = (Button(ApprovalId("a" * 22), Choice.APPROVE, "Approve"), Button(ApprovalId("a" * 22), Choice.DENY, "Deny"))
    [body] = bodies(
        "**May I?**", buttons=row, whole=Whole("x", ""), mentions=(Mention(Identity("matrix:@ada:hs.test"), "Ada [x]"),)
    )
    content = text_content(body)
    assert content["m.mentions"] == {"user_ids": ["@ada:hs.test"]}
    assert [row[3] for row in content[CHOICES_KEY]] == ["✅", "❌"]
    assert '<a href="https://matrix.to/#/@ada:hs.test">Ada x</a>' in body.html
    assert "`approve" not in body.text
    assert "approve " in body.text


def test_a_change_calls_nobody_again_and_fits_with_the_text_twice() -> None:
    long = "\n\n".join(f'**word {n}** "quoted" & <b>' for n in range(4_000))
    for wire in render(delivery(long)):
        content = changed(Body.of(wire.body), "d.1", "$e") | {PART_KEY: "d.1"}
        assert len(json.dumps(content, ensure_ascii=False).encode()) < 62_000
        assert content["m.mentions"] == {}


def test_only_what_stays_asks_for_the_message_that_it_replaces() -> None:
    assert not Body.of(render(delivery("so far …", Kind.PROGRESS))[0].body).lasting
    assert Body.of(render(delivery("done"))[0].body).lasting


def test_a_repeat_that_says_so_is_another_transaction() -> None:
    part = Part(DeliveryId("d"), 1, ROOM, "{}")
    assert transaction(part) == "d.1"
    assert transaction(Part(DeliveryId("d"), 1, ROOM, "{}", marked_as_repeat=True)) != "d.1"


def test_the_sample_looks_as_it_did() -> None:
    [body] = bodies(SAMPLE)
    same_as(HERE / "sample.html", body.html)
