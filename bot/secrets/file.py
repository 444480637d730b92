"""One sealed file on the disk: read as a whole, changed as a whole."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.secrets.disk import PRIVATE, alone_in, replace
from bot.secrets.errors import NoSealedFile, SecretsError, WrongMode, WrongPassphrase
from bot.secrets.keys import VARIABLE, Keyring, Passphrase
from bot.secrets.sealed import Damaged, Entry, Lock, Newer, WrongKey, header_of, seal, unseal

SEALED_FILE_MAX_BYTES: Final = 4 << 20  # bytes; some thousand secrets

Entries = dict[str, Entry]


@dataclass(frozen=True, slots=True)
class Opened:
    """Content of a sealed file, and what opened it."""

    entries: Entries
    passphrase: Passphrase
    lock: Lock


@dataclass(frozen=True, slots=True)
class SealedFile:
    """Every method raises SecretsError, which names the file, its fault and the way out."""

    path: Path

    def exists(self) -> bool:
        return self.path.exists()

    def lock(self) -> Lock:
        """The lock that opens it; nothing is opened for that."""
        with _told(self.path):
            return header_of(self._data()).lock

    def open(self, keyring: Keyring) -> Opened:
        data = self._data()
        with _told(self.path):
            lock = header_of(data).lock
        passphrase = keyring.passphrase(self.path, lock)
        return Opened(self._unsealed(data, passphrase), passphrase, lock)

    def make(self, passphrase: Passphrase, lock: Lock) -> Opened:
        """An empty one. Errors: SecretsError also where there is one already."""
        with self._changing():
            if self.path.exists():
                raise SecretsError(self.path, "somebody else has just made it", "Try again.")
            replace(self.path, seal({}, passphrase.text, lock))
        return Opened({}, passphrase, lock)

    def change(self, opened: Opened, edit: Callable[[Entries], object]) -> None:
        """Do `edit` with what is in it by now, and seal it again. Two that change it at once do so in turn."""
        with self._changing():
            entries = self._unsealed(self._data(), opened.passphrase)
            edit(entries)
            replace(self.path, seal(entries, opened.passphrase.text, opened.lock))

    def reseal(self, opened: Opened, passphrase: Passphrase, lock: Lock) -> None:
        """Seal the secrets again under another passphrase."""
        with self._changing():
            entries = self._unsealed(self._data(), opened.passphrase)
            replace(self.path, seal(entries, passphrase.text, lock))

    def _unsealed(self, data: bytes, passphrase: Passphrase) -> Entries:
        with _told(self.path, passphrase.source):
            return unseal(data, passphrase.text)

    def _data(self) -> bytes:
        try:
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise SecretsError(self.path, "it isn't a file", "Remove it, or name another in secrets.file.")
            if (mode := stat.S_IMODE(status.st_mode)) != PRIVATE:
                raise WrongMode(self.path, mode)
            with self.path.open("rb") as file:
                return file.read(SEALED_FILE_MAX_BYTES)
        except FileNotFoundError:
            raise NoSealedFile(self.path) from None
        except OSError as error:
            fix = f"Let this user read it: chown it to the user that runs Signalbox, then chmod 600 {self.path}"
            raise SecretsError(self.path, f"it cannot be read ({error.strerror})", fix) from None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with alone_in(self.path.parent):
                yield
        except OSError as error:
            fault = f"it cannot be written ({error.strerror}); nothing was changed"
            raise SecretsError(self.path, fault, "Free up space, or let this user write there.") from error


@contextmanager
def _told(path: Path, source: str = "") -> Iterator[None]:
    """Tell what is wrong with the bytes, as a sentence about the file. `source` is where the passphrase came from."""
    try:
        yield
    except Damaged as error:
        fix = f"Restore it from a backup, or remove it (rm {path}) and set its secrets again."
        raise SecretsError(path, str(error), fix) from None
    except Newer:
        fault = "it was sealed by a newer version of this program"
        raise SecretsError(path, fault, "Install the newer signalbox.") from None
    except WrongKey:
        raise WrongPassphrase(path, f"{source} does not open it: the passphrase is wrong", _hint(source)) from None


def _hint(source: str) -> str:
    if source == "the terminal":
        return f"Try again, or set the variable {VARIABLE}."
    return f"Give the one it was sealed with, in {VARIABLE} or secrets.passphrase_file."
