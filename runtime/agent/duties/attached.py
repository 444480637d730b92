"""Files on a reply: as many as platforms take in one message, and words about those that aren't on it."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.contract import FileRef
from runtime.reports.fan_out import MOST_FILES
from runtime.text.naming import listed


def fitting(held: int, files: Sequence[FileRef], told: str) -> tuple[list[FileRef], str]:
    """Files for which there is room on a reply that has `held`; and the result `told`, with words about the others.

    >>> fitting(10, [FileRef(name="sales.csv", path="out/sales.csv", size=8, mime="text/csv")], "Done.")[1]
    "Done.\\n\\n[A reply has at most 10 files, and yours is full: out/sales.csv isn't attached. Say so, or put several into one.]"
    """
    room = max(MOST_FILES - held, 0)
    left = [file.path for file in files[room:]]
    if not left:
        return list(files), told
    are = f"{listed(left)} {'isn' if len(left) == 1 else 'aren'}'t attached. Say so, or put several into one."
    return list(files[:room]), f"{told}\n\n[A reply has at most {MOST_FILES} files, and yours is full: {are}]"


def left_behind(files: Sequence[FileRef], shown: Sequence[FileRef]) -> str:
    """Words for the reader about files of a reply that can't be shown with it.

    >>> left_behind([FileRef(name="sales.csv", path="out/sales.csv", size=8, mime="text/csv")], [])
    "sales.csv couldn't be attached."
    """
    there = {one.name for one in shown}
    return f"{listed([one.name for one in files if one.name not in there])} couldn't be attached."
