"""Things that an editor hands over and that aren't used here: each is refused in words, since none may be ignored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from acp import RequestError

from runtime.errors import BotError
from runtime.http.errors import Refusal
from runtime.text.glyphs import clip, visible
from runtime.text.retold import retold
from runtime.text.words import marked, say

INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
METHOD_NOT_FOUND: Final = -32601
SERVERS_TOLD_CHARS: Final = 200
EDITORS_SERVERS: Final = marked(
    "Agents of Signalbox don't use an editor's MCP servers ({names}), but those of its own settings, with their rules and "
    "approvals: docs/mcp.md. To begin without the editor's, name `--skip-mcp` behind `acp` where the editor has this command."
)
OTHER_FOLDERS: Final = marked(
    "Agents of Signalbox work with the files of their conversation, not with folders of the editor. Attach what they need."
)
NO_FORK: Final = marked(
    "A session can't be forked: its files, its open questions and its work are its own. session/new begins another one."
)


def fault(words: str) -> RequestError:
    return RequestError(INVALID_PARAMS, words)


def failed(error: BotError | Refusal) -> RequestError:
    """Words of the running Signalbox, in the language of this machine."""
    return RequestError(INTERNAL_ERROR, retold(str(error)))


def no_fork() -> RequestError:
    return RequestError(METHOD_NOT_FOUND, say(NO_FORK))


def expect_unused(servers: Sequence[Any] | None, folders: Sequence[str] | None, *, skips_servers: bool) -> None:
    """Errors: RequestError for MCP servers that nobody said to leave out, and for more folders."""
    if servers and not skips_servers:
        names = clip(visible(", ".join(str(one.name) for one in servers), one_line=True), SERVERS_TOLD_CHARS)
        raise fault(say(EDITORS_SERVERS, names=names))
    if folders:
        raise fault(say(OTHER_FOLDERS))
