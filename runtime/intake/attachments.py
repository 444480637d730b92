"""Where the files of a message go: decided once, when it is taken in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from runtime.contract import INBOX, FileRef, Said, Signal, clean_name


def placed(signal: Signal) -> Signal:
    """`signal` with a path for each file that is still at its platform.

    The path is made of what makes the event unique, so an event that comes twice means the same file; and of a name
    that is harmless whatever the platform, or a person, called it.
    """
    match signal.body:
        case Said(text, files) if any(file.remote for file in files):
            return replace(signal, body=Said(text, tuple(_placed(files, _folder(signal)))))
        case _:
            return signal


def _folder(signal: Signal) -> str:
    """By day, so that a person who looks finds the newest last."""
    key = f"{signal.platform} {signal.natural_key or signal.dedupe_key}"
    return f"{INBOX}/{signal.received_at:%Y-%m-%d}-{sha256(key.encode()).hexdigest()[:10]}"


def _placed(files: tuple[FileRef, ...], folder: str) -> Iterator[FileRef]:
    taken: set[str] = set()
    for number, file in enumerate(files, 1):
        if not file.remote:
            yield file
            continue
        name = clean_name(file.name)
        name = f"{number}-{name}" if name.casefold() in taken else name
        taken.add(name.casefold())
        yield replace(file, path=f"{folder}/{name}")
