"""The sealed file's format: nothing is read from it that was not written, and nothing is read without the passphrase."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.secrets.sealed import Damaged, Entry, Lock, Newer, WrongKey, header_of, seal, unseal

AT = datetime(2026, 8, 1, tzinfo=UTC)
PASSPHRASE = "correct horse"
SEALED = seal({"OPENAI_API_KEY": Entry("sk-sesame", AT)}, PASSPHRASE, Lock.KEY_FILE)
values = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@settings(max_examples=20)
@given(st.dictionaries(st.from_regex(r"[A-Z_]{1,20}", fullmatch=True), values), values)
def test_what_was_sealed_is_what_is_read(secrets: dict[str, str], passphrase: str) -> None:
    entries = {name: Entry(value, AT) for name, value in secrets.items()}
    assert unseal(seal(entries, passphrase, Lock.KEY_FILE), passphrase) == entries


@pytest.mark.parametrize("lock", Lock)
def test_the_header_tells_what_opens_it_and_no_secret(lock: Lock) -> None:
    data = seal({"NAME": Entry("sesame", AT)}, PASSPHRASE, lock)
    assert header_of(data).lock is lock
    assert not any(word in data for word in (b"NAME", b"sesame", PASSPHRASE.encode()))


def test_a_guess_at_a_passphrase_costs_what_the_rfc_recommends() -> None:
    cost = header_of(seal({}, PASSPHRASE, Lock.PASSPHRASE)).cost
    assert (cost.memory_kib, cost.passes, cost.lanes) == (65536, 3, 4)


def test_the_same_secrets_never_look_the_same() -> None:
    one, other = (seal({"A": Entry("x", AT)}, PASSPHRASE, Lock.KEY_FILE) for _ in range(2))
    assert header_of(one).salt != header_of(other).salt
    assert header_of(one).nonce != header_of(other).nonce
    assert one.splitlines()[1] != other.splitlines()[1]


def test_another_passphrase_opens_nothing() -> None:
    with pytest.raises(WrongKey):
        unseal(SEALED, "correct house")


@given(st.integers(0, len(SEALED) - 1), st.integers(1, 255))
def test_a_changed_byte_is_damage(place: int, change: int) -> None:
    changed = bytearray(SEALED)
    changed[place] ^= change
    with pytest.raises(Damaged):
        unseal(bytes(changed), PASSPHRASE)


@given(st.integers(0, len(SEALED) - 1))
def test_a_file_that_is_cut_is_damage(length: int) -> None:
    with pytest.raises(Damaged):
        unseal(SEALED[:length], PASSPHRASE)


def forged(head: bytes | None = None, body: bytes | None = None) -> bytes:
    """The file as somebody would change it who knows its form, and writes a fitting checksum."""
    lines = SEALED.split(b"\n")
    lines[:2] = [head or lines[0], body or lines[1]]
    return b"\n".join([*lines[:2], sha256(lines[0] + b"\n" + lines[1]).hexdigest().encode(), b""])


def changed_header(**fields: object) -> bytes:
    return json.dumps({**json.loads(SEALED.split(b"\n")[0]), **fields}).encode()


@given(st.integers(0, 80), st.sampled_from(b"ABCDwxyz0189+/"))
def test_a_forger_who_mends_the_checksum_is_found_out_by_the_cipher(place: int, letter: int) -> None:
    body = bytearray(SEALED.split(b"\n")[1])
    if body[place] == letter:
        letter = ord("E")
    body[place] = letter
    with pytest.raises(WrongKey):
        unseal(forged(body=bytes(body)), PASSPHRASE)


def test_the_header_is_covered_too() -> None:
    """`lock` has no part in the decryption: only the associated data covers it."""
    with pytest.raises(WrongKey):
        unseal(forged(head=changed_header(lock="passphrase")), PASSPHRASE)


@pytest.mark.parametrize(
    "kdf",
    [
        {"memory_kib": 1 << 30},
        {"passes": 10**9},
        {"lanes": 0},
        {"lanes": 10**6},
        {"memory_kib": 7},
        {"salt": "AAAA"},
        {"passes": "many"},
    ],
)
def test_a_file_may_not_ask_for_work_without_end(kdf: dict[str, object]) -> None:
    told = json.loads(SEALED.split(b"\n")[0])["kdf"]
    with pytest.raises(Damaged):
        header_of(forged(head=changed_header(kdf={**told, **kdf})))


def test_a_newer_format_says_so() -> None:
    with pytest.raises(Newer):
        header_of(forged(head=changed_header(version=2)))


@pytest.mark.parametrize("data", [b"", b"\n\n\n", b"PK\x03\x04", b'{"signalbox": "other"}\n\n\n', b"[web]\nport = 1\n"])
def test_what_is_no_sealed_file_says_so(data: bytes) -> None:
    with pytest.raises(Damaged):
        header_of(data)


def test_no_value_shows_in_a_repr() -> None:
    assert "sk-sesame" not in repr(Entry("sk-sesame", AT))
