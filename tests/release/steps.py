"""Steps of a release. All of them are done in a copy; what came of them is taken over at the end, or nothing is."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from packaging.version import InvalidVersion, Version

from tests.sbom import bill

VERSION_LINE: Final = re.compile(r'^version = "(?P<version>[^"]+)"$', re.MULTILINE)
FRAGMENT: Final = re.compile(r"\d+\.(added|changed|fixed|removed|security)(\.\d+)?\.md")
CHANGES: Final = Path("docs") / "changes"
BUILD: Final = ("hatchling", "build", "-t", "sdist", "-t", "wheel", "-d")
SUMS: Final = "SHA256SUMS"
ENGINES: Final = ("docker", "podman")
STEP_SECONDS: Final = 600
OWN_BITS: Final = 0o700

Say = Callable[[str], None]


class Unreleasable(Exception):
    """The release isn't made, for a reason that is told; nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A version that is to be made of the project in `root`, on a `day` that its changelog names.

    The files are dated by that day, so whoever builds the same sources by the changelog's date gets the same bytes.
    """

    root: Path
    version: str
    day: date = field(default_factory=lambda: datetime.now(UTC).date())
    engines: Sequence[str] = ENGINES

    @property
    def epoch(self) -> int:
        return int(datetime(self.day.year, self.day.month, self.day.day, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True)
class Made:
    """A copy of the project as the release has it; `files` are for people, and `fragments` are in its changelog now."""

    copy: Path
    files: Sequence[Path]
    fragments: Sequence[Path]


def make(release: Release, work: Path, say: Say) -> Made:
    """Do all of it in `work`. Errors: Unreleasable."""
    before = check_version(release)
    fragments = fragments_of(release.root)
    copy = work / "source"
    copy_tracked(release.root, copy)
    set_version(copy, release.version)
    say(f"Version {before} becomes {release.version}.")
    changelog(copy, release)
    say(f"{len(fragments)} fragments of changes go into CHANGELOG.md.")
    files = built_twice(copy, work, release)
    files.append(bill_of(copy, work / "dist", release.version))
    files.append(sums(files))
    for file in files:
        say(f"  {digest(file)[:16]}…  {file.stat().st_size:>12,} bytes  {file.name}")
    return Made(copy, files, fragments)


def take_over(release: Release, made: Made) -> None:
    """Put into the project what was made: version and changelog, and the files in dist/."""
    target = release.root / "dist"
    target.mkdir(exist_ok=True)
    for file in made.files:
        shutil.copy2(file, target / file.name)
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copyfile(made.copy / name, release.root / name)
    for fragment in made.fragments:
        fragment.unlink()


def check_version(release: Release) -> str:
    """The version before. Errors: Unreleasable where this one is none, not a later one, or made already."""
    try:
        wanted = Version(release.version)
    except InvalidVersion:
        raise Unreleasable(
            f'VERSION={release.version} is no version. Write one such as "0.2.0" or "0.2.0rc1".'
        ) from None
    if str(wanted) != release.version or wanted.local or wanted.is_devrelease:
        raise Unreleasable(
            f"VERSION={release.version}: write {wanted.public.partition('.dev')[0]}, as packages are called."
        )
    before = project(release.root)["version"]
    if Version(str(before)) >= wanted:
        raise Unreleasable(f"VERSION={release.version} isn't later than {before}, which pyproject.toml has.")
    if is_repository(release.root) and git(release.root, "tag", "--list", f"v{release.version}"):
        raise Unreleasable(f"There is a tag v{release.version} already. Choose a later version.")
    return str(before)


def check_clean(release: Release) -> None:
    """Errors: Unreleasable where something isn't committed: nobody could build the same bytes."""
    if is_repository(release.root) and (changed := git(release.root, "status", "--porcelain")):
        told = ", ".join(line[3:] for line in changed.splitlines()[:5])
        raise Unreleasable(f"Not everything is committed: {told}. Commit it first, or try it with DRY=1.")


def fragments_of(root: Path) -> list[Path]:
    """Errors: Unreleasable without any, and for a file that towncrier would leave out without a word."""
    folder = root / CHANGES
    files = sorted(file for file in folder.iterdir() if file.name != "README.md") if folder.is_dir() else []
    if strange := [file.name for file in files if not FRAGMENT.fullmatch(file.name)]:
        raise Unreleasable(f"{CHANGES} has files that are no fragments: {', '.join(strange)}. See its README.md.")
    if empty := [file.name for file in files if not file.read_text(encoding="utf-8").strip()]:
        raise Unreleasable(f"{CHANGES} has empty fragments: {', '.join(empty)}.")
    if not files:
        raise Unreleasable(f"{CHANGES} has no fragment: there is nothing to release.")
    return files


def copy_tracked(root: Path, to: Path) -> None:
    """Copy what git knows, as it is now; without git everything but what is built."""
    if not is_repository(root):
        shutil.copytree(root, to, ignore=shutil.ignore_patterns("dist", "__pycache__", ".venv*"))
        return
    for name in git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        source, target = root / name, to / name
        if name and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def set_version(copy: Path, version: str) -> None:
    file = copy / "pyproject.toml"
    text, count = VERSION_LINE.subn(f'version = "{version}"', file.read_text(encoding="utf-8"), count=1)
    if count != 1:
        raise Unreleasable('pyproject.toml has no line version = "…".')
    file.write_text(text, encoding="utf-8")


def changelog(copy: Path, release: Release) -> None:
    """Errors: Unreleasable where the changelog doesn't have this version afterwards."""
    step(copy, "towncrier", "build", "--yes", "--version", release.version, "--date", release.day.isoformat())
    text = (copy / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"## {release.version} ({release.day.isoformat()})" not in text:
        raise Unreleasable("towncrier wrote no chapter for this version into CHANGELOG.md.")
    if left := [file.name for file in (copy / CHANGES).iterdir() if FRAGMENT.fullmatch(file.name)]:
        raise Unreleasable(f"towncrier left fragments: {', '.join(left)}.")


def built_twice(copy: Path, work: Path, release: Release) -> list[Path]:
    """Wheel and source archive. Errors: Unreleasable where a second build, elsewhere and of files with other dates and modes, differs."""
    again = work / "elsewhere" / "a second source"
    shutil.copytree(copy, again)
    for file in [one for one in again.rglob("*") if not one.is_symlink()]:
        os.utime(file, (1_000_000_000, 1_000_000_000))
        file.chmod(file.stat().st_mode & OWN_BITS)
    for folder, out in ((copy, work / "dist"), (again, work / "dist2")):
        step(folder, *BUILD, str(out), SOURCE_DATE_EPOCH=str(release.epoch))
    first = sorted((work / "dist").iterdir())
    second = {file.name: file for file in (work / "dist2").iterdir()}
    if [file.name for file in first] != sorted(second):
        raise Unreleasable("Two builds of the same sources made different files.")
    for file in first:
        if digest(file) != digest(second[file.name]):
            raise Unreleasable(f"Two builds of {file.name} differ: {difference(file, second[file.name])}.")
    wheels = [file for file in first if file.suffix == ".whl" and f"-{release.version}-" in file.name]
    if len(first) != 2 or len(wheels) != 1:
        raise Unreleasable(
            f"Expected a wheel and a source archive of {release.version}; got {[f.name for f in first]}."
        )
    return first


def difference(one: Path, other: Path) -> str:
    """The first part of two archives that isn't the same."""
    parts, others = _parts(one), _parts(other)
    for name in sorted({*parts, *others}):
        if parts.get(name) != others.get(name):
            return f"{name} is not the same in both"
    return "their order, dates or modes of files"


def _parts(archive: Path) -> Mapping[str, str]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return {name: hashlib.sha256(opened.read(name)).hexdigest() for name in opened.namelist()}
    found = {}
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            data = opened.extractfile(member)
            found[member.name] = hashlib.sha256(data.read() if data else b"").hexdigest()
    return found


def bill_of(copy: Path, dist: Path, version: str) -> Path:
    """The bill of materials, beside the wheel."""
    about = project(copy)
    lock = (copy / "requirements.lock").read_text(encoding="utf-8")
    file = dist / f"{str(about['name']).replace('-', '_')}-{version}.cdx.json"
    try:
        file.write_text(json.dumps(bill(lock, about), indent=2) + "\n", encoding="utf-8")
    except ValueError as error:
        raise Unreleasable(str(error)) from None
    return file


def sums(files: Sequence[Path]) -> Path:
    """Sums of all files, as `sha256sum --check` reads them."""
    file = files[0].parent / SUMS
    file.write_text("".join(f"{digest(one)}  {one.name}\n" for one in sorted(files)), encoding="utf-8")
    return file


def image(release: Release, copy: Path, say: Say, *, dry: bool) -> None:
    """Make the image where an engine answers; else say that there is none. Errors: Unreleasable where it can't be made."""
    engine = next((one for one in release.engines if _answers(one)), "")
    tag = f"signalbox:{release.version}"
    if not engine:
        say(f"No container engine answers here ({' or '.join(release.engines)}): no image was made.")
    elif dry:
        say(f"{engine} would make the image {tag}.")
    else:
        ended = _run([engine, "build", "--tag", tag, str(copy)], copy)
        if ended.returncode:
            raise Unreleasable(f"{engine} can't make the image:\n{ended.stderr[-2000:]}")
        say(f"{engine} made the image {tag}.")


def _answers(engine: str) -> bool:
    try:
        return _run([engine, "info"], Path.cwd()).returncode == 0
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False


def step(folder: Path, *module: str, **variables: str) -> None:
    """Run a program of our environment. Errors: Unreleasable with its words."""
    ended = _run([sys.executable, "-m", *module], folder, variables)
    if ended.returncode:
        raise Unreleasable(f"{' '.join(module[:2])} failed:\n{(ended.stderr or ended.stdout)[-2000:]}")


def _run(
    command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command,
        cwd=folder,
        env=own | dict(variables or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=STEP_SECONDS,
    )


def project(root: Path) -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def is_repository(root: Path) -> bool:
    return (root / ".git").exists()


def git(root: Path, *words: str) -> str:
    ended = _run(["git", "-C", str(root), *words], root)
    if ended.returncode:
        raise Unreleasable(f"git {words[0]} failed: {ended.stderr.strip()}")
    return ended.stdout
