"""Pieces of work as Slack's plan: a block of task cards. Pure.

Source: docs.slack.dev/reference/block-kit/blocks/plan-block and …/blocks/task-card-block, read 2026-11. A plan and single
task cards exclude each other in a message. `block_id` is left to Slack, since a message that changes needs a new one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from adapters.slack.outgoing.dialect import NOBODY
from runtime.contract import CardState, TaskCard, TaskCards
from runtime.markup import neutralised_text
from runtime.text.glyphs import clip

CARDS_MAX: Final = 48
TITLE_MAX_CHARS: Final = 256  # of ids and titles in a stream; of a block nothing is documented
PLAN_MAX_BYTES: Final = 9_000
"""Slack documents no bound; messages with cards were refused from some 10,600 bytes on."""
STATUS_OF: Final[Mapping[CardState, str]] = {
    CardState.WAITING: "pending",
    CardState.WORKING: "in_progress",
    CardState.DONE: "complete",
    CardState.FAILED: "error",
}

Json = dict[str, Any]


def plan_of(tasks: TaskCards) -> Json | None:
    """The block; None where it would be more than a message may hold."""
    block: Json = {"type": "plan", "title": _title(tasks.title), "tasks": [_card(card) for card in tasks.cards]}
    size = len(json.dumps(block, ensure_ascii=False).encode("utf-8", "replace"))
    return block if 0 < len(tasks.cards) <= CARDS_MAX and size <= PLAN_MAX_BYTES else None


def _card(card: TaskCard) -> Json:
    made: Json = {
        "type": "task_card",
        "task_id": card.id,
        "title": _title(card.title),
        "status": STATUS_OF[card.state],
    }
    return made | ({"details": _rich(card.note)} if card.note else {})


def _title(text: str) -> str:
    return clip(neutralised_text(text, NOBODY), TITLE_MAX_CHARS)


def _rich(text: str) -> Json:
    words = {"type": "text", "text": neutralised_text(text, NOBODY)}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [words]}]}
