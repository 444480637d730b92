"""Sources of a skill to install: a folder, an archive on the web, or a git repository. Each ends in a folder."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

from bot.settings.settings import Settings
from runtime.errors import ConfigError
from runtime.skills.archive import ARCHIVE_MAX_BYTES, unpack
from runtime.skills.frontmatter import NotASkill, parsed
from runtime.skills.reading import SKILL_FILES

GIT_SOURCE: Final = re.compile(
    r"(?:git\+)?(?P<url>(?:https?|ssh|git|file)://[^#]+?|[\w.-]+@[\w.-]+:[^#]+?)(?:#(?P<inside>[^#]*))?"
)
GIT_SECONDS: Final = 120
FETCH_TIME: Final = timedelta(seconds=60)
INSIDE_SIGN: Final = "#"


@contextmanager
def gathered(source: str, settings: Settings) -> Iterator[Path]:
    """The folder of a skill, named as the skill is, for as long as the block lasts. Errors: ConfigError."""
    local = Path(source).expanduser()
    if local.is_dir() and not local.is_symlink():
        yield local.absolute()
        return
    with TemporaryDirectory(prefix="signalbox-skill-") as made:
        try:
            yield _named(_taken(source, local, Path(made), settings))
        except NotASkill as error:
            raise ConfigError(f"{source}: {error}. Nothing was installed.") from error


def _taken(source: str, local: Path, into: Path, settings: Settings) -> Path:
    if local.is_file():
        return unpack(_bounded(local), into)
    if is_git(source):
        return _cloned(source, into)
    if source.startswith(("http://", "https://")):
        return unpack(asyncio.run(_fetched(source, settings)), into)
    raise ConfigError(f"{source}: no folder, no archive and no address. Name a folder with a SKILL.md in it.")


def is_git(source: str) -> bool:
    """True for what git clones: said so, by its scheme, or by its ending."""
    plain = source.partition(INSIDE_SIGN)[0]
    return (
        source.startswith(("git+", "ssh://", "git://"))
        or plain.endswith(".git")
        or bool(re.match(r"[\w.-]+@[\w.-]+:", plain))
    )


def _bounded(file: Path) -> bytes:
    if file.stat().st_size > ARCHIVE_MAX_BYTES:
        raise NotASkill(f"the archive is larger than {ARCHIVE_MAX_BYTES >> 20} MB")
    return file.read_bytes()


async def _fetched(url: str, settings: Settings) -> bytes:
    """An archive through the guarded client. Errors: ConfigError."""
    from bot.wiring.safety.egress import egress_of
    from runtime.egress import NoAnswer, Refused

    try:
        answer = await egress_of(settings).request(
            "GET", url, tool="skills", most=ARCHIVE_MAX_BYTES, timeout=FETCH_TIME
        )
    except (Refused, NoAnswer) as error:
        raise ConfigError(f"{urlsplit(url).hostname} can't be asked: {error}") from error
    if answer.status != 200 or answer.truncated:
        why = (
            f"the archive is larger than {ARCHIVE_MAX_BYTES >> 20} MB"
            if answer.truncated
            else f"status {answer.status}"
        )
        raise ConfigError(f"{url}: {why}. Nothing was installed.")
    return answer.body


def _cloned(source: str, into: Path) -> Path:
    """A clone without its history, hooks, submodules or anybody's settings. Errors: ConfigError."""
    found = GIT_SOURCE.fullmatch(source)
    if found is None:
        raise ConfigError(f"{source}: not an address that git clones.")
    top = into / "clone"
    plain = ("-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "core.fsmonitor=false")
    command = ["git", *plain, "clone", "-q", "--depth", "1", "--no-tags", "--", found["url"], str(top)]
    try:
        done = subprocess.run(  # noqa: S603 - the address stands behind --
            command, env=_quiet(), capture_output=True, text=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"git can't clone {found['url']}: {error}.") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it failed"])[-1]
        raise ConfigError(f"git can't clone {found['url']}: {last}")
    return _skill_below(top, found["inside"] or "")


def _quiet() -> dict[str, str]:
    """Variables for git: no system's or user's settings, and no question about a password."""
    path = shutil.which("git")
    return {
        "PATH": f"{Path(path).parent if path else '/usr/bin'}:{os.defpath}",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "HOME": os.devnull,
        "LANG": "C.UTF-8",
    }


def _skill_below(top: Path, inside: str) -> Path:
    """The one folder of a repository with a SKILL.md in it, or the one that was named behind #."""
    if inside:
        folder = (top / inside).resolve()
        if not folder.is_relative_to(top.resolve()) or not folder.is_dir():
            raise NotASkill(f"there is no folder {inside!r} in the repository")
        return folder
    found = sorted({file.parent for name in SKILL_FILES for file in top.rglob(name) if ".git" not in file.parts})
    if not found:
        raise NotASkill("there is no SKILL.md in the repository")
    if len(found) > 1:
        named = ", ".join(str(folder.relative_to(top)) for folder in found[:10])
        raise NotASkill(f"the repository holds {len(found)} skills ({named}); name one behind {INSIDE_SIGN}")
    return found[0]


def _named(folder: Path) -> Path:
    """The folder by the name of its skill: an archive's top folder often has a version in it."""
    text = next((folder / name for name in SKILL_FILES if (folder / name).is_file()), None)
    head, _ = parsed(text.read_text(encoding="utf-8", errors="replace")) if text else ({}, "")
    name = str(head.get("name", ""))
    if not name or name == folder.name or "/" in name or name in (".", ".."):
        return folder
    moved = folder.parent / "as-named" / name
    moved.parent.mkdir(exist_ok=True)
    return folder.rename(moved)
