"""The sealed file as bytes: three lines of text, written and read whole. No files and no terminal here.

    {"signalbox": "secrets", "version": 1, "lock": "passphrase", "kdf": {...}, "nonce": "..."}
    base64 of AES-256-GCM(names, values and times as JSON), with the first line as associated data
    sha256 of the two lines above

The key is Argon2id of the passphrase. The last line needs no key: it tells a damaged file from a wrong passphrase, and
lets `doctor` look without one. Who changes the file on purpose can write a fitting last line, but not what AES-GCM
accepts: no change of any byte goes unseen.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

VERSION: Final = 1
MAGIC: Final = "secrets"
SALT: Final = 16  # bytes
NONCE: Final = 12  # bytes, what AES-GCM is made for
KEY: Final = 32  # bytes: AES-256


class Lock(StrEnum):
    """Kinds of lock of a sealed file."""

    PASSPHRASE = "passphrase"  # noqa: S105 - the word, not one of them
    KEY_FILE = "key file"


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one guess at the passphrase."""

    memory_kib: int
    passes: int
    lanes: int


# A person's passphrase: the second choice that RFC 9106, section 4, recommends (64 MiB). Our own key files hold 256
# random bits, which nobody guesses at any price: there a start should not pay for it.
COSTS: Final[dict[Lock, Cost]] = {Lock.PASSPHRASE: Cost(64 << 10, 3, 4), Lock.KEY_FILE: Cost(8 << 10, 1, 1)}
HIGHEST: Final = Cost(1 << 20, 32, 16)
"""More than this a file may not ask for: it would be a way to keep a start busy."""


class Damaged(Exception):
    """Not a sealed file, or not as it was written. The text is the reason."""


class Newer(Exception):
    """Sealed by a newer version of this program."""


class WrongKey(Exception):
    """The passphrase does not open it; or it was changed by somebody who saw to the checksum."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A secret. `hosts` are those to which calls may send it; without any none may."""

    value: str = field(repr=False)
    set_at: datetime
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    lock: Lock
    cost: Cost
    salt: bytes
    nonce: bytes


def seal(entries: Mapping[str, Entry], passphrase: str, lock: Lock) -> bytes:
    """The file's bytes, under a fresh salt and nonce."""
    header = Header(lock, COSTS[lock], os.urandom(SALT), os.urandom(NONCE))
    head = json.dumps(_header_json(header)).encode()
    body = base64.b64encode(_cipher(header, passphrase).encrypt(header.nonce, _packed(entries), head))
    return b"\n".join([head, body, _checksum(head, body), b""])


def unseal(data: bytes, passphrase: str) -> dict[str, Entry]:
    """Open what `seal` closed. Errors: Damaged, Newer, WrongKey."""
    from cryptography.exceptions import InvalidTag

    head, body = _lines(data)
    header = _header(head)
    try:
        return _unpacked(_cipher(header, passphrase).decrypt(header.nonce, _decoded(body), head))
    except InvalidTag:
        raise WrongKey from None


def header_of(data: bytes) -> Header:
    """Header, which can be read without the passphrase: the file is whole, and what opens it. Errors: Damaged, Newer."""
    return _header(_lines(data)[0])


def _cipher(header: Header, passphrase: str) -> Any:
    # Imported by those who have something to open: it is not needed for a start without sealed secrets.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    cost = header.cost
    kdf = Argon2id(salt=header.salt, length=KEY, iterations=cost.passes, lanes=cost.lanes, memory_cost=cost.memory_kib)
    return AESGCM(kdf.derive(passphrase.encode()))


def _lines(data: bytes) -> tuple[bytes, bytes]:
    """Header and body, once the checksum says that they are as they were written."""
    parts = data.split(b"\n")
    if not parts[0].startswith(b'{"signalbox"'):
        raise Damaged("it isn't a file of sealed secrets")
    if len(parts) != 4 or parts[3] or parts[2] != _checksum(parts[0], parts[1]):
        raise Damaged("it was cut short or changed after it was written")
    return parts[0], parts[1]


def _checksum(head: bytes, body: bytes) -> bytes:
    return sha256(head + b"\n" + body).hexdigest().encode()


def _header_json(header: Header) -> dict[str, object]:
    cost = header.cost
    return {
        "signalbox": MAGIC,
        "version": VERSION,
        "lock": header.lock.value,
        "kdf": {
            "name": "argon2id",
            "memory_kib": cost.memory_kib,
            "passes": cost.passes,
            "lanes": cost.lanes,
            "salt": base64.b64encode(header.salt).decode(),
        },
        "cipher": "aes-256-gcm",
        "nonce": base64.b64encode(header.nonce).decode(),
    }


def _header(head: bytes) -> Header:
    try:
        told = json.loads(head)
        if told["signalbox"] != MAGIC:
            raise Damaged("it isn't a file of sealed secrets")
        if told["version"] > VERSION:
            raise Newer
        kdf = told["kdf"]
        cost = Cost(int(kdf["memory_kib"]), int(kdf["passes"]), int(kdf["lanes"]))
        header = Header(Lock(told["lock"]), cost, _decoded(kdf["salt"].encode()), _decoded(told["nonce"].encode()))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Damaged("its first line is malformed") from None
    if not _is_bounded(header):
        raise Damaged("its first line has values that Signalbox never writes")
    return header


def _is_bounded(header: Header) -> bool:
    cost = header.cost
    return (
        1 <= cost.passes <= HIGHEST.passes
        and 1 <= cost.lanes <= HIGHEST.lanes
        and 8 * cost.lanes <= cost.memory_kib <= HIGHEST.memory_kib  # the least that Argon2 takes
        and len(header.salt) == SALT
        and len(header.nonce) == NONCE
    )


def _decoded(text: bytes) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise Damaged("it holds text that is not base64") from None


def _packed(entries: Mapping[str, Entry]) -> bytes:
    return json.dumps({name: _plain(entry) for name, entry in entries.items()}).encode()


def _plain(entry: Entry) -> dict[str, object]:
    hosts = {"hosts": entry.hosts} if entry.hosts else {}
    return {"value": entry.value, "set_at": entry.set_at.isoformat(), **hosts}


def _unpacked(text: bytes) -> dict[str, Entry]:
    return {
        name: Entry(entry["value"], datetime.fromisoformat(entry["set_at"]), tuple(entry.get("hosts", ())))
        for name, entry in json.loads(text).items()
    }
