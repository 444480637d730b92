"""Setting a sealed secret from within a running process, which asks nobody for a passphrase."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.secrets.chain import Chain, Place
from bot.secrets.file import Entries, SealedFile
from bot.secrets.removed import at_work, put_aside
from bot.secrets.sealed import Entry
from runtime.errors import ConfigError

SECRET_VALUE_MAX_CHARS: Final = 4_096
NOTHING_SEALED: Final = "No secret is sealed here yet, so there is no file to put it in. On the machine that runs Signalbox: signalbox secrets set {name}"
OVERRIDDEN: Final = "{name} comes from {where}, which goes before what is sealed. Change it there."
SAME_VALUE: Final = "{other} holds the same value. A secret has one purpose: make a new one."
BAD_VALUE: Final = "This is no key or token: expected letters, digits and signs on one line, without blanks."


def checked_value(text: str) -> str:
    """The value without the blanks that come along when it is copied. Errors: ConfigError, which doesn't repeat it."""
    value = text.strip()
    if (
        not value
        or len(value) > SECRET_VALUE_MAX_CHARS
        or not value.isascii()
        or not value.isprintable()
        or " " in value
    ):
        raise ConfigError(BAD_VALUE)
    return value


def sealed_file(chain: Chain) -> SealedFile:
    """The file that is changed: the one of the settings, else the data folder's."""
    found = {member.place: member.file for member in chain.members}
    return found.get(Place.NAMED) or found[Place.DATA]


def require_sealable(chain: Chain, name: str) -> None:
    """Errors: ConfigError where `name` comes from elsewhere, or nothing is sealed yet."""
    if chain.variables.get(name):
        raise ConfigError(OVERRIDDEN.format(name=name, where=f"the variable {name}"))
    if chain.folder and chain.folder.value(name):
        raise ConfigError(OVERRIDDEN.format(name=name, where=str(chain.folder.path)))
    if not sealed_file(chain).exists():
        raise ConfigError(NOTHING_SEALED.format(name=name))


def seal_values(chain: Chain, values: dict[str, str], now: datetime) -> SealedFile:
    """Seal `values` by name, all or none. Those of before stay for the leak guard. It blocks. Errors: ConfigError, SecretsError."""
    for name in values:
        require_sealable(chain, name)
    file = sealed_file(chain)
    opened = file.open(replace(chain.keyring, ask=None))
    for other, entry in at_work(opened.entries).items():
        if any(entry.value == value and other != name for name, value in values.items()):
            raise ConfigError(SAME_VALUE.format(other=other))

    def put(entries: Entries) -> None:
        for name, value in values.items():
            before = entries.get(name)
            if before is not None and before.value != value:
                put_aside(entries, name, now)
            entries[name] = Entry(value, now.replace(microsecond=0), before.hosts if before else ())

    file.change(opened, put)
    return file
