"""Servers of git in the settings: which are named, and faults that name their fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.doctor.machine.programs import check_git
from bot.doctor.subject import Subject
from bot.settings.settings import Settings, load
from bot.wiring.tools.git import git_tools, hosts_of, opened
from runtime.contract import Level
from runtime.errors import ConfigError
from tools.git.hosts import GitHost
from tools.sandbox.shell import ShellSettings, sandbox_for

LOCAL = ["git_status", "git_diff", "git_log", "git_branches", "git_branch", "git_commit"]


def settings(folder: Path, text: str, **environ: str) -> Settings:
    (folder / "signalbox.toml").write_text(text, encoding="utf-8")
    return load(folder=folder, environ=environ)


def test_servers_are_reached_only_where_some_are_named(tmp_path: Path) -> None:
    sandbox = sandbox_for(ShellSettings())
    assert list(git_tools(settings(tmp_path, ""), sandbox)) == LOCAL
    named = settings(
        tmp_path, '[[git]]\nurl = "https://git.example.org/team/"\ntoken_env = "A_TOKEN"', A_TOKEN="sesame"
    )
    assert list(git_tools(named, sandbox)) == [*LOCAL, "git_clone", "git_pull", "git_push"]
    (host,) = hosts_of(named)
    assert (host.url, host.token) == ("https://git.example.org/team", "sesame")
    assert {rule.path for rule in opened(host)} == {"/team/*"}
    assert "sesame" in named.secret_values()
    assert "sesame" not in repr(host)


def test_a_token_is_for_addresses_below_its_own() -> None:
    host = GitHost("https://git.example.org/team", token="t")
    assert [host.covers(url) for url in (f"{host.url}/a.git", host.url)] == [True, True]
    others = ("https://git.example.org/teams/a", "http://git.example.org/team/a", "https://git.example.org:444/team/a")
    assert [host.covers(url) for url in (*others, "https://git.example.org.evil.org/team/a")] == [False] * 4


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('url = "git@github.com:team"', "an address with which those of repositories begin"),
        ('url = "https://me:x@example.org"', "an address with which those of repositories begin"),
        ('url = "https://example.org/a/../b"', "an address with which those of repositories begin"),
        ('url = "http://git.example.org"\ntoken_env = "A"', "its token could be read on the way"),
        ('url = "https://git.example.org"\ntoken_env = "MISSING"', "the variable MISSING is not set"),
        ('url = "https://a.example.org"\n[[git]]\nurl = "https://a.example.org/"', "has this address too"),
    ],
)
def test_faults_of_the_settings_name_the_fix(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        settings(tmp_path, f"[[git]]\n{text}", A="x")


async def test_the_doctor_tells_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = await check_git(Subject(settings(tmp_path, '[[git]]\nurl = "https://git.example.org"'), None, None, None))
    assert [finding.id for finding in found] == ["git.there", "git.token"]
    monkeypatch.setattr("bot.doctor.machine.programs.PATH", str(tmp_path))
    (missing,) = await check_git(Subject(settings(tmp_path, ""), None, None, None))
    assert (missing.level, missing.what) == (Level.WARNING, "git is not installed")
