"""`docs/tools.md`, made from the tools themselves: `python -m bot.reference.tools` prints it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bot.settings.settings import Settings, load
from bot.wiring.tools.known import known_tools
from runtime.contract import Reads, ToolSpec

TOOLS_PAGE: Final = Path(__file__).parents[2] / "docs" / "tools.md"
ALL_ON: Final = """
[speech]
name = "demo"

[tools.search]
provider = "searxng"
url = "https://search.example.org"

[tools.browser]
enabled = true

[tools.containers]
images = ["docker.io/library/python:3.13-slim"]

[tools.wasm]
enabled = true

[[egress.rules]]
method = "POST"
host = "api.example.org"
result = "allow"

[[knowledge]]
name = "handbook"
folder = "handbook"

[[agents]]
name = "main"
skills = ["csv-report"]
[[databases]]
name = "sales"
url = "sqlite:///sales.db"
[[git]]
url = "https://git.example.org"
[[a2a]]
name = "billing"
url = "https://billing.example.org"
"""
"""Settings under which each tool that needs some is there."""
NEEDS: Final = {
    "a2a_ask": "a [peer](a2a.md#peers)",
    "a2a_peers": "a [peer](a2a.md#peers)",
    "docs_search": "a pack of [documents](knowledge.md)",
    "query": "a [database](databases.md)",
    "web_search": "`[tools.search]`, see below",
    "skill_read": "a [skill](skills.md) that the agent has",
    "skill_run": "a [skill](skills.md) with a script",
    "git_clone": "a [git server](git.md)",
    "git_pull": "a [git server](git.md)",
    "git_push": "a [git server](git.md)",
    **dict.fromkeys(
        ("browser_open", "browser_read", "browser_screenshot", "browser_click", "browser_fill", "browser_close"),
        "`[tools.browser]`: [browser](browser.md)",
    ),
    "container_exec": "`[tools.containers]`: [containers](containers.md)",
    "wasm_run": "`[tools.wasm]`: [WebAssembly](containers.md#webassembly)",
    "image_make": "`[images]`: [pictures and voice](pictures.md)",
    "speak": "`[speech]`: [speaking](pictures.md#speaking)",
    "see": "a model that [sees](pictures.md)",
    "transcribe": "`[transcription]`: [pictures and voice](pictures.md)",
    "http_request": "an [egress rule](egress.md) that allows a method other than GET and HEAD",
}
INTRODUCTION: Final = """\
# Tools

This page is made from the tools themselves by `python -m bot.reference.tools`; a test fails when it is stale.

Agents call these tools. MCP servers bring [more](mcp.md), and so do [files and packages](plugins.md). Which agent may call which is said in
[its manifest](agents.md); which calls ask first is the [policy's](policy.md) to say: usually those that write, and those that run commands.

- **Effect**: what a call may do at most. A `read` changes nothing and may be repeated; `write` changes something; `danger` may change anything.
- **Results from**: whose words the result may be. Those from *outside* are fenced, and the conversation [asks before a call reaches out](security.md) from then on.
- **Time** and **Length** are bounds of one call. The whole of a longer result is kept as a file of the room.
- Tools marked ○ aren't in each request: the model finds them by `find_tools` when it needs them.
"""
WORDS_OF: Final = {
    Reads.OURS: "ourselves",
    Reads.PEOPLE: "people we know",
    Reads.NAMES: "names alone",
    Reads.FILES: "whoever wrote the files",
    Reads.OUTSIDE: "outside",
}
TOOL_HEADS: Final = "| Tool | What it does | Effect | Results from | Time | Length | Needs |\n| --- | --- | --- | --- | --- | --- | --- |"
SEARCH: Final = """\
## Searching the web

`web_search` is there where the settings name a service:

```toml
[tools.search]
provider = ["searxng", "brave"]        # asked in this order, until one answers
url = "https://search.example.org"     # your SearXNG; list "json" among its search.formats
brave_key_env = "BRAVE_KEY"            # or sealed: signalbox secrets set BRAVE_KEY
```

| Service | Needs |
| --- | --- |
| `searxng` | an instance of your own, `url`. On a private address it must be in [`egress.allow`](egress.md) |
| `brave` | `brave_key` |
| `tavily` | `tavily_key` |

Each is asked through the [guarded client](egress.md), for at most 10 seconds; rules see it as the tool `web_search`. Titles and excerpts are words
from outside, and each result has its address.

## Sending requests

`http_request` sends POST, PUT, PATCH and DELETE where an [egress rule](egress.md) allows the host and the method; it asks first. Each call has an
`Idempotency-Key` of its own, by which an API that knows such keys carries a repeat out once. If the connection ends before an answer, the agent is told that
nobody knows whether it was carried out, and nothing is sent again by itself.

## Posting messages

`channel_send` posts a message beside the reply: in this room (`here`) without asking, in any other room after a person's OK. The outbox knows the call, so a
message is shown once, whatever is killed or repeated; `delivery_status` tells how it stands. Its files are copied to the other room. Only people with the
role `user` or higher can have messages posted.

## Reactions and corrections

`react` marks a message of the room with one emoji: the one that is answered, one that the agent posted, or its last answer. `edit_own` replaces the text of
such a message of its own, if it is a single one without files; people see that it was edited. Neither asks, since both stay in the room, and each is made
once, whatever is killed or repeated. One answer makes up to five of each. Telegram takes [fewer emoji](channels/telegram.md) than the others.

## Handing over files

`send_file` attaches a file of the room to the reply: at most 10 in one reply, 50 MB each, less where the platform takes less. Links and devices are
refused, and files of a text type pass the [leak guard](security.md).
"""


def document() -> str:
    """The whole page."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "signalbox.toml").write_text(ALL_ON, encoding="utf-8")
        settings = load(folder=Path(folder), environ={})
    return "\n".join([INTRODUCTION, TOOL_HEADS, *_rows(settings), "", SEARCH])


def _rows(settings: Settings) -> Iterator[str]:
    for name, tool in sorted(known_tools(settings).items()):
        yield f"| {' | '.join(_cells(name, tool.spec))} |"


def _cells(name: str, spec: ToolSpec) -> Iterator[str]:
    yield f"`{name}`{' ○' if spec.seldom else ''}"
    yield spec.description.replace("|", "\\|")
    yield spec.effect.value
    yield WORDS_OF[spec.flow.reads]
    yield f"{spec.timeout.total_seconds():g} s"
    yield f"{spec.output_bound:,}"
    yield NEEDS.get(name, "")


if __name__ == "__main__":
    sys.stdout.write(document())
