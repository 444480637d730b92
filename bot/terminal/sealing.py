"""Lock of a new sealed file: chosen by flags, by what is set, or by the person at the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import typer

from bot.secrets.errors import NoPassphrase
from bot.secrets.keys import VARIABLE, Keyring, Passphrase
from bot.secrets.sealed import Lock
from runtime.errors import ConfigError

NewLock = tuple[Passphrase, Lock]

ABOUT: Final = """
Secrets are sealed in {path}.
With a passphrase, only that opens them. Each start asks for it, or gets it in one of the ways in docs/secrets.md.
Without one, a key in {key} opens them. Copies of the data folder are safe then, but anyone who can read your files can open them."""


def new_lock(path: Path, keyring: Keyring, *, key_file: bool) -> NewLock:
    """For the file at `path`. Errors: NoPassphrase where nobody can be asked; ConfigError when the person slips."""
    if key_file:
        return keyring.key(), Lock.KEY_FILE
    expect_passphrase(path, keyring)
    if given := keyring.given():
        return given, Lock.PASSPHRASE
    return chosen(path, keyring)


def expect_passphrase(path: Path, keyring: Keyring) -> None:
    """Errors: NoPassphrase where none is set to seal the file at `path` with, and nobody can be asked."""
    if keyring.given() is None and keyring.ask is None:
        fix = f"Set the variable {VARIABLE}, or add --key-file to keep a key in {keyring.key_file} instead."
        raise NoPassphrase(path, "no passphrase is set to seal it with", fix)


def chosen(path: Path, keyring: Keyring) -> NewLock:
    """Ask for a passphrase, twice; none means a key file."""
    typer.echo(ABOUT.format(path=path, key=keyring.key_file), err=True)
    text = hidden("New passphrase (Enter for the key file)")
    if not text:
        return keyring.key(), Lock.KEY_FILE
    if hidden("Once more") != text:
        raise ConfigError("The two passphrases differ. Nothing was changed.")
    return Passphrase(text, "the terminal"), Lock.PASSPHRASE


def hidden(words: str) -> str:
    """Text that the person types without its being shown; may be empty."""
    return str(typer.prompt(words, default="", show_default=False, hide_input=True, err=True))
