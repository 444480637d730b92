"""The key that signs the audit is there as a whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from runtime.audit.keys import AUDIT_KEY_BYTES, KEY_NAME, AuditKey
from runtime.errors import StoreError


def test_a_kill_while_the_key_is_made_leaves_no_half_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(_size: int) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "urandom", killed)
        with pytest.raises(KeyboardInterrupt):
            AuditKey(tmp_path).mark("words")
    assert not AuditKey(tmp_path).is_there
    AuditKey(tmp_path).mark("words")
    assert [(one.name, one.stat().st_size, one.stat().st_mode & 0o777) for one in tmp_path.iterdir()] == [
        (KEY_NAME, AUDIT_KEY_BYTES, 0o600)
    ]


@pytest.mark.parametrize("half", [b"", b"k" * 31])
def test_half_a_key_signs_nothing(tmp_path: Path, half: bytes) -> None:
    (tmp_path / KEY_NAME).write_bytes(half)
    with pytest.raises(StoreError, match="damaged"):
        AuditKey(tmp_path).mark("words")
    with pytest.raises(StoreError, match="damaged"):
        AuditKey(tmp_path).sign("words")


def test_of_two_that_make_one_the_first_wins(tmp_path: Path) -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(AuditKey(tmp_path).mark("words"))) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(set(made)) == 1


def test_a_mark_in_letters_that_none_has_is_wrong(tmp_path: Path) -> None:
    assert not AuditKey(tmp_path).signed("words", "é")
