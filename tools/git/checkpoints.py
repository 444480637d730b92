"""Checkpoints of long work: its files are written, and all of the workspace is committed, once for each turn of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Final

from runtime.contract import INBOX, UPLOADS, Effect, Flow, Reads, Tool, ToolContext
from runtime.errors import ToolFailed
from tools.files.files import replace as written
from tools.git.local import COMMITTER, LOCAL_MARGIN, OPEN_FORM
from tools.git.program import words
from tools.git.repository import GitSaid, repository
from tools.kit.declare import tool
from tools.sandbox.sandbox import PATH, Sandbox

SAVING: Final = Flow(Reads.OURS, stays=True, writes="{wrote}", carries={})
MARK: Final = "Signalbox-Turn"
"""The trailer by which a commit is known again after a kill."""
UNCOMMITTED_FOLDERS: Final = (f"/{INBOX}/", f"/{UPLOADS}/")
"""Folders of files that people sent, and of long texts: they are not what was worked on."""
LOCK_SECONDS: Final = 10
"""Time for another call of git to end. A lock that is there for longer was left by one that was killed."""
HERE: Final = "."


def checkpoint_tool(sandbox: Sandbox, *, timeout: timedelta, lock_seconds: int = LOCK_SECONDS) -> Tool:
    """The call by which long work is saved, which no model is offered.

    It counts as reading, so nobody is asked: an operator began the work, it's written from the record, and the same again
    changes nothing.
    """

    @tool(effect=Effect.READ, timeout=timeout + LOCAL_MARGIN, flow=SAVING)
    async def goal_save(
        turn: Annotated[int, "Its number; 0 is before the first."],
        title: Annotated[str, "Of the commit."],
        files: Annotated[dict[str, Any], "Texts by path."],
        wrote: Annotated[str, "The one that others' words are in."],
        context: ToolContext,
    ) -> str:
        """Write the files of long work, and commit all that is in the workspace."""
        for path, text in files.items():
            written(context.workspace, path, str(text).encode("utf-8", "replace"))
        try:
            key = f"{MARK}: {context.run_id}/{turn}"
            return f"checkpoint {await _committed(sandbox, context.workspace, title, key, lock_seconds)}"
        except GitSaid:
            return "no checkpoint: git refuses"  # what it says repeats names that others chose
        except ToolFailed as error:
            return f"no checkpoint: {error}"

    return replace(goal_save, spec=replace(goal_save.spec, untold=True))


async def _committed(sandbox: Sandbox, workspace: Path, title: str, key: str, lock_seconds: int) -> str:
    """The short id of the commit of this turn, made now or before a kill. Errors: ToolFailed."""
    if not (workspace / ".git").is_symlink() and not (workspace / ".git").exists():
        await repository(sandbox, workspace, HERE).lines(_begun())
    found = await repository(sandbox, workspace, HERE).checked()
    told = await found.lines([*_unlocked(lock_seconds), *_once(title, key)])
    return told.strip()


def _once(title: str, key: str) -> list[str]:
    """Lines that commit all there is, unless the newest commit has this mark, and print its id."""
    newest = words("log", "--max-count=1", "--format=%B", "--no-show-signature", *OPEN_FORM)
    any_there = words("for-each-ref", "--count=1", "refs/heads")
    form = ("--quiet", "--no-verify", "--no-gpg-sign", "--allow-empty", "--cleanup=whitespace", "--no-edit")
    commit = words("commit", *form, "--message", f"{title}\n\n{key}", more=_signed())
    return [
        f'if [ -z "$({any_there})" ] || ! {newest} | grep -qxF {quote(key)}',
        f"then {words('add', '--all', '--', HERE)}; {commit}; fi",
        words("rev-parse", "--short", "HEAD"),
    ]


def _begun() -> list[str]:
    quiet = f"env -i PATH={PATH} GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent"
    left_out = " ".join(f"'{one}'" for one in UNCOMMITTED_FOLDERS)
    return [
        f"{quiet} git init --quiet --template= -b main .",
        f"mkdir -p .git/info && printf '%s\\n' {left_out} > .git/info/exclude",
    ]


def _unlocked(seconds: int) -> list[str]:
    """Lines that wait for another call of git, and then take away what a killed one left."""
    waits = f"n=0; while [ -e .git/index.lock ] && [ $n -lt {seconds} ]; do sleep 1; n=$((n+1)); done"
    return [waits, "rm -f .git/*.lock .git/refs/heads/*.lock"]


def _signed() -> Mapping[str, str]:
    name, address = COMMITTER
    return {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", address))
    }
