"""What of a server's answer the model reads: words once, files as files, and never bytes written as text."""

from __future__ import annotations

import json
from base64 import b64encode
from random import Random
from typing import Any, Final

import pytest
from mcp_types import CallToolResult

from tools.mcp.results import Answer, Blob, answer_of

BYTES: Final = Random(7).randbytes(300_000)
DATA: Final = b64encode(BYTES).decode()
IMAGE: Final = {"type": "image", "data": DATA, "mimeType": "image/png"}
FILE: Final = {"type": "resource", "resource": {"uri": "file:///a", "blob": DATA, "mimeType": "application/pdf"}}


def answer(*content: Any, structured: Any = None) -> Answer:
    return answer_of(CallToolResult.model_validate({"content": list(content), "structuredContent": structured}))


def texts(told: Answer) -> list[str]:
    return [piece for piece in told.pieces if isinstance(piece, str)]


@pytest.mark.parametrize("block", [IMAGE, FILE], ids=["an image", "a file"])
@pytest.mark.parametrize(
    "repeat",
    [
        lambda block: {"result": block},
        lambda block: {"result": [block]},
        lambda block: {**block, "annotations": None},
        lambda block: {"result": {"deep": [DATA]}},
    ],
    ids=["in a result", "in a list", "with empty fields", "as bytes alone"],
)
def test_a_block_that_comes_again_in_the_structured_form_is_read_once(block: Any, repeat: Any) -> None:
    told = answer(block, structured=repeat(block))
    assert [piece.data for piece in told.pieces if isinstance(piece, Blob)] == [BYTES]
    assert texts(told) == []


def test_what_the_structured_form_says_beside_is_read() -> None:
    told = answer(IMAGE, structured={"result": IMAGE, "width": 640, "tags": ["a", "b"], "none": None})
    assert [json.loads(text) for text in texts(told)] == [{"width": 640, "tags": ["a", "b"], "none": None}]


@pytest.mark.parametrize(
    ("block", "structured"),
    [
        ({"type": "text", "text": f"It is {DATA} and no more."}, None),
        ({"type": "text", "text": json.dumps({"image": DATA})}, None),
        ({"type": "text", "text": f'<img src="data:image/png;base64,{DATA}">'}, None),
        ({"type": "resource_link", "name": "it", "uri": f"data:image/png;base64,{DATA}"}, None),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": DATA}}, None),
        (IMAGE, {"other": b64encode(BYTES[::-1]).decode()}),
    ],
    ids=["in words", "in JSON", "in a page", "in a link", "in a text file", "structured"],
)
def test_bytes_written_as_text_are_noted_and_left_out(block: Any, structured: Any) -> None:
    told = "".join(texts(answer(block, structured=structured)))
    assert "300,000 bytes as base64, left out" in told
    assert len(told) < 200


@pytest.mark.parametrize(
    "text", ["y" * 5_000, "0123456789abcdef" * 100, "7" * 2_000, "words and Words, 12 of them. " * 100]
)
def test_what_is_only_long_stays(text: str) -> None:
    assert texts(answer({"type": "text", "text": text})) == [text]
