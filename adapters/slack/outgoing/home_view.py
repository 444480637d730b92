"""The home of the app: the questions that wait for whoever opened it, as a view. Pure.

A home knows no `markdown` blocks. Text that could be markup goes as `plain_text`, and a call as preformatted text: Slack
reads nothing into either. Source: docs.slack.dev/surfaces/app-home, read 2026-11.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from adapters.slack.envelope import COMMAND_MARK
from adapters.slack.outgoing.dialect import to_slack
from adapters.slack.outgoing.mrkdwn import blocks_of
from adapters.slack.outgoing.render import SECTION, actions
from runtime.contract import Waiting
from runtime.markup import Document, parse, to_plain
from runtime.markup.attachment import unabridged
from runtime.markup.moments import several
from runtime.markup.tree import Block, CodeBlock
from runtime.text.glyphs import head

QUESTIONS_MOST: Final = 10
"""Questions of a home: a view has at most 100 blocks."""
CARD_MAX_CHARS: Final = 6_000
"""Characters of a card that a home shows; a longer one is decided where all of it can be read."""
CARD_BLOCKS_MOST: Final = 8
HOME_TITLE: Final = "Waiting for you"
NOTHING: Final = "Nothing is waiting for you."
CALL_TOO_LONG: Final = (
    "This call is too long to show here. "
    f"Send me `{COMMAND_MARK}approvals` in our direct messages to read and decide it."
)

Json = dict[str, Any]


def home_view(waiting: Sequence[Waiting], room: str, note: str = "") -> Json:
    """The view for one person. `room` is their direct conversation with the app: it comes back with each press there."""
    shown = list(waiting[:QUESTIONS_MOST])
    blocks: list[Json] = [{"type": "header", "text": _plain(HOME_TITLE)}]
    blocks += [_said(note)] * bool(note) + [_said(NOTHING)] * (not shown)
    for one in shown:
        blocks += [{"type": "divider"}, *_question(one)]
    if more := len(waiting) - len(shown):
        blocks += [{"type": "divider"}, _said(f"… and {several(more, 'more question')}.")]
    return {"type": "home", "private_metadata": json.dumps({"room": room}), "blocks": blocks}


def _question(one: Waiting) -> list[Json]:
    if one.card is None:
        return [
            _said(f"May I run {one.tool}? This can only be answered in {one.room or 'the room where it was asked'}.")
        ]
    document = parse(unabridged(one.card).text)
    blocks = [made for block in document.blocks for made in _block(block)]
    if len(to_plain(document)) > CARD_MAX_CHARS or len(blocks) > CARD_BLOCKS_MOST:
        return [_said(f"May I run {one.tool}? {CALL_TOO_LONG}")]
    return [*blocks, *actions(one.card.buttons)]


def _block(block: Block) -> Iterator[Json]:
    if isinstance(block, CodeBlock):
        text = {"type": "text", "text": block.text or " "}
        yield {"type": "rich_text", "elements": [{"type": "rich_text_preformatted", "elements": [text]}]}
        return
    alone = Document((block,))
    [first, *more] = blocks_of(alone, to_slack(alone))
    if not more and first["type"] == "section":  # an instant stands in it, which only mrkdwn shows in local time
        yield first
        return
    text_left = to_plain(alone).strip()
    while text_left:
        piece = head(text_left, SECTION)
        yield _said(piece)
        text_left = text_left[len(piece) :]


def _said(text: str) -> Json:
    return {"type": "section", "text": _plain(text)}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": False}
