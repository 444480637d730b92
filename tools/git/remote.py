"""Tools that fetch from and push to servers that operators named.

Git itself never reaches a network: it makes and reads packs in the sandbox, and we carry them, with a credential that neither
git nor a file of the workspace ever sees.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from runtime.contract import (
    BOUNDLESS,
    CardContext,
    CardNote,
    CardPart,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Reads,
    Space,
    Tool,
    ToolContext,
)
from runtime.egress import NoAnswer
from runtime.errors import UNSURE, ToolFailed, ToolRetry
from runtime.text.glyphs import clip
from runtime.workspace.safe_fs import reading
from runtime.workspace.safe_fs import replace as write_whole
from tools.files.workspace import opened_parent, own_like, parts_of
from tools.git import program
from tools.git.history import commits
from tools.git.hosts import FETCHING, PACK_MAX_BYTES, PUSHING, GitWeb, host_in, in_words, quoted
from tools.git.local import Where, branch_named, where_card
from tools.git.repository import GitSaid, Repository, repository
from tools.git.wire import NO_OBJECT, OBJECT, NoGit, Offer, Pack, push, reachable, received, report, wish
from tools.kit.declare import tool
from tools.sandbox.sandbox import PATH, Sandbox

REMOTE_TIMEOUT: Final = timedelta(minutes=6)
"""Two exchanges and what git does between and after them."""
REMOTE_BOUND: Final = 8_000
HAVES_MAX: Final = 256
"""Own commits that a server is told of, the newest first."""
DEPTH_MAX: Final = 10_000
NAMES_SHOWN_CHARS: Final = 500
"""Characters of the branches of a server."""
INCOMING, OUTGOING = ".git/signalbox-incoming.pack", ".git/signalbox-outgoing.pack"
PUSH_SAID_MAX_CHARS: Final = 2_000
"""Characters of what a server says of a push."""
FULL_ID: Final = re.compile(r"[0-9a-f]{7,40}")
CLONING: Final = Flow(
    Reads.OUTSIDE,
    "{url}",
    writes="{folder}",
    carries={"url": Carries.HOST, "folder": Carries.THING, "branch": Carries.THING, "depth": Carries.DETAIL},
)
PULLING: Final = Flow(Reads.OUTSIDE, "a git server", writes="{path}", carries={"path": Carries.THING})
SENDING: Final = Flow(
    Reads.OUTSIDE,
    "{url}",
    carries={"url": Carries.HOST, "branch": Carries.THING, "commit": Carries.DETAIL, "path": Carries.THING},
)
UNKNOWN_PUSH: Final = f"{UNSURE}pushed: {{reason}} Call git_push again: it says so if the commits are there."


@dataclass(frozen=True, slots=True)
class Remotes:
    """Parts of the tools: `space` is that of the room's files."""

    sandbox: Sandbox
    web: GitWeb
    space: Space = BOUNDLESS


def remote_tools(parts: Remotes) -> list[Tool]:
    """`git_clone`, `git_pull` and `git_push`."""
    return [_cloning(parts), _pulling(parts), _pushing(parts)]


def _cloning(parts: Remotes) -> Tool:
    @tool(
        effect=Effect.WRITE,
        timeout=REMOTE_TIMEOUT,
        output_bound=REMOTE_BOUND,
        seldom=True,
        card=_clone_card,
        flow=CLONING,
    )
    async def git_clone(
        url: Annotated[str, "https:// address of the repository."],
        context: ToolContext,
        folder: Annotated[str, "A new one. Empty: the repository's name."] = "",
        branch: Annotated[str, "Empty: its usual one."] = "",
        depth: Annotated[int, "Commits to take. 0: all."] = 0,
    ) -> str:
        """Clone one branch of a git repository into the workspace."""
        if not 0 <= depth <= DEPTH_MAX:
            raise ToolRetry(f"depth is from 0 to {DEPTH_MAX:,}.")
        return await _cloned(parts, context.workspace, url, folder, branch, depth)

    return git_clone


def _pulling(parts: Remotes) -> Tool:
    # Idempotent: fetched once more, nothing is new.
    @tool(
        effect=Effect.WRITE,
        idempotent=True,
        timeout=REMOTE_TIMEOUT,
        output_bound=REMOTE_BOUND,
        seldom=True,
        card=lambda arguments, _: where_card(arguments),
        flow=PULLING,
    )
    async def git_pull(context: ToolContext, path: Where = ".") -> str:
        """Fetch a git repository's branch and move forward to it."""
        return await _pulled(parts, await repository(parts.sandbox, context.workspace, path).checked())

    return git_pull


def _pushing(parts: Remotes) -> Tool:
    # Idempotent: a branch that is there already is not moved again.
    @tool(
        effect=Effect.WRITE,
        idempotent=True,
        timeout=REMOTE_TIMEOUT,
        output_bound=REMOTE_BOUND,
        seldom=True,
        card=_push_card,
        flow=SENDING,
    )
    async def git_push(
        url: Annotated[str, "https:// address of the repository."],
        branch: Annotated[str, "The branch there."],
        commit: Annotated[str, "Its new commit: the id that git_log tells."],
        context: ToolContext,
        path: Where = ".",
    ) -> str:
        """Push commits to a git server; never by force."""
        if not FULL_ID.fullmatch(commit):
            raise ToolRetry("Give the id of the commit as git_log tells it.")
        found = await repository(parts.sandbox, context.workspace, path).checked()
        return await _pushed(parts.web, found, url, branch_named(branch), commit)

    return git_push


# ---------------------------------------------------------------------------------------------------------------- cloning


async def _cloned(parts: Remotes, workspace: Path, url: str, folder: str, branch: str, depth: int) -> str:
    address = parts.web.address(url)
    place = "/".join(parts_of(folder or _name_in(address)))
    if not place:
        raise ToolRetry("Give a folder for the repository.")
    at, offered = await parts.web.offered(address, FETCHING, "git_clone")
    name, tip = _tip(offered, branch, host_in(at))
    pack = await _fetched(parts.web, at, "git_clone", tip, [], offered, depth)
    bare = Repository(parts.sandbox, workspace, ".")
    made = Repository(parts.sandbox, workspace, place)
    fresh = f'[ ! -L {_q(place)} ] && mkdir -p -- {_q(place)} && [ -z "$(ls -A -- {_q(place)})" ]'
    begun = f"env -i PATH={PATH} GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent git init --quiet --template= -b main -- {_q(place)}"
    taken = f"The folder {place} is there already, and not empty."
    await bare.lines([f"{fresh} || {{ printf '%s\\n' {_q(taken)}; exit 1; }}", begun])
    try:
        await _keep(parts, made, pack)
        await made.lines([*_unpacked(pack), *_checked_out(name, tip, address)])
    except BaseException:
        await asyncio.shield(bare.lines([f"rm -rf -- {_q(place)}"]))
        raise
    more = f", the last {depth} commits" if pack.shallow else ""
    return f"Cloned {name} of {host_in(at)} into {place} ({tip[:12]}{more})."


def _name_in(address: str) -> str:
    return urlsplit(address).path.rstrip("/").rpartition("/")[2].removesuffix(".git")


def _tip(offered: Offer, branch: str, host: str) -> tuple[str, str]:
    """The branch to take, and its newest commit. Errors: ToolFailed."""
    name = branch_named(branch) if branch else offered.head
    if not offered.branches:
        raise ToolFailed(f"The repository at {host} is empty.")
    if name not in offered.branches:
        there = clip(", ".join(list(offered.branches)[:20]), NAMES_SHOWN_CHARS)
        lacks = f"has no branch {branch!r}" if branch else "names no usual branch"
        raise GitSaid(f"Its branches: {there}", f"The repository at {host} {lacks}.", host)
    return branch_named(name), offered.branches[name]


async def _fetched(
    web: GitWeb, at: str, tool_name: str, tip: str, have: Sequence[str], offered: Offer, depth: int = 0
) -> Pack:
    try:
        return received(await web.exchanged(at, FETCHING, tool_name, wish(tip, have, offered, depth)))
    except NoGit as error:
        raise ToolFailed(f"{host_in(at)} did not send the commits: {in_words(error, host_in(at))}") from error


async def _keep(parts: Remotes, found: Repository, pack: Pack) -> None:
    """Lay the pack where git finds it. Errors: ToolFailed where there is no space for it."""
    short = await parts.space.shortage(found.workspace)
    if short or parts.space.left(found.workspace) < 2 * len(pack.data):
        raise ToolFailed(short.words if short else "There is no space for the repository in this room.")
    await asyncio.to_thread(_write, found, pack.data)
    parts.space.add(found.workspace, len(pack.data))


def _write(found: Repository, data: bytes) -> None:
    with opened_parent(found.workspace, _inside(found, INCOMING)) as (folder, name):
        write_whole(name, folder, data, lambda made: own_like(made, found.workspace))


def _inside(found: Repository, file: str) -> str:
    return file if found.folder == "." else f"{found.folder}/{file}"


def _unpacked(pack: Pack) -> list[str]:
    index = program.words("index-pack", "--stdin", "--strict", "--fix-thin")
    shallow = [f"printf '%s\\n' {' '.join(pack.shallow)} > .git/shallow"] if pack.shallow else []
    return [*shallow, f"{index} < {INCOMING} >/dev/null || {{ rm -f {INCOMING}; exit 1; }}", f"rm -f {INCOMING}"]


def _checked_out(name: str, tip: str, address: str) -> list[str]:
    settings = {
        "remote.origin.url": address,
        "remote.origin.fetch": f"+refs/heads/{name}:refs/remotes/origin/{name}",
        f"branch.{name}.remote": "origin",
        f"branch.{name}.merge": f"refs/heads/{name}",
    }
    return [
        program.words("rev-list", "--quiet", "--objects", tip),  # all of it came
        *(program.words("config", key, value) for key, value in settings.items()),
        program.words("update-ref", f"refs/remotes/origin/{name}", tip),
        program.words("update-ref", f"refs/heads/{name}", tip),
        program.words("symbolic-ref", "HEAD", f"refs/heads/{name}"),
        program.words("reset", "--quiet", "--hard"),
    ]


# ---------------------------------------------------------------------------------------------------------------- pulling


async def _pulled(parts: Remotes, found: Repository) -> str:
    name = (await found.git("symbolic-ref", "--short", "HEAD")).strip()
    address = parts.web.address(await _url_of(found))
    at, offered = await parts.web.offered(address, FETCHING, "git_pull")
    _, tip = _tip(offered, name, host_in(at))
    have = reachable(
        (await found.git("rev-list", f"--max-count={HAVES_MAX}", "--branches", "--remotes", limit=20_000)).split("\n")
    )
    if not await _has(found, tip):
        pack = await _fetched(parts.web, at, "git_pull", tip, have, offered)
        await _keep(parts, found, pack)
        await found.lines([*_unpacked(pack), program.words("rev-list", "--quiet", "--objects", tip, "--not", "--all")])
    await found.git("update-ref", f"refs/remotes/origin/{name}", tip)
    before = (await found.git("rev-parse", "HEAD")).strip()
    if await _is_behind(found, tip, before):
        return f"{name} has all that {host_in(at)} has."
    if not await _is_behind(found, before, tip):
        raise ToolFailed(
            f"Both sides of {name} have new commits. Nothing was changed; theirs are at origin/{name}: merge or rebase them with the shell."
        )
    await found.git("merge", "--quiet", "--ff-only", tip)
    return f"{name} moved forward:\n{await found.git('log', '--max-count=50', '--no-show-signature', '--format=%h %s', f'{before}..{tip}')}"


async def _url_of(found: Repository) -> str:
    try:
        return (await found.git("config", "--get", "remote.origin.url")).strip()
    except ToolFailed as error:
        raise ToolFailed("The repository has no remote called origin, so there is nothing to pull from.") from error


async def _has(found: Repository, commit: str) -> bool:
    """True if the commit is here, with all that belongs to it."""
    asked = program.words("rev-list", "--quiet", "--objects", commit, "--not", "--all")
    return (await found.lines([f"if {asked} 2>/dev/null; then echo yes; else echo no; fi"])).strip() == "yes"


async def _is_behind(found: Repository, earlier: str, later: str) -> bool:
    """True if `later` has all that `earlier` has."""
    asked = program.words("merge-base", "--is-ancestor", earlier, later)
    return (await found.lines([f"if {asked} 2>/dev/null; then echo yes; else echo no; fi"])).strip() == "yes"


# ---------------------------------------------------------------------------------------------------------------- pushing


async def _pushed(web: GitWeb, found: Repository, url: str, branch: str, commit: str) -> str:
    address = web.address(url)
    new = (await found.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")).strip()
    if not OBJECT.fullmatch(new):
        raise ToolRetry(f"There is no commit {commit} in the repository.")
    at, offered = await web.offered(address, PUSHING, "git_push")
    old = offered.branches.get(branch, NO_OBJECT)
    if old == new:
        return f"{branch} of {host_in(at)} is at {new[:12]} already."
    if old != NO_OBJECT and not await _is_behind(found, old, new):
        raise ToolFailed(
            f"{branch} of {host_in(at)} has commits that {commit} lacks. Call git_pull first; nothing is forced."
        )
    pack = await _packed(found, new, offered)
    try:
        answer = await web.exchanged(at, PUSHING, "git_push", push(old, new, branch, offered, pack))
        told = report(answer, branch)
    except NoAnswer as error:
        raise ToolFailed(UNKNOWN_PUSH.format(reason=error) if error.sent else str(error)) from error
    except NoGit as error:
        raise ToolFailed(UNKNOWN_PUSH.format(reason=f"{host_in(at)}: {in_words(error, host_in(at))}")) from error
    if told.refusal:
        words = f"{told.refusal}\n{told.said}".strip()[:PUSH_SAID_MAX_CHARS]
        raise ToolFailed(f"{host_in(at)} refused the push.{quoted(words, host_in(at))}")
    said = f"\nIt said:\n{told.said[:PUSH_SAID_MAX_CHARS]}" if told.said else ""
    await _note(found, address, branch, new)
    moved = "made" if old == NO_OBJECT else f"moved from {old[:12]}"
    return f"Pushed: {branch} of {host_in(at)} was {moved} to {new[:12]}.{said}"


async def _packed(found: Repository, new: str, offered: Offer) -> bytes:
    """Pack of all that the server lacks. Errors: ToolFailed for more than a push may have."""
    asked = program.words("cat-file", "--batch-check=%(objectname) %(objecttype)")
    tips = list(dict.fromkeys(offered.branches.values()))[:HAVES_MAX]
    known = (await found.lines([f"printf '%s\\n' {' '.join(tips) or NO_OBJECT} | {asked}"])).splitlines()
    there = [line.partition(" ")[0] for line in known if line.endswith(" commit")]
    form = program.words("pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q")
    lines = " ".join([new, *(f"^{one}" for one in there)])
    await found.lines([f"printf '%s\\n' {lines} | {form} > {OUTGOING}"])
    try:
        return await asyncio.to_thread(_read, found)
    finally:
        await found.lines([f"rm -f {OUTGOING}"])


def _read(found: Repository) -> bytes:
    with reading(found.workspace, _inside(found, OUTGOING)) as file:
        data = file.read(PACK_MAX_BYTES + 1)
    if len(data) > PACK_MAX_BYTES:
        raise ToolFailed(f"The commits are more than {PACK_MAX_BYTES >> 20} MiB; push them in parts.")
    return data


async def _note(found: Repository, address: str, branch: str, new: str) -> None:
    """Keep where the branch is now, if that is the repository's own remote."""
    same = f'[ "$({program.words("config", "--get", "remote.origin.url")})" = {_q(address)} ]'
    await found.lines([f"if {same}; then {program.words('update-ref', f'refs/remotes/origin/{branch}', new)}; fi"])


# ------------------------------------------------------------------------------------------------------------------ cards


def _clone_card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    parts: list[CardPart] = [
        CardNote(f"from {host_in(arguments.get('url')) or 'an address that is none'}"),
        CardValue("url"),
    ]
    return [*parts, *(CardValue(name) for name in ("folder", "branch", "depth") if arguments.get(name))]


def _push_card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    """The host, the branch, and the commits as far as they can be read without git."""
    host = host_in(arguments.get("url")) or "an address that is none"
    commit, path = str(arguments.get("commit", "")), str(arguments.get("path") or ".")
    told = commits(context.workspace, path, commit)
    parts: list[CardPart] = [CardNote(f"to {host}"), CardValue("url"), CardValue("branch"), CardValue("commit", told)]
    return [*parts, *([CardValue("path")] if path != "." else [])]


_q = shlex.quote
