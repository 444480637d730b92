"""Tools that look at a repository of the workspace and commit to it. None of them reaches a network."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import (
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Effect,
    Flow,
    Json,
    Reads,
    Tool,
    ToolContext,
)
from runtime.errors import ToolFailed, ToolRetry
from tools.files.workspace import parts_of
from tools.git.repository import REPOSITORY_MAX_CHARS, GitSaid, Repository, repository
from tools.kit.declare import tool
from tools.sandbox.sandbox import Sandbox

LOCAL_MARGIN: Final = timedelta(seconds=30)
"""Time for two calls beside the one that the sandbox bounds."""
LOGGED_MAX: Final = 200
COMMIT_MESSAGE_MAX_CHARS: Final = 10_000
COMMIT_FILES_MAX: Final = 200
REVISION: Final = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_./@{}^~+=-]{0,199}")
BRANCH: Final = re.compile(
    r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)))[A-Za-z0-9_][A-Za-z0-9_./+=@-]{0,198}[A-Za-z0-9_+=-]|[A-Za-z0-9_]"
)
"""Names that git takes for a branch, but for those with rarer characters: git-check-ref-format(1)."""
LOG_FORMAT: Final = "--format=%h %as %an: %s%d"
LAST_COMMIT: Final = "HEAD"
NO_CHANGES: Final = "Nothing has changed."
OPEN_FORM: Final = ("--no-ext-diff", "--no-textconv")
LOOKING: Final = Flow(Reads.FILES, "a git repository", carries={})
STORING: Final = Flow(Reads.FILES, "a git repository", stays=True, writes="*")
COMMITTER: Final = ("Signalbox", "signalbox@localhost")

Where = Annotated[str, "Folder of the repository."]
Author = tuple[str, str]
"""Name and address under which is committed."""


At = Callable[[str, ToolContext], Awaitable[Repository]]
"""Finds a repository, and looks whether git may be run in it."""


def local_tools(sandbox: Sandbox, *, timeout: timedelta, author: Author = COMMITTER) -> list[Tool]:
    """`git_status`, `git_diff`, `git_log`, `git_branches`, `git_branch` and `git_commit`."""
    time = timeout + LOCAL_MARGIN

    async def at(path: str, context: ToolContext) -> Repository:
        return await repository(sandbox, context.workspace, path).checked()

    return [*_of_files(at, time), *_of_history(at, time), *_writing(at, time, author)]


def _of_files(at: At, time: timedelta) -> list[Tool]:

    @tool(effect=Effect.READ, timeout=time, output_bound=REPOSITORY_MAX_CHARS, seldom=True, flow=LOOKING)
    async def git_status(context: ToolContext, path: Where = ".") -> str:
        """Show a git repository's branch and changed files."""
        told = await (await at(path, context)).git("status", "--short", "--branch", "--ignore-submodules=all")
        return told if len(told.splitlines()) > 1 else f"{told.rstrip()}\n{NO_CHANGES}"

    @tool(effect=Effect.READ, timeout=time, output_bound=REPOSITORY_MAX_CHARS, seldom=True, flow=LOOKING)
    async def git_diff(
        context: ToolContext,
        path: Where = ".",
        revision: Annotated[str, "A commit, or two as A..B. Empty: the last one."] = "",
        files: Annotated[list[str], "Only these."] = [],  # noqa: B006 - a schema's default, never changed
    ) -> str:
        """Show what changed in a git repository."""
        only = ["--", *_files(files)] if files else ["--"]
        form = (*OPEN_FORM, "--no-color", "--ignore-submodules=all", "--stat", "--patch", "--end-of-options")
        found = await at(path, context)
        try:
            return await found.git("diff", *form, revision_named(revision or LAST_COMMIT), *only) or NO_CHANGES
        except ToolFailed as error:
            raise _without_commits(error) from error

    return [git_status, git_diff]


def _of_history(at: At, time: timedelta) -> list[Tool]:
    @tool(effect=Effect.READ, timeout=time, output_bound=REPOSITORY_MAX_CHARS, seldom=True, flow=LOOKING)
    async def git_log(
        context: ToolContext,
        path: Where = ".",
        revision: Annotated[str, "A branch or commit, or A..B."] = LAST_COMMIT,
        count: Annotated[int, f"At most {LOGGED_MAX}."] = 20,
    ) -> str:
        """List commits of a git repository, newest first."""
        if not 1 <= count <= LOGGED_MAX:
            raise ToolRetry(f"count is from 1 to {LOGGED_MAX}.")
        form = (f"--max-count={count}", "--no-show-signature", LOG_FORMAT, *OPEN_FORM, "--end-of-options")
        found = await at(path, context)
        try:
            return await found.git("log", *form, revision_named(revision), "--") or "There are no commits."
        except ToolFailed as error:
            raise _without_commits(error) from error

    @tool(effect=Effect.READ, timeout=time, output_bound=REPOSITORY_MAX_CHARS, seldom=True, flow=LOOKING)
    async def git_branches(context: ToolContext, path: Where = ".") -> str:
        """List a git repository's branches; * marks the current one."""
        form = "--format=%(HEAD) %(refname:short) %(objectname:short) %(contents:subject)"
        told = await (await at(path, context)).git("for-each-ref", form, "refs/heads", "refs/remotes")
        return told or "There are no branches: nothing was committed yet."

    return [git_log, git_branches]


def _writing(at: At, time: timedelta, author: Author) -> list[Tool]:
    @tool(
        effect=Effect.WRITE,
        timeout=time,
        output_bound=REPOSITORY_MAX_CHARS,
        seldom=True,
        card=_branch_card,
        flow=STORING,
    )
    async def git_branch(
        name: Annotated[str, "The branch."],
        context: ToolContext,
        path: Where = ".",
        create: Annotated[bool, "Make it, from here."] = False,
    ) -> str:
        """Switch a git repository to a branch, or to a new one."""
        form = ["--create", branch_named(name)] if create else ["--no-guess", branch_named(name)]
        found = await at(path, context)
        await found.git("switch", "--quiet", "--no-recurse-submodules", *form)
        return f"The repository is on {name} now."

    @tool(
        effect=Effect.WRITE,
        timeout=time,
        output_bound=REPOSITORY_MAX_CHARS,
        seldom=True,
        card=_commit_card,
        flow=STORING,
    )
    async def git_commit(
        message: Annotated[str, "Why it changed."],
        context: ToolContext,
        path: Where = ".",
        files: Annotated[list[str], "Only these. Empty: all that changed."] = [],  # noqa: B006 - see above
    ) -> str:
        """Commit changes in a git repository."""
        if not message.strip() or len(message) > COMMIT_MESSAGE_MAX_CHARS:
            raise ToolRetry(f"Give a message of at most {COMMIT_MESSAGE_MAX_CHARS:,} characters.")
        return await _committed(await at(path, context), message.strip(), _files(files), _signed(author, context))

    return [git_branch, git_commit]


async def _committed(found: Repository, message: str, files: list[str], signed: Mapping[str, str]) -> str:
    await found.git("add", "--all", "--", *(files or ["."]))
    staged = await found.git("diff", *OPEN_FORM, "--cached", "--name-only", "--ignore-submodules=all", limit=1_000)
    if not staged.strip():
        return f"{NO_CHANGES} There is nothing to commit."
    form = ("--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace", "--no-edit", "--message", message)
    await found.git("commit", *form, *(["--", *files] if files else []), more=signed)
    shown = ("--max-count=1", "--no-show-signature", "--stat", LOG_FORMAT, *OPEN_FORM)
    return f"Committed {await found.git('log', *shown)}"


def _signed(author: Author, context: ToolContext) -> Mapping[str, str]:
    """The person who asked is the author, and whoever carries it out the committer."""
    name, address = author
    asked = context.requester.name.strip() if context.requester else ""
    by = re.sub(r"[<>\n\0]", " ", asked).strip() or name
    return {
        "GIT_AUTHOR_NAME": by,
        "GIT_AUTHOR_EMAIL": address,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": address,
    }


def _without_commits(error: ToolFailed) -> ToolFailed:
    is_empty = isinstance(error, GitSaid) and error.words == f"bad revision '{LAST_COMMIT}'"
    return ToolFailed("Nothing was committed yet.") if is_empty else error


def revision_named(text: str) -> str:
    """Errors: ToolRetry for what names no commit."""
    if not REVISION.fullmatch(text.strip()):
        raise ToolRetry("Give a revision as git_log and git_branches name them, such as main, HEAD~1 or main..topic.")
    return text.strip()


def branch_named(name: str) -> str:
    """Errors: ToolRetry for a name that no branch has."""
    if not BRANCH.fullmatch(name):
        raise ToolRetry("That can't be the name of a branch. Use letters, digits, dashes, dots and slashes.")
    return name


def _files(files: list[str]) -> list[str]:
    if len(files) > COMMIT_FILES_MAX:
        raise ToolRetry(f"Give at most {COMMIT_FILES_MAX} files.")
    return ["/".join(parts_of(file)) or "." for file in files]


def where_card(arguments: Mapping[str, Json]) -> list[CardPart]:
    """The folder, where it isn't the workspace itself."""
    return (
        [CardValue("path")] if arguments.get("path", ".") not in (".", "") else [CardNote("in this room's workspace")]
    )


def _commit_card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    files: list[CardPart] = [CardValue("files")] if arguments.get("files") else [CardNote("all that changed")]
    return [CardText("message"), *files, *where_card(arguments)]


def _branch_card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    return [
        CardValue("name"),
        CardNote("a new branch" if arguments.get("create") else "an existing branch"),
        *where_card(arguments),
    ]
