"""Repositories, programs and tests with the demo model: each phrase is the call that it says."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.models.demo_phrases import wish


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("git status", "git_status", {}),
        ("git diff in site", "git_diff", {"path": "site"}),
        ("Git log", "git_log", {}),
        ("git branches", "git_branches", {}),
        ("commit: Say more, and say it.", "git_commit", {"message": "Say more, and say it."}),
        ("new branch topic/a", "git_branch", {"name": "topic/a", "create": True}),
        ("commit in site: Say more", "git_commit", {"message": "Say more", "path": "site"}),
        ("new branch topic in site", "git_branch", {"name": "topic", "create": True, "path": "site"}),
        ("branch main", "git_branch", {"name": "main"}),
        ("clone https://git.example.org/a.git into site", "git_clone", {"url": "https://git.example.org/a.git", "folder": "site"}),
        ("start: python3 -m http.server", "process_start", {"command": "python3 -m http.server"}),
        ("read process a1B2c3", "process_read", {"process": "a1B2c3", "wait_seconds": 1}),
        ("read the file a.txt", "read_file", {"path": "a.txt"}),
        ("tell process a1B2c3: hello.", "process_write", {"process": "a1B2c3", "text": "hello.\n"}),
        ("stop process a1B2c3", "process_stop", {"process": "a1B2c3"}),
        ("run the tests", "run_tests", {}),
        ("run the tests with sums in site", "run_tests", {"pattern": "sums", "path": "site"}),
        ("compile .", "compile", {"path": "."}),
        ("list processes", "process_list", {}),
        ("git pull in site", "git_pull", {"path": "site"}),
        ("push abc1234 to main of https://git.example.org/a.git", "git_push", {"commit": "abc1234", "branch": "main", "url": "https://git.example.org/a.git"}),
    ],
)  # fmt: skip
def test_a_phrase_is_a_call(line: str, tool: str, arguments: dict[str, Any]) -> None:
    found = wish(line)
    assert found is not None
    assert (found.tool, dict(found.arguments)) == (tool, arguments)
