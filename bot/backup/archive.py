"""The file: a ZIP archive whose members are written and read as streams, and whose manifest has the hash of each.

ZIP, since any machine can look into it, members can be streamed without knowing their size, and each can be read alone.
The hashes find damage. They do not keep a forger out: whoever can write the file can write its manifest.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, Protocol

from bot.backup import manifest
from bot.backup.errors import BadBackup
from bot.backup.manifest import Manifest

MEMBER_CHUNK_BYTES: Final = 1 << 20  # bytes
MANIFEST_MAX_BYTES: Final = 1 << 28
"""Far beyond the manifest of any backup of ours: it is read into memory, whatever somebody made of the file."""
DAMAGED_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    UnicodeDecodeError,
    RuntimeError,
)
"""What reading a damaged archive may raise."""


class Write(Protocol):
    def __call__(self, data: bytes, /) -> object: ...


class Writer:
    """Members one after the other, then the manifest. The hashes are taken of what goes in."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self.members: dict[str, str] = {}

    @contextmanager
    def member(self, name: str, mode: int = 0o600) -> Iterator[Write]:
        """Inside the block what is handed to the function goes into the member."""
        about = zipfile.ZipInfo(name)
        about.compress_type = zipfile.ZIP_DEFLATED
        about.external_attr = mode << 16
        digest = hashlib.sha256()
        with self._zip.open(about, "w", force_zip64=True) as member:

            def write(data: bytes, /) -> None:
                digest.update(data)
                member.write(data)

            yield write
        self.members[name] = digest.hexdigest()

    def abandon(self) -> None:
        """Throw away what was written: say nothing more about it, least of all from a destructor."""
        with suppress(OSError, ValueError):
            self._zip.close()

    def close(self, last: Manifest) -> None:
        self._zip.writestr(manifest.MANIFEST_NAME, last.to_json())
        self._zip.close()


class Archive:
    """A backup, open for reading. Errors of every method: BadBackup names what is damaged."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path = path
        self._zip = archive
        self.manifest = self._manifest()

    def check(self, on_member: Callable[[str], None] = lambda _: None) -> None:
        """Read all of it, and compare it with its manifest."""
        there = [about.filename for about in self._zip.infolist()]
        wrong = {*there} ^ {*self.manifest.members, manifest.MANIFEST_NAME}
        if wrong or len(there) != len({*there}):
            raise self.bad(f"its contents don't match its manifest ({', '.join(sorted(wrong)[:3])}).")
        for name, expected in self.manifest.members.items():
            on_member(name)
            digest = hashlib.sha256()
            for chunk in self.chunks(name):
                digest.update(chunk)
            if digest.hexdigest() != expected:
                raise self.bad(f"{name} in it isn't what was written.")

    def names(self, below: str) -> Iterator[str]:
        return (name for name in self.manifest.members if name.startswith(below))

    def mode(self, name: str) -> int:
        return (self._zip.getinfo(name).external_attr >> 16) & 0o777

    def chunks(self, name: str) -> Iterator[bytes]:
        with self._open(name) as member:
            while chunk := self._reading(name, lambda: member.read(MEMBER_CHUNK_BYTES)):
                yield chunk

    def lines(self, name: str) -> Iterator[bytes]:
        with self._open(name) as member:
            while line := self._reading(name, member.readline):
                yield line

    def read(self, name: str) -> bytes:
        return b"".join(self.chunks(name))

    def bad(self, why: str) -> BadBackup:
        return BadBackup(f"{self.path} cannot be used: {why}")

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        try:
            member = self._zip.open(name)
        except (*DAMAGED_ERRORS, KeyError, OSError) as error:
            raise self.bad(f"{name} in it can't be read ({error}).") from error
        with member:
            yield member

    def _reading(self, name: str, read: Callable[[], bytes]) -> bytes:
        try:
            return read()
        except (*DAMAGED_ERRORS, OSError) as error:
            raise self.bad(f"{name} in it is damaged ({error}).") from error

    def _manifest(self) -> Manifest:
        if manifest.MANIFEST_NAME not in self._zip.namelist():
            raise self.bad("it has no manifest, so it isn't a Signalbox backup.")
        if self._zip.getinfo(manifest.MANIFEST_NAME).file_size > MANIFEST_MAX_BYTES:
            raise self.bad("its manifest is longer than any Signalbox writes.")
        text = self.read(manifest.MANIFEST_NAME).decode("utf-8", "replace")
        try:
            return Manifest.from_json(text)
        except BadBackup as error:
            raise self.bad(str(error)) from error


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """The backup at `path`. Errors: BadBackup when it is none, or cut off."""
    try:
        archive: Any = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise BadBackup(f"There is no file {path}.") from None
    except OSError as error:
        raise BadBackup(f"{path} cannot be read: {error.strerror}.") from error
    except (*DAMAGED_ERRORS, ValueError) as error:
        raise BadBackup(f"{path} cannot be used: it is truncated, or isn't a Signalbox backup.") from error
    with archive:
        yield Archive(path, archive)
