"""Values that were removed or replaced are still looked for, sealed, until somebody forgets them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settings.settings import Settings
from bot.wiring.safety.guard import KEY_FILE, door_of, key_of
from bot.wiring.safety.kept import KEPT_FILE, KeptValues
from runtime.errors import StoreError
from runtime.guard.findings import Gate
from runtime.guard.kept import KEPT_MOST, Kept, with_those_of_now
from runtime.guard.sealing import KEY_BYTES
from tests.unit.bot.settings.test_settings import read

NOBODY = 65534
OLD, NEW = "a-long-key-of-last-year", "a-long-key-of-this-year"


def settings(folder: Path, key: str) -> Settings:
    model = f'[model]\nname = "openai/ours"\napi_base = "http://127.0.0.1:9/v1"\napi_key = "{key}"\n'
    return read(folder, f'data_dir = "{folder}"\n{model}')


def said(folder: Path, key: str, text: str) -> str:
    """`text` in a process that is started with `key`."""
    return door_of(settings(folder, key), str).clean(text, Gate.MESSAGE_IN)


def test_a_replaced_key_is_still_taken_out(tmp_path: Path) -> None:
    before = said(tmp_path, OLD, f"it was {OLD}")
    after = said(tmp_path, NEW, f"it was {OLD}, it is {NEW}")
    assert before.startswith("it was [redacted: model ·")
    assert after.startswith(before)
    assert NEW not in after


def test_the_file_is_for_us_alone_and_shows_nothing(tmp_path: Path) -> None:
    said(tmp_path, OLD, "hello")
    file = tmp_path / KEPT_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert OLD not in file.read_text()


def test_a_key_that_a_kill_cut_on_its_way_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / f"{KEY_FILE}.new").write_bytes(b"half")
    key = key_of(tmp_path)
    assert (len(key), key_of(tmp_path)) == (KEY_BYTES, key)
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


@pytest.mark.parametrize("name", [KEY_FILE, KEPT_FILE])
def test_a_file_that_cannot_be_read_is_told_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(StoreError, match=rf"/{name} can't be read or written: Is a directory\."):
        said(tmp_path, OLD, "hello")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_writes_belongs_to_whoever_owns_the_folder(tmp_path: Path) -> None:
    """`sudo signalbox guard forget …` must not take the file from the service."""
    os.chown(tmp_path, NOBODY, NOBODY)
    KeptValues(tmp_path, key_of(tmp_path)).remember([("A_KEY", OLD)], ())
    assert {path.name: path.stat().st_uid for path in tmp_path.iterdir()} == {KEY_FILE: NOBODY, KEPT_FILE: NOBODY}


def test_a_file_of_another_key_is_told_and_begun_anew(tmp_path: Path) -> None:
    said(tmp_path, OLD, "hello")
    (tmp_path / "guard.key").write_bytes(b"k" * 32)
    assert OLD in said(tmp_path, NEW, f"it was {OLD}")
    assert [one.value for one in KeptValues(tmp_path, key_of(tmp_path)).read()] == [NEW]


def test_a_value_that_moved_into_a_sealed_file_is_kept_nowhere_else(tmp_path: Path) -> None:
    file = KeptValues(tmp_path, key_of(tmp_path))
    file.remember([("A_KEY", OLD), ("B_KEY", NEW)], ())
    file.remember([("A_KEY", OLD)], [OLD])
    assert [one.value for one in file.read()] == [NEW]


def test_a_file_from_before_there_were_marks_is_read_and_gets_one(tmp_path: Path) -> None:
    said(tmp_path, OLD, "hello")
    file = tmp_path / KEPT_FILE
    file.write_text(file.read_text().splitlines()[0])
    assert OLD not in said(tmp_path, NEW, f"it was {OLD}")
    assert len(file.read_text().splitlines()) == 2


@pytest.mark.parametrize("cut", [slice(1, None), slice(0, -2), slice(0, 10), slice(0, 0)])
def test_a_damaged_file_is_written_anew_by_the_next_start(tmp_path: Path, cut: slice) -> None:
    said(tmp_path, OLD, "hello")
    file = tmp_path / KEPT_FILE
    file.write_text(file.read_text()[cut])
    assert OLD not in said(tmp_path, OLD, f"it is {OLD}")
    assert [one.value for one in KeptValues(tmp_path, key_of(tmp_path)).read()] == [OLD]


def test_a_start_that_holds_what_the_last_one_held_writes_nothing(tmp_path: Path) -> None:
    said(tmp_path, OLD, "hello")
    before = (tmp_path / KEPT_FILE).read_bytes()
    said(tmp_path, OLD, "hello")
    assert (tmp_path / KEPT_FILE).read_bytes() == before  # each sealing has a nonce of its own
    said(tmp_path, NEW, "hello")
    between = (tmp_path / KEPT_FILE).read_bytes()
    said(tmp_path, NEW, "hello")
    assert (tmp_path / KEPT_FILE).read_bytes() == between != before


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_last_two_hundred_are_kept_beside_those_in_use(earlier: int, now: int) -> None:
    kept = [Kept("K", f"removed-{number}") for number in range(earlier)]
    used = [(f"U{number}", f"in-use-{number}") for number in range(now)]
    after = with_those_of_now(kept, used)
    assert [one.value for one in after] == [one.value for one in kept[-KEPT_MOST:]] + [value for _, value in used]
