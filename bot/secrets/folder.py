"""Secrets that were handed over as plain files: each is called as the variable it stands for, and holds one value.

So do container engines (/run/secrets) and systemd ($CREDENTIALS_DIRECTORY); who may read them is their concern.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.secrets.errors import SecretsError


class NotHandedOver(SecretsError):
    """A file of the folder that is there, and cannot be used."""

    setting = "secrets.folder"


@dataclass(frozen=True, slots=True)
class Folder:
    """Neither the folder nor a file in it has to be there: they are made by whoever has something to hand over."""

    path: Path

    def value(self, name: str) -> str:
        """Value that is handed over as `name`, without blanks around it; "" for nothing. Errors: NotHandedOver."""
        path = self.path / name
        try:
            text = path.read_bytes().decode().strip()
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            fix = "Make it readable for the user that runs Signalbox."
            raise NotHandedOver(path, f"it cannot be read ({error.strerror})", fix) from None
        except UnicodeDecodeError:
            raise NotHandedOver(path, "it is not UTF-8 text", "Write the secret as text.") from None
        return text
