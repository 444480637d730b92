"""What is sent, within every limit; the payloads are files that a person can read (golden/)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.outgoing.forms import modal
from adapters.slack.outgoing.render import DENY_WHY, EMPTY_TEXT, render
from runtime.chat.cards.calls import shown_call
from runtime.chat.cards.open_cards import pending, question
from runtime.chat.cards.settled_cards import settled
from runtime.chat.forms import denial
from runtime.contract import ApprovalId, ApprovalKind, Button, Choice, Content, DeliveryId, FileRef, Kind, Wire
from tests.fakes.slack_rules import MARKDOWN, check_message, check_view
from tests.golden import SAMPLE, same_as
from tests.unit.chat.test_cards import ASKED, ASKED_BY_BOB, DONE, PENDING
from tests.wire.slack.stage import THREAD, delivery

HERE: Final = Path(__file__).parent / "golden"
APPROVAL: Final = ApprovalId("A" * 22)
BUTTONS: Final = (Button(APPROVAL, Choice.APPROVE, "Approve"), Button(APPROVAL, Choice.DENY, "Deny"))
ARGUMENTS: Final = json.dumps({"path": "notes/today.md", "content": "# Today\n\n- call Bob\n- `make test`\n"})
CARD: Final = question(APPROVAL, ApprovalKind.CALL, "write_file", ARGUMENTS, "It runs with no sandbox.")


def body(wire: Wire) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(wire.body)
    return made


def twin(wire: Wire) -> dict[str, Any]:
    assert wire.fallback is not None
    made: dict[str, Any] = json.loads(wire.fallback)
    return made


def golden(name: str, *wires: Wire) -> None:
    """The wires, each with what goes instead of it."""
    told = [
        {"body": body(w), "fallback": w.fallback and twin(w), "more": [json.loads(m) for m in w.more]} for w in wires
    ]
    same_as(HERE / f"{name}.json", json.dumps(told, indent=2, ensure_ascii=False))


def allowed(wire: Wire) -> None:
    """Errors: what Slack would say."""
    for text in (wire.body, wire.fallback, *wire.more):
        if text is not None and "file" not in json.loads(text):
            check_message({name: value for name, value in json.loads(text).items() if name != "stream"})


def test_a_reply() -> None:
    golden("reply", *render(delivery("**Done.** See [the report](https://example.org/r?a=1&b=2) & `x < y`.")))


def test_every_construct() -> None:
    golden("sample", *render(delivery(SAMPLE)))


def test_a_card() -> None:
    golden("card", *render(delivery(CARD.text, *CARD.buttons, kind=Kind.APPROVAL)))


def test_a_question_about_an_outcome() -> None:
    asked = question(APPROVAL, ApprovalKind.OUTCOME, "shell", '{"command": "make deploy"}', "")
    golden("outcome", *render(delivery(asked.text, *asked.buttons, kind=Kind.APPROVAL)))


def test_a_card_that_says_who_asks() -> None:
    asked = pending(ASKED_BY_BOB, ASKED, voted=["Alice"])
    golden("asked", *render(delivery(asked.text, *asked.buttons, kind=Kind.APPROVAL)))


def test_a_card_that_says_what_came_of_it() -> None:
    golden("done", *render(delivery(settled(DONE).text, kind=Kind.APPROVAL)))


def test_a_settled_card() -> None:
    text = f"❌ **Denied** by Ada, 2026-11-22 12:00 UTC: `write_file`\n\n{shown_call(ARGUMENTS).text}\n\n> Not today."
    golden("settled", *render(delivery(text, kind=Kind.APPROVAL)))


def test_a_preview() -> None:
    golden("preview", *render(delivery("The answer begins with **bold wo …", kind=Kind.PROGRESS, address=THREAD)))


def test_a_reply_with_a_file() -> None:
    picture = FileRef("chart.png", "out/chart.png", 1234)
    golden("file", *render(delivery("Here it is.", files=(picture,))))


def test_a_long_reply_as_a_file() -> None:
    text = "\n\n".join(f"## Chapter {n}\n\n{'word ' * 40}" for n in range(1, 5))
    whole = FileRef("reply.md", "replies/reply.md", len(text))
    golden("text_file", *render(delivery(text, text_file=whole)))
    golden("text_file_over_a_preview", *render(replace(delivery(text, text_file=whole), edits=DeliveryId("preview"))))


def test_the_form_for_a_reason() -> None:
    form = modal(denial(replace(PENDING, id=APPROVAL)), THREAD)
    check_view(form)
    same_as(HERE / "denial_form.json", json.dumps(form, indent=2))


def test_every_payload_is_allowed() -> None:
    for text in (SAMPLE, CARD.text, " ", "---", "\u200b", "<!-- -->", "![](x)"):
        for wire in render(delivery(text, *BUTTONS)) + render(delivery(text, kind=Kind.PROGRESS)):
            allowed(wire)


def test_what_draws_nothing_is_still_a_message() -> None:
    [wire] = render(delivery("<!-- nothing -->".replace("nothing", "")))
    allowed(wire)
    [wire] = render(delivery(" \n"))
    assert body(wire)["blocks"] == [{"type": "markdown", "text": EMPTY_TEXT}]


@pytest.mark.parametrize(
    "character", ["x", "\n", '"', "\\", "&", "漢", "👩‍👩‍👧", "- a\n", "| a | b |\n|---|---|\n| 1 | 2 |\n\n", "`"]
)
def test_a_long_text_fits_into_messages_whatever_it_is_made_of(character: str) -> None:
    paragraph = "word " * 20 + character * 40 + "\n\n"
    text = paragraph * (20_000 // len(paragraph))
    wires = render(delivery(text, *BUTTONS))
    assert len(wires) > 1
    for wire in wires:
        allowed(wire)
    assert sum(len(body(wire)["blocks"][0]["text"]) for wire in wires) / len(wires) > MARKDOWN / 4
    assert ["actions" in {b["type"] for b in body(wire)["blocks"]} for wire in wires] == [False] * (len(wires) - 1) + [
        True
    ]


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
@settings(max_examples=60)
def test_any_text_is_allowed(text: str) -> None:
    for wire in render(delivery(text, *BUTTONS)):
        allowed(wire)


def test_buttons_carry_the_approval_and_the_choice_and_a_denial_may_say_why() -> None:
    [wire] = render(delivery(CARD.text, *BUTTONS))
    elements = body(wire)["blocks"][-1]["elements"]
    assert [e["text"]["text"] for e in elements] == ["Approve", "Deny", DENY_WHY]
    assert [e["value"] for e in elements] == [f"{APPROVAL}:approve", f"{APPROVAL}:deny", f"{APPROVAL}:reason"]
    assert len({e["action_id"] for e in elements}) == 3
    assert twin(wire)["blocks"][-1]["elements"] == elements


def test_the_plain_twin_has_no_markup_and_calls_nobody() -> None:
    [wire] = render(delivery("**Hi** <!channel> & `<!here>`"))
    assert twin(wire) == {"text": "Hi &lt;\u200b!channel&gt; &amp; &lt;!here&gt;"}


def test_rendering_is_pure() -> None:
    made = delivery(SAMPLE, *BUTTONS)
    assert render(made) == render(made)


def test_content_survives_the_outbox() -> None:
    made = Content("x", BUTTONS, (FileRef("a", "b", 1),), FileRef("c", "d", 2))
    assert Content.from_json(made.to_json()) == made
