"""Faults of a sealed file, as sentences that name the file and the way out."""

from __future__ import annotations

from pathlib import Path

from runtime.errors import ConfigError


class SecretsError(ConfigError):
    """A sealed file that cannot be used. `path` is that file; the text begins with its name."""

    setting = "secrets.file"

    def __init__(self, path: Path, fault: str, fix: str) -> None:
        super().__init__(f"{path}: {fault}. {fix}")
        self.path = path
        self.fault = fault
        self.fix = fix


class NoSealedFile(SecretsError):
    def __init__(self, path: Path) -> None:
        super().__init__(path, "the file doesn't exist", "Make it with `signalbox secrets set NAME`.")


class WrongMode(SecretsError):
    def __init__(self, path: Path, mode: int) -> None:
        fault = f"its mode is {mode:04o}, and secrets are only read from files with mode 0600"
        super().__init__(path, fault, f"If nobody else could have read it: chmod 600 {path}")


class NoPassphrase(SecretsError):
    """Nothing is there that could open the file; nobody tried."""


class WrongPassphrase(SecretsError):
    """The passphrase that is there does not open the file."""
