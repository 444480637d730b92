"""Answers of a git server that means harm."""

from __future__ import annotations

import pytest

from tools.git.wire import FLUSH, NoGit, packet, received

PACK = b"PACK rest"
COMMIT = "a" * 40


def test_commits_at_which_a_history_was_cut_are_read() -> None:
    assert received(packet(f"shallow {COMMIT}") + FLUSH + packet("NAK") + PACK).shallow == (COMMIT,)


@pytest.mark.parametrize("word", ["$(touch owned)", "`id`", f"{COMMIT}; id", f"{COMMIT} > .git/config"])
def test_what_goes_on_a_command_line_is_the_name_of_a_commit(word: str) -> None:
    with pytest.raises(NoGit):
        received(packet(f"shallow {word}") + FLUSH + packet("NAK") + PACK)
