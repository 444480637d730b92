"""Slack's refusals: limits and forms of messages, blocks and views. Source: platforms' reference pages, read 2026-08."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

TEXT: Final = 40_000  # characters of `text`
BLOCKS: Final = 50
ALL_BLOCKS: Final = 13_200  # characters of all blocks together (undocumented; seen)
MARKDOWN: Final = 12_000  # characters of all markdown blocks together
SECTION: Final = 3_000
HEADER: Final = 150
ELEMENTS: Final = 25  # in one actions block
LABEL: Final = 75
VALUE: Final = 2_000
IDENTIFIER: Final = 255  # action_id and block_id
TABLE: Final = (100, 20)
TASK_STATUSES: Final = frozenset({"pending", "in_progress", "complete", "error"})
TITLE: Final = 24  # of a view
METADATA: Final = 3_000  # of a view's private_metadata
TIMESTAMP: Final = re.compile(r"\d{10}\.\d{6}")

Raw = Mapping[str, Any]


class Refused(Exception):
    """`ok: false` with this error; `more` goes into the answer."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more = more


def check_message(args: Raw) -> None:
    """Errors: Refused, as chat.postMessage and chat.update refuse."""
    text, blocks = args.get("text") or "", args.get("blocks") or []
    if not text and not blocks:
        raise Refused("no_text")
    if len(text) > TEXT:
        raise Refused("msg_too_long")
    check_blocks(blocks)
    check_thread(args)
    check_marker(args.get("metadata"))


def check_thread(args: Raw) -> None:
    if (thread := args.get("thread_ts")) and not TIMESTAMP.fullmatch(thread):
        raise Refused("invalid_thread_ts")


def check_marker(metadata: Any) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise Refused("invalid_metadata_format")
    if not isinstance(metadata.get("event_payload"), dict):
        raise Refused("invalid_metadata_schema")


def check_blocks(blocks: Any) -> None:
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    faults = list(_faults(blocks))
    if faults:
        raise Refused("invalid_blocks", response_metadata={"messages": [f"[ERROR] {fault}" for fault in faults]})
    if len(json.dumps(blocks, ensure_ascii=False)) > ALL_BLOCKS:
        raise Refused("msg_blocks_too_long")


def _faults(blocks: Sequence[Raw]) -> Iterator[str]:
    if len(blocks) > BLOCKS:
        yield f"no more than {BLOCKS} items allowed [json-pointer:/blocks]"
    if sum(len(block.get("text", "")) for block in blocks if block["type"] == "markdown") > MARKDOWN:
        yield f"markdown blocks hold more than {MARKDOWN} characters"
    if sum(block["type"] == "table" for block in blocks) > 1:
        yield "only_one_table_allowed"
    if {"plan", "task_card"} <= {block["type"] for block in blocks}:
        yield "plan and task_card exclude each other"
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    if len(ids) != len(set(ids)):
        yield "block_id is not unique"
    for number, block in enumerate(blocks):
        if len(block.get("block_id", "")) > IDENTIFIER:
            yield f"block_id too long [json-pointer:/blocks/{number}]"
        yield from (f"{fault} [json-pointer:/blocks/{number}]" for fault in _block_faults(block))


def _block_faults(block: Raw) -> Iterator[str]:
    match block["type"]:
        case "markdown":
            if not block.get("text"):
                yield "missing required field: text"
        case "section" | "header":
            yield from _text_faults(block.get("text"), SECTION if block["type"] == "section" else HEADER)
        case "context":
            yield from _context_faults(block.get("elements", []))
        case "actions":
            yield from _actions_faults(block.get("elements", []))
        case "table":
            yield from _table_faults(block.get("rows", []))
        case "input":
            yield from _text_faults(block.get("label"), SECTION)
        case "plan" | "task_card":
            yield from _plan_faults(block) if block["type"] == "plan" else _task_faults(block)
        case "divider" | "rich_text":
            return
        case other:
            yield f"unsupported type: {other}"


def _plan_faults(block: Raw) -> Iterator[str]:
    """Source: docs.slack.dev/reference/block-kit/blocks/plan-block and task-card-block, read 2026-11."""
    if not isinstance(block.get("title"), str) or not block["title"]:
        yield "missing required field: title"
    for task in block.get("tasks", ()):
        yield from _task_faults(task)
    ids = [task.get("task_id") for task in block.get("tasks", ())]
    if len(ids) != len(set(ids)):
        yield "task_id is not unique"


def _task_faults(task: Raw) -> Iterator[str]:
    if task.get("type", "task_card") != "task_card":
        yield "a plan takes task cards alone"
    for name in ("task_id", "title"):
        if not isinstance(task.get(name), str) or not task[name]:
            yield f"missing required field: {name}"
    if task.get("status", "pending") not in TASK_STATUSES:
        yield "status must be an expected value (pending, in_progress, complete, or error)"
    for name in ("details", "output"):
        if name in task and (task[name].get("type") != "rich_text" or len(task[name].get("elements", ())) != 1):
            yield f"{name} must be one rich_text entity"


def _context_faults(elements: Sequence[Any]) -> Iterator[str]:
    if not 1 <= len(elements) <= 10:
        yield "context takes 1 to 10 elements"
    for element in elements:
        yield from _text_faults(element, SECTION)


def _text_faults(text: Any, most: int) -> Iterator[str]:
    if not isinstance(text, dict) or text.get("type") not in ("plain_text", "mrkdwn"):
        yield "text must be plain_text or mrkdwn"
    elif not 1 <= len(text.get("text", "")) <= most:
        yield f"text must have 1 to {most} characters"


def _actions_faults(elements: Sequence[Raw]) -> Iterator[str]:
    if not 1 <= len(elements) <= ELEMENTS:
        yield f"actions take 1 to {ELEMENTS} elements"
    ids = [element.get("action_id", "") for element in elements]
    if len(ids) != len(set(ids)):
        yield "action_id is not unique"
    for element in elements:
        yield from _text_faults(element.get("text"), LABEL)
        if len(element.get("value", "")) > VALUE:
            yield f"value is longer than {VALUE} characters"
        if not 1 <= len(element.get("action_id", "")) <= IDENTIFIER:
            yield f"action_id must have 1 to {IDENTIFIER} characters"
        if element.get("style", "primary") not in ("primary", "danger"):
            yield "style must be primary or danger"


def _table_faults(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    if not 1 <= len(rows) <= TABLE[0]:
        yield f"a table takes 1 to {TABLE[0]} rows"
    if any(len(row) > TABLE[1] for row in rows):
        yield f"a table takes at most {TABLE[1]} columns"


HOME_BLOCKS: Final = frozenset({"actions", "context", "divider", "header", "image", "input", "rich_text", "section"})


def check_home(view: Raw) -> None:
    """A home takes fewer kinds of blocks than a message: no `markdown`, and no table."""
    if view.get("type") != "home" or len(view.get("private_metadata", "")) > METADATA:
        raise Refused("invalid_arguments")
    blocks = view.get("blocks", ())
    if not 1 <= len(blocks) <= 100:
        raise Refused("invalid_arguments")
    wrong = [block["type"] for block in blocks if block["type"] not in HOME_BLOCKS]
    if wrong:
        raise Refused("invalid_blocks", response_metadata={"messages": [f"[ERROR] unsupported type: {wrong[0]}"]})
    for start in range(0, len(blocks), BLOCKS):
        faults = list(_faults(blocks[start : start + BLOCKS]))
        if faults:
            raise Refused("invalid_blocks", response_metadata={"messages": [f"[ERROR] {fault}" for fault in faults]})
    ids = [one["action_id"] for block in blocks if block["type"] == "actions" for one in block["elements"]]
    if len(ids) != len(set(ids)):
        raise Refused("invalid_blocks")


def check_view(view: Raw) -> None:
    if view.get("type") != "modal":
        raise Refused("invalid_arguments")
    for name in ("title", "submit", "close"):
        if name in view and len(view[name]["text"]) > TITLE:
            raise Refused("invalid_arguments", response_metadata={"messages": [f"[ERROR] {name} is too long"]})
    if len(view.get("private_metadata", "")) > METADATA:
        raise Refused("invalid_arguments")
    if not 1 <= len(view.get("blocks", ())) <= 100:
        raise Refused("invalid_arguments")
    check_blocks(list(view["blocks"]))
