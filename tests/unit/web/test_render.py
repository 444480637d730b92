"""What the page is told of a card: its mark, the word for how it ended, and what is folded."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from adapters.web.render import render
from runtime.chat.cards.open_cards import pending
from runtime.chat.cards.settled_cards import settled
from runtime.contract import Choice, Content, Delivery, DeliveryId, Kind, Mark, Whole
from runtime.domain.approvals import Approval, ApprovalState
from tests.unit.chat.test_cards import ANSWERED, ASKED, DENIED, DONE, PENDING


def body(content: Content) -> dict[str, Any]:
    made = render(Delivery(DeliveryId("d1"), "approval:a1", 0, Kind.APPROVAL, PENDING.address, content))
    told: dict[str, Any] = json.loads(made.body)
    return told


@pytest.mark.parametrize(
    ("row", "mark", "ended"),
    [
        (DONE, "yes", "Approved"),
        (DENIED, "no", "Denied"),
        (replace(PENDING, state=ApprovalState.EXPIRED), "nobody", "Expired"),
        (replace(PENDING, state=ApprovalState.VOID), "withdrawn", "Withdrawn"),
        (replace(ANSWERED, choice=Choice.DONE), "yes", "Answered"),
        (replace(ANSWERED, choice=Choice.SKIP), "no", "Answered"),
    ],
)
def test_a_settled_card_tells_how_it_ended(row: Approval, mark: str, ended: str) -> None:
    told = body(settled(row))
    assert (told["mark"], told["ended"]) == (mark, ended)
    assert told["html"].startswith(f"<p><strong>{ended}</strong>")


def test_an_open_card_has_no_mark() -> None:
    assert not {"mark", "ended"} & body(pending(PENDING, ASKED)).keys()


def test_what_a_call_returned_is_folded_and_read_in_the_markdown() -> None:
    told = body(settled(DONE))
    shown = "Linux\nand\nmore\n… 2 more lines"
    assert told["html"].endswith(f"<details><summary>Result</summary><pre><code>{shown}</code></pre></details>")
    assert told["markdown"].endswith(f"Result:\n\n```\n{shown}\n```")


def test_only_a_long_call_is_folded() -> None:
    assert "<details>" not in body(pending(PENDING, ASKED))["html"]
    long = replace(PENDING, arguments=json.dumps({"command": "x" * 5_000}))
    assert "<summary>Show all 5,000 characters</summary><pre><code>xxx" in body(pending(long, ASKED))["html"]


def test_several_results_of_a_list_are_folded_together_and_keep_their_numbers() -> None:
    folded = "1. Result:\n\n```\na\n```\n\n3. Result:\n\n```\nb\n```"
    told = body(Content("Two calls", whole=Whole("0"), folded=folded))["html"]
    assert "<details><summary>Results</summary><ol><li>Result:</li></ol>" in told
    assert '<ol start="3"><li>Result:</li></ol>\n<pre><code>b</code></pre></details>' in told


def test_what_was_thought_is_folded_under_a_plain_message_too() -> None:
    told = body(Content("What I thought:", folded="**Thinking**\n\nThey <b>greet</b> me."))["html"]
    assert "<p>What I thought:</p>" in told
    assert "<details><summary>Thinking</summary><p>They &lt;b&gt;greet&lt;/b&gt; me.</p></details>" in told


def test_a_report_tells_which_schedule_it_is_from_and_keeps_it_in_the_store() -> None:
    report = Content.from_json(Content("fine", schedule="Morning\u202e figures").to_json())
    assert body(report)["schedule"] == "Morning⟨U+202E⟩ figures"
    assert "schedule" not in body(Content("an answer"))


def test_the_last_words_of_a_failed_run_are_told_as_such_and_kept_in_the_store() -> None:
    assert body(Content.from_json(Content("The key was refused.", failed=True).to_json()))["failed"] is True
    assert {"failed", "elsewhere"}.isdisjoint(body(Content("an answer")))
    assert body(Content.from_json(Content("May I?", elsewhere=True).to_json()))["elsewhere"] is True


def test_an_undone_card_can_be_read_by_a_program_from_before_that_mark() -> None:
    """Nodes of both programs show cards while they are upgraded one by one."""
    told = Content("↩ **Undone** by Ada", mark=Mark.UNDONE).to_json()
    assert Mark(json.loads(told)["mark"]) is Mark.WITHDRAWN
    assert Content.from_json(told).mark is Mark.UNDONE
