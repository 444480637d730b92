"""Phrases of standing intents that the demo model understands, and what it says once one fires."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import Json
from runtime.text.outside import sources_in, unfenced

# As `demo_phrases.PHRASES` has them.
WATCHES: Final[Sequence[tuple[str, str, Mapping[str, Json]]]] = (
    (r"tell me when (?:some(?:body|one)|anybody) says (?P<watched>.+?)(?: here)?", "watch_for", {"event": "words"}),
    (r"tell me when (?:a|the) file arrives(?: here)?", "watch_for", {"event": "file_arrived"}),
    (r"tell me when (?:a|the) task is done(?: here)?", "watch_for", {"event": "task_done"}),
    (r"(?:list (?:the |my )?watches|what do you watch(?: for)?(?: here)?\??)", "watch_list", {}),
    (r"(?:end|stop|drop) (?:the )?watch (?P<name>.+)", "watch_end", {}),
)
WHAT_I_WATCH: Final = "- `tell me when somebody says WORDS here` (then `list the watches`, `end the watch WORDS`)"
HAPPENED: Final = re.compile(r"\n\n\[What happened(?: in \S+)?: (?P<what>[^\]\n]+)\.\]\n(?P<text>.*)", re.DOTALL)
"""The event behind the work of a trigger."""


def watch_of(groups: Mapping[str, str]) -> dict[str, Json]:
    """Arguments of a watch: several words stand between "or".

    >>> watch_of({"watched": '"deploy" or rollback'})
    {'words': ['deploy', 'rollback']}
    """
    words = [one.strip().strip("\"'`").strip() for one in re.split(r",| or ", groups.get("watched", ""))]
    return {"words": [word for word in words if word]} if any(words) else {}


def event_of(task: str) -> tuple[str, str]:
    """The work of a trigger without its event, and the event as it is told: quoted."""
    found = HAPPENED.search(task)
    if not found:
        return task, ""
    quoted = "\n".join(f"> {line}" for line in unfenced(found["text"]).strip().splitlines())
    what, who = found["what"], ", ".join(sources_in(found["text"]))
    return task[: found.start()], f"{what[:1].upper()}{what[1:]}{f' ({who})' if who else ''}:\n{quoted}"
