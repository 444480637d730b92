"""A call as its card shows it: no argument is hidden, whatever a tool says, and what is shown is one call alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.chat.cards.calls import LINES_MAX, ShownCall, shown_call, whole_call
from runtime.contract import CardChange, CardNote, CardPart, CardText, CardValue
from runtime.markup import Document, parse, to_plain
from runtime.markup.tree import Paragraph
from tests.cards import arguments_in, as_markdown, same_call

names = st.from_regex(r"[a-z_][a-z0-9_.]{0,8}", fullmatch=True)
texts = st.one_of(st.text(max_size=200), st.text(alphabet='a`"{}[]1 \n\\*_-⟨\u202e', max_size=30))
scalars = st.one_of(texts, st.integers(), st.booleans(), st.none())
values = st.one_of(scalars, st.lists(scalars, max_size=3), st.dictionaries(texts, scalars, max_size=3))
calls = st.dictionaries(names, values, max_size=5)


def shown(values: Mapping[str, Any], *parts: CardPart) -> ShownCall:
    return shown_call(json.dumps(values), parts)


@given(calls)
def test_names_and_values_read_back_are_the_call(values: dict[str, Any]) -> None:
    assert same_call(arguments_in(as_markdown(shown(values).text)), values)


@given(calls.filter(bool), st.data())
def test_no_argument_is_hidden_whatever_parts_a_tool_names(values: dict[str, Any], data: st.DataObject) -> None:
    argument = st.sampled_from([*values, "none of them"])
    part = st.one_of(
        st.builds(CardNote, st.text(max_size=9)), st.builds(CardValue, argument), st.builds(CardText, argument)
    )
    parts: Sequence[CardPart] = data.draw(st.lists(part, max_size=5))
    made = shown(values, *parts)
    assert same_call(arguments_in(as_markdown(made.text)), values)
    assert made.is_whole


@given(st.text(alphabet="ab\n ", max_size=60), st.text(alphabet="ab\n ", max_size=60))
def test_a_change_is_shown_with_every_line_that_is_new(before: str, after: str) -> None:
    made = shown({"path": "x", "content": after}, CardValue("path"), CardChange("content", before))
    if made.is_whole:
        assert same_call(arguments_in(as_markdown(made.text)), {"path": "x", "content": after})
    else:
        new = [line for line in after.strip("\n").split("\n") if line.strip() and line not in before.split("\n")]
        assert all(any(one.startswith("+") for one in made.text.split("\n") if line.strip() in one) for line in new)


def test_a_diff_shows_what_changes_and_says_that_it_is_not_all() -> None:
    made = shown(
        {"path": "a_b.md", "content": "a\nb\n"}, CardValue("path", "replaces 4 bytes"), CardChange("content", "a\nc\n")
    )
    assert made == ShownCall(
        "- path: `a_b.md` (replaces 4 bytes)\n\ncontent (what changes):\n\n```diff\n@@ -1,2 +1,2 @@\n a\n-c\n+b\n```",
        False,
    )


def test_of_a_long_file_the_first_lines_and_the_end_are_shown() -> None:
    text = "".join(f"line {n}\n" for n in range(1, 41))
    made = shown({"path": "x", "content": text}, CardValue("path", "new"), CardText("content", 20))
    title, block = made.text.split("\n\n")[1:]
    assert title == "content, 40 lines:"
    assert block.split("\n")[20:] == ["line 20", "… 135 characters …", "line 38", "line 39", "line 40", "```"]
    assert not made.is_whole
    assert whole_call(json.dumps({"path": "x", "content": text})) == f"path:\nx\n\ncontent:\n{text[:-1]}⟨U+000A⟩"


def test_a_short_file_is_shown_whole_and_its_last_line_end_needs_no_code() -> None:
    with_end = shown({"path": "x", "content": "a\nb\n"}, CardText("content", 20))
    without = shown({"path": "x", "content": "a\nb"}, CardText("content", 20))
    assert with_end == ShownCall("- path: `x`\n\ncontent, 2 lines:\n\n```\na\nb\n```")
    assert without == ShownCall("- path: `x`\n\ncontent:\n\n```\na\nb\n```")


def test_a_command_stands_alone_in_its_block_above_the_notes() -> None:
    made = shown({"command": "ls"}, CardText("command"), CardNote("in *this* room"), CardNote("no network"))
    assert made.text == "```\nls\n```\n\nin \\*this\\* room · no network"


def test_nested_values_are_pretty_and_texts_that_read_as_json_are_told_from_it() -> None:
    made = shown({"items": [{"a": "x\ny"}], "count": "3", "body": '{"a": 1}', "tags": ["x", "y"]})
    assert made.text == (
        '- count: `"3"`\n- tags: `["x", "y"]`\n\n'
        'items (JSON):\n\n```json\n[\n  {\n    "a": "x\\ny"\n  }\n]\n```\n\nbody:\n\n```\n{"a": 1}\n```'
    )


@pytest.mark.parametrize(
    "values", [{"a b": 1}, {"": 1}, {"x\u202e": 1}, {f"n{number}": number for number in range(LINES_MAX + 1)}]
)
def test_odd_names_and_very_many_values_stand_in_one_block_of_json(values: dict[str, Any]) -> None:
    made = shown(values, CardNote("beside"))
    assert made.text.startswith("```json\n{\n")
    assert made.text.endswith("\n```\n\nbeside")
    assert arguments_in(as_markdown(made.text)) == values


def test_what_is_no_object_is_shown_as_it_is() -> None:
    assert shown_call("not json").text == "```\nnot json\n```"
    assert shown_call("{}").text == "No arguments"
    assert whole_call("not json") == "not json"


def test_a_file_too_large_to_compare_is_shown_as_a_text() -> None:
    made = shown({"content": "a\nb"}, CardChange("content", "x" * 300_000))
    assert made == ShownCall("content:\n\n```\na\nb\n```")


@pytest.mark.parametrize("note", ["-", "- path: `safe`", "1. x", "# x", "+ x", "2) x", "==="])
def test_a_note_begins_no_list_and_no_heading(note: str) -> None:
    made = shown({"a": "1"}, CardText("a"), CardNote(note))
    (_, last) = parse(made.text).blocks
    assert isinstance(last, Paragraph)
    assert to_plain(Document((last,))).strip() == note
