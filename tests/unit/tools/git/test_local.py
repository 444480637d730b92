"""Git in a workspace: what it shows and commits, and that a hostile repository runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract import Person, PersonId, Role, Tool, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from tests.fakes.git_server import git
from tests.unit.tools.conftest import SECRET
from tools.files.workspace import own
from tools.git.local import branch_named, local_tools, revision_named
from tools.git.program import dangerous
from tools.git.repository import look
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.shell import ShellSettings

RAN: Final = "touch /workspace/ran"
HOSTILE: Final[Mapping[str, str]] = {
    "core.fsmonitor": RAN,
    "core.sshCommand": RAN,
    "core.pager": RAN,
    "core.editor": RAN,
    "core.gitProxy": RAN,
    "core.askPass": RAN,
    "core.hooksPath": "hooks",
    "core.worktree": "/",
    "core.alternateRefsCommand": RAN,
    "core.attributesFile": "/etc/passwd",
    "sequence.editor": RAN,
    "diff.external": RAN,
    "diff.x.textconv": RAN,
    "diff.x.command": RAN,
    "filter.x.clean": RAN,
    "filter.x.smudge": RAN,
    "filter.x.process": RAN,
    "merge.x.driver": RAN,
    "gpg.program": RAN,
    "gpg.ssh.defaultKeyCommand": RAN,
    "commit.gpgSign": "true",
    "commit.template": "/etc/passwd",
    "alias.status": f"!{RAN}",
    "include.path": "../config.more",
    "includeIf.gitdir:/.path": "../config.more",
    "submodule.x.update": f"!{RAN}",
    "url.ext::sh.insteadOf": "https://",
    "credential.helper": f"!{RAN}",
    "credential.https://example.org.helper": f"!{RAN}",
    "remote.origin.vcs": "ext",
    "remote.origin.uploadpack": RAN,
    "remote.origin.receivepack": RAN,
    "remote.origin.proxy": "http://127.0.0.1",
    "http.proxy": "http://127.0.0.1",
    "protocol.ext.allow": "always",
    "trailer.x.command": RAN,
    "tar.x.command": RAN,
    "pager.log": RAN,
    "interactive.diffFilter": RAN,
    "extensions.partialClone": "origin",
    "extensions.worktreeConfig": "true",
    "uploadpack.packObjectsHook": RAN,
    "web.browser": "x",
}
CALLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "git_status": {},
    "git_diff": {},
    "git_log": {},
    "git_branches": {},
    "git_branch": {"name": "topic", "create": True},
    "git_commit": {"message": "All of it"},
}


@pytest.fixture
def tools(bubblewrap: Bubblewrap) -> Mapping[str, Tool]:
    return {tool.spec.name: tool for tool in local_tools(bubblewrap, timeout=timedelta(seconds=30))}


@pytest.fixture
def repo(workspace: Path) -> Path:
    """A repository with one commit, and a change."""
    git(workspace, "init", "-q")
    (workspace / "a.txt").write_text("one\n")
    (workspace / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    git(workspace, "add", "-A")
    git(workspace, "commit", "-q", "-m", "Begin")
    (workspace / "a.txt").write_text("two\n")
    given(workspace)
    return workspace


def given(folder: Path) -> None:
    """To the user as whom tools run."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            own(path, ShellSettings().uid)


async def test_changes_are_shown_and_committed(tools: Mapping[str, Tool], repo: Path, context: ToolContext) -> None:
    asked = replace(context, requester=Person(PersonId("p"), "Ada Lovelace", Role.USER))
    assert await tools["git_status"].call({}, asked) == "## main\n M a.txt\n"
    assert "-one\n+two\n" in await tools["git_diff"].call({}, asked)
    told = await tools["git_commit"].call({"message": "Count on"}, asked)
    assert "Ada Lovelace: Count on" in told
    assert "a.txt | 2 +-" in told
    assert git(repo, "log", "-1", "--format=%an/%cn/%s") == "Ada Lovelace/Signalbox/Count on"
    assert await tools["git_status"].call({}, asked) == "## main\nNothing has changed."
    assert (
        await tools["git_commit"].call({"message": "Again"}, asked)
        == "Nothing has changed. There is nothing to commit."
    )
    log = await tools["git_log"].call({"count": 1}, asked)
    assert log.splitlines()[0].endswith("Ada Lovelace: Count on (HEAD -> main)")


async def test_branches_are_made_and_switched(tools: Mapping[str, Tool], repo: Path, context: ToolContext) -> None:
    await tools["git_branch"].call({"name": "topic/one", "create": True}, context)
    await tools["git_commit"].call({"message": "There", "files": ["a.txt"]}, context)
    assert await tools["git_branch"].call({"name": "main"}, context) == "The repository is on main now."
    assert (repo / "a.txt").read_text() == "one\n"
    told = (await tools["git_branches"].call({}, context)).splitlines()
    assert [line[:12].strip().partition(" ")[0] for line in told] == ["*", "topic/one"]
    with pytest.raises(ToolFailed, match="invalid reference: nowhere"):
        await tools["git_branch"].call({"name": "nowhere"}, context)


async def test_a_name_that_is_none_is_told(tools: Mapping[str, Tool], context: ToolContext) -> None:
    for name in ("-x", "a..b", "a b", "a/", "x.lock", "a@{1}", "", "$(id)", "a//b"):
        with pytest.raises(ToolRetry):
            branch_named(name)
    for revision in ("--output=x", "-p", "$(id)", "a b", "a;b", ""):
        with pytest.raises(ToolRetry):
            revision_named(revision)
    assert [branch_named(name) for name in ("main", "topic/a-1", "v1.2", "x")] == ["main", "topic/a-1", "v1.2", "x"]


# ---------------------------------------------------------------------------------------------------------------- hostile


def test_each_setting_that_could_run_something_is_known(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".git/config").write_text("".join(map(_written, HOSTILE, HOSTILE.values())))
    listed = git(tmp_path, "config", "--file", ".git/config", "--list", "--name-only", "-z")
    assert [one.lower() for one in dangerous(listed)] == [key.lower() for key in HOSTILE]
    odd = "remote.a\nuser.name\nx.vcs"  # a name with lines in it, each of which looks harmless
    assert list(dangerous(f"core.bare\0{odd}\0user.name\0")) == [odd]


def _written(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    above, _, name = rest.rpartition(".")
    return f'[{section}{_quoted(above)}]\n\t{name} = "{value}"\n'


def _quoted(above: str) -> str:
    return f' "{above}"' if above else ""


def test_a_usual_repository_has_no_dangerous_setting(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for key, value in {"remote.origin.url": "x", "branch.a/b.merge": "x", "user.email": "x"}.items():
        git(tmp_path, "config", key, value)
    assert list(dangerous(git(tmp_path, "config", "--local", "--list", "--name-only", "-z"))) == []


async def test_a_hostile_repository_runs_nothing(tools: Mapping[str, Tool], repo: Path, context: ToolContext) -> None:
    with (repo / ".git/config").open("a") as file:
        file.write(f'[core]\n\tfsmonitor = "{RAN}"\n[filter "x"]\n\tclean = "{RAN}; cat"\n[include]\n\tpath = "more"\n')
    (repo / ".git/more").write_text(f'[diff]\n\texternal = "{RAN}"\n')
    given(repo)
    for name, arguments in CALLS.items():
        with pytest.raises(
            ToolFailed, match=r"run programs \(core\.fsmonitor, filter\.x\.clean, include\.path, diff\.external\)"
        ):
            await tools[name].call(arguments, context)
    assert not (repo / "ran").exists()


async def test_hooks_and_settings_of_the_room_run_nothing(
    tools: Mapping[str, Tool], repo: Path, context: ToolContext
) -> None:
    for hook in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-index-change"):
        path = repo / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{RAN}\n")
        path.chmod(0o755)
    (repo / ".gitconfig").write_text(f'[core]\n\tfsmonitor = "{RAN}"\n\tpager = "{RAN}"\n')
    given(repo)
    for name, arguments in CALLS.items():
        await tools[name].call(arguments, context)
    assert not (repo / "ran").exists()


async def test_a_repository_within_runs_nothing(tools: Mapping[str, Tool], repo: Path, context: ToolContext) -> None:
    inner = repo / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "b.txt").write_text("b")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "Within")
    git(repo, "add", "inner")
    git(repo, "commit", "-q", "-m", "With a repository in it")
    (inner / "b.txt").write_text("c")
    git(inner, "config", "core.fsmonitor", RAN)
    given(repo)
    for name, arguments in CALLS.items():
        await tools[name].call(arguments, context)
    assert not (repo / "ran").exists()


def _link_of_git(repo: Path) -> None:
    (repo / ".git").rename(repo.parent / "elsewhere")
    (repo / ".git").symlink_to(repo.parent / "elsewhere")


def _file_of_git(repo: Path) -> None:
    (repo / ".git").rename(repo.parent / "elsewhere")
    (repo / ".git").write_text(f"gitdir: {repo.parent / 'elsewhere'}\n")


def _borrowed(repo: Path) -> None:
    (repo / ".git/objects/info").mkdir(exist_ok=True)
    (repo / ".git/objects/info/alternates").write_text(f"{repo.parent}\n")


def _link_within(repo: Path) -> None:
    (repo / ".git/refs/tags").rmdir()
    (repo / ".git/refs/tags").symlink_to(repo.parent)


def _common(repo: Path) -> None:
    (repo / ".git/commondir").write_text(f"{repo.parent}\n")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (_link_of_git, "symbolic link"),
        (_file_of_git, r"The \.git of '\.' is no folder"),
        (_borrowed, "has parts elsewhere"),
        (_link_within, r"'\.git/refs/tags' is a symbolic link"),
        (_common, "has parts elsewhere"),
    ],
)
def test_a_repository_that_leads_out_is_refused(workspace: Path, made: Callable[[Path], None], told: str) -> None:
    for folder in ("objects/info", "refs/tags"):
        (workspace / ".git" / folder).mkdir(parents=True)
    look(workspace, ".")
    made(workspace)
    with pytest.raises(ToolFailed, match=told):
        look(workspace, ".")


async def test_a_path_that_leads_out_is_refused(tools: Mapping[str, Tool], repo: Path, context: ToolContext) -> None:
    (repo / "out").symlink_to(repo.parent)
    for path in ("out", "/etc", ".."):
        with pytest.raises(ToolFailed, match=r"links are not followed|outside the workspace"):
            await tools["git_status"].call({"path": path}, context)
    git(repo, "config", "core.symlinks", "true")
    (repo / "secret").symlink_to(repo.parent / "secret.txt")
    await tools["git_commit"].call({"message": "A link"}, context)
    assert SECRET not in git(repo, "show", "HEAD")
    (repo / "sub").mkdir()
    with pytest.raises(ToolFailed, match="There is no git repository in 'sub'"):
        await tools["git_status"].call({"path": "sub"}, context)


async def test_the_output_is_bounded(tools: Mapping[str, Tool], repo: Path, context: ToolContext) -> None:
    (repo / "a.txt").write_text("x" * 99 + "\n" + "line\n" * 50_000)
    told = await tools["git_diff"].call({}, context)
    assert len(told) <= tools["git_diff"].spec.output_bound
    assert "characters cut" in told


async def test_a_machine_without_git_is_told(
    workspace: Path, repo: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch, bubblewrap: Bubblewrap
) -> None:
    monkeypatch.setattr("tools.sandbox.bubblewrap.ENVIRONMENT", {"PATH": "/nowhere"})
    (status, *_) = local_tools(bubblewrap, timeout=timedelta(seconds=30))
    with pytest.raises(ToolFailed, match="git isn't installed on this machine"):
        await status.call({}, context)


async def test_a_repository_without_commits_is_told(
    tools: Mapping[str, Tool], workspace: Path, context: ToolContext
) -> None:
    git(workspace, "init", "-q")
    given(workspace)
    assert "No commits yet" in await tools["git_status"].call({}, context)
    with pytest.raises(ToolFailed, match="Nothing was committed yet"):
        await tools["git_diff"].call({}, context)
