"""Sources of a sealed file's passphrase: a variable, a file, or the person at the terminal."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bot.secrets.disk import PRIVATE, mode_of, replace
from bot.secrets.errors import NoPassphrase, SecretsError, WrongMode
from bot.secrets.sealed import Lock

VARIABLE: Final = "SIGNALBOX_SECRETS_PASSPHRASE"
KEY_FILE: Final = "secrets.key"
PASSPHRASE_MAX_BYTES: Final = 4096  # bytes of a passphrase file

Ask = Callable[[str], str]
"""Puts a question to the person at the terminal; the answer is not shown."""


@dataclass(frozen=True, slots=True)
class Passphrase:
    """`source` says where it came from, as a sentence goes on: "the variable X"."""

    text: str = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True)
class Keyring:
    """All that may open a sealed file. `key_file` is ours, made for those who want no passphrase."""

    variable: str = field(default="", repr=False)
    file: Path | None = None
    key_file: Path | None = None
    ask: Ask | None = None

    def passphrase(self, path: Path, lock: Lock) -> Passphrase:
        """The first that is there for the file at `path`. Errors: NoPassphrase names all of them; SecretsError."""
        for found in self._given(lock):
            return found
        if self.ask is not None and lock is Lock.PASSPHRASE:
            return Passphrase(self.ask(f"Passphrase of {path}"), "the terminal")
        raise self._nothing(path, lock)

    def given(self) -> Passphrase | None:
        """A passphrase that was set for us, if there is one: for sealing something new."""
        return next(self._given(Lock.PASSPHRASE), None)

    def key(self) -> Passphrase:
        """Our own key file's, which is made when it is not there. Errors: SecretsError where none can be."""
        if self.key_file is None:
            raise NoPassphrase(Path(KEY_FILE), "there is no home folder to keep it in", f"Set {VARIABLE} instead.")
        if not self.key_file.exists():
            self.key_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace(self.key_file, secrets.token_urlsafe(32).encode() + b"\n")
        return _of_key_file(self.key_file)

    def _given(self, lock: Lock) -> Iterator[Passphrase]:
        if lock is Lock.KEY_FILE and self.key_file is not None and self.key_file.exists():
            yield _of_key_file(self.key_file)
        if self.variable:
            yield Passphrase(self.variable, f"the variable {VARIABLE}")
        if self.file is not None:
            yield _of_file(self.file)

    def _nothing(self, path: Path, lock: Lock) -> NoPassphrase:
        if lock is Lock.KEY_FILE:
            fault = f"it was sealed with a key file, and {self.key_file or 'there is none'} is not there"
            return NoPassphrase(path, fault, "Put the key file back, or name it in secrets.passphrase_file.")
        fix = f"Set the variable {VARIABLE}, or name a file that holds it in secrets.passphrase_file."
        return NoPassphrase(path, "it is sealed, but its passphrase is not set", fix)


def _of_key_file(path: Path) -> Passphrase:
    if (mode := mode_of(path)) != PRIVATE:
        raise WrongMode(path, mode)
    return _of_file(path)


def _of_file(path: Path) -> Passphrase:
    """The first line, without its end: editors add one. Errors: SecretsError."""
    try:
        with path.open("rb") as file:
            line = file.read(PASSPHRASE_MAX_BYTES).split(b"\n", 1)[0].rstrip(b"\r")
        text = line.decode()
    except OSError as error:
        fix = "Make it readable, or change secrets.passphrase_file."
        raise SecretsError(path, f"the passphrase file cannot be read ({error.strerror})", fix) from None
    except UnicodeDecodeError:
        raise SecretsError(path, "the passphrase file is not UTF-8 text", "Write the passphrase as text.") from None
    if not text:
        raise SecretsError(path, "the passphrase file is empty", "Write the passphrase into its first line.")
    return Passphrase(text, f"the file {path}")
