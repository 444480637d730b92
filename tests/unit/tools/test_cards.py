"""How our own tools show their calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runtime.chat.cards.calls import ShownCall, shown_call
from runtime.contract import CardContext, Tool
from runtime.egress import Egress
from tools.files.files import COMPARED_MAX_BYTES, write_file
from tools.mcp.offers import Offer, spec_of
from tools.mcp.terms import Endpoint, ServerTerms
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.external import External
from tools.sandbox.shell import ShellSettings, shell_tool
from tools.web.fetch import http_tool


@dataclass
class Space:
    """A workspace in which calls are shown."""

    folder: Path

    def shows(self, tool: Tool, **arguments: Any) -> ShownCall:
        assert tool.spec.card is not None
        return shown_call(json.dumps(arguments), tool.spec.card(arguments, CardContext(self.folder)))


@pytest.fixture
def space(workspace: Path) -> Space:
    return Space(workspace)


def test_a_command_tells_where_it_runs_and_what_it_reaches(space: Space) -> None:
    settings = ShellSettings()
    inside = shell_tool(Bubblewrap(settings), timeout=settings.timeout)
    bare = shell_tool(External(settings), timeout=settings.timeout)
    assert space.shows(inside, command="ls -l").text == "```\nls -l\n```\n\nin this room's workspace · no network"
    assert space.shows(bare, command="ls").text.endswith("in this room's workspace · the network is open")


def test_a_new_file_shows_its_text(space: Space) -> None:
    made = space.shows(write_file, path="notes/today.md", content="# Today\n")
    assert made == ShownCall("- path: `notes/today.md` (new)\n\ncontent, 1 line:\n\n```\n# Today\n```")
    assert not space.shows(write_file, path="long.txt", content="line\n" * 40).is_whole


def test_a_file_that_is_there_shows_what_changes(space: Space) -> None:
    (space.folder / "a.md").write_text("one\ntwo\n" + "x" * 2_092 + "\n")
    made = space.shows(write_file, path="a.md", content="one\nthree\n" + "x" * 2_092 + "\n")
    assert made.text.startswith(
        "- path: `a.md` (replaces 2.1 KB)\n\ncontent (what changes):\n\n```diff\n@@ -1,3 +1,3 @@"
    )
    assert "\n-two\n+three\n" in made.text
    assert not made.is_whole


def test_a_file_that_stays_the_same_says_so(space: Space) -> None:
    (space.folder / "a.md").write_text("one\n")
    assert space.shows(write_file, path="a.md", content="one\n").text.startswith(
        "- path: `a.md` (already says exactly this)\n"
    )


def test_a_file_of_one_byte_is_not_said_to_have_bytes(space: Space) -> None:
    (space.folder / "a.md").write_text("1")
    assert "(replaces 1 byte)" in space.shows(write_file, path="a.md", content="2").text


@pytest.mark.parametrize("there", [b"\0\1\2", b"\xff\xfe", b"x" * (COMPARED_MAX_BYTES + 1)])
def test_what_is_no_text_to_compare_is_replaced_by_the_whole_text(space: Space, there: bytes) -> None:
    (space.folder / "a.bin").write_bytes(there)
    made = space.shows(write_file, path="a.bin", content="text\n")
    assert made.text.startswith("- path: `a.bin` (replaces ")
    assert made.text.endswith("content, 1 line:\n\n```\ntext\n```")


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "a\0b", "folder"])
def test_no_card_looks_outside_of_the_workspace_or_at_what_is_no_file(space: Space, path: str) -> None:
    (space.folder / "folder").mkdir()
    (space.folder / "link").symlink_to("../secret.txt")
    for name in (path, "link"):
        assert "secret outside" not in space.shows(write_file, path=name, content="x\n").text


@pytest.mark.parametrize(
    "arguments", [{}, {"path": "a"}, {"path": 1, "content": None}, {"path": "a", "content": ["x"]}]
)
def test_wrong_arguments_are_shown_as_they_are(space: Space, arguments: Mapping[str, Any]) -> None:
    assert space.shows(write_file, **arguments) == shown_call(json.dumps(arguments))


def test_a_page_that_is_fetched_names_its_host(space: Space) -> None:
    tool = http_tool(Egress())
    shown = space.shows(tool, url="https://user@example.org:8443/a?b", max_characters=500)
    assert (
        shown.text == "- url: `https://user@example.org:8443/a?b`\n- max\\_characters: `500`\n\nGET, from example.org"
    )
    assert space.shows(tool, url="http://[").text.endswith("\n\nGET")


def test_a_tool_of_a_server_names_both(tmp_path: Path) -> None:
    spec = spec_of(
        Offer("create_issue", "", {}), ServerTerms("tracker", Endpoint("https://example.org"), tmp_path / "m")
    )
    assert spec.card is not None
    call = {"title": "A", "labels": [{"name": "bug"}]}
    shown = shown_call(json.dumps(call), spec.card(call, CardContext(tmp_path))).text
    assert shown == ('- title: `A`\n- labels: `[{"name": "bug"}]`\n\nserver tracker · tool create\\_issue')
