"""Sampled stacks, folded one a line as py-spy's `raw` format has them, and whom each sample belongs to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = f"{Path(__file__).parents[1]}/"

# A sample belongs to the first of these that its stack meets on the way up from where it was. What is named by none,
# such as json, pydantic or the event loop's own files, counts for whoever called it.
GROUPS: Final[Mapping[str, str]] = {
    "LiteLLM": r"/litellm/|/openai/|/tiktoken/",
    "HTTP client": r"/httpx/|/httpcore/|/aiohttp/(client|connector|cookiejar)",
    "web server": r"/aiohttp/web",
    "compiling SQL": r"/sqlalchemy/",
    "store": rf"{ROOT}runtime/store/",
    "logs": rf"/structlog/|{ROOT}bot/(logs|masking)",
    "models": rf"{ROOT}runtime/models/",
    "agent": rf"{ROOT}runtime/(agent|calls|cursor|dispatch|lastwords|transcript|policy|cards)",
    "courier": rf"{ROOT}runtime/(courier|outbox|markup)",
    "intake": rf"{ROOT}runtime/intake",
    "page": rf"{ROOT}(adapters/web|runtime/http)/",
    "rest of ours": rf"{ROOT}(bot|runtime|tools|adapters|bench)/(?!__main__|cli)",
}
KNOWN: Final = [(name, re.compile(pattern)) for name, pattern in GROUPS.items()]
LOOP: Final = "event loop"
THREAD: Final = re.compile(r"thread \(\w+\): ?(?P<name>.*?)(_\d+)?")  # threads of one pool count as one
FRAME: Final = re.compile(r"(?P<function>.*) \((?P<file>.*?)(:\d+)?\)")


@dataclass(frozen=True, slots=True)
class Stack:
    """So many samples of one thread; `frames` from the outermost to where it was, as (function, file)."""

    thread: str
    frames: tuple[tuple[str, str], ...]
    samples: int

    @property
    def group(self) -> str:
        for _, file in reversed(self.frames):
            for name, pattern in KNOWN:
                if pattern.search(file):
                    return name
        return LOOP

    @property
    def place(self) -> str:
        """The function where it was."""
        function, file = self.frames[-1] if self.frames else ("", "")
        return f"{function} ({short(file)})"


def stacks(raw: str) -> Iterator[Stack]:
    """
    >>> [stack] = stacks("thread (0x7f): MainThread;main (bot/x.py:3);read (/usr/lib/python3/json/decoder.py:7) 12")
    >>> stack.thread, stack.samples, stack.place
    ('MainThread', 12, 'read (json/decoder.py)')
    """
    for line in raw.splitlines():
        folded, _, count = line.rpartition(" ")
        first, *rest = folded.split(";")
        thread = THREAD.fullmatch(first)
        frames = [found for frame in rest if (found := FRAME.fullmatch(frame))]
        yield Stack(
            thread["name"] if thread else first,
            tuple((found["function"], found["file"]) for found in frames),
            int(count),
        )


def short(file: str) -> str:
    """The last two steps of a path."""
    return "/".join(Path(file).parts[-2:])


def report(found: Sequence[Stack], *, milliseconds: float, places: int = 25) -> Iterator[str]:
    """Where the `milliseconds` of one message go, by thread and group, then the busiest places."""
    total = sum(stack.samples for stack in found) or 1
    groups: Counter[tuple[str, str]] = Counter()
    busiest: Counter[tuple[str, str]] = Counter()
    for stack in found:
        groups[stack.thread, stack.group] += stack.samples
        busiest[stack.group, stack.place] += stack.samples
    for title, counted in (("thread, group", groups.most_common()), ("group, place", busiest.most_common(places))):
        yield f"\n{'share':>6}  {'ms':>6}  {title}"
        for (one, other), samples in counted:
            share = samples / total
            yield f"{share:6.1%}  {share * milliseconds:6.2f}  {one:<14}  {other}"
