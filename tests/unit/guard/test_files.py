"""Files of a text type: whichever bytes they are written in and wherever their slices end, nothing slips through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.guard.files import OVERLAP_CHARS, checked_file, is_text, slices_of
from runtime.guard.findings import Detector, Gate, Strictness
from runtime.guard.guard import Checked, Guard, GuardRules
from runtime.guard.held import Held
from tests.unit.guard.secrets import SECRETS, letters

OURS = "our own pass phrase"
GUARD = Guard(GuardRules(key=b"key"), Held([("ours", OURS)]))
SLICE = 4 * OVERLAP_CHARS


def check(text: str, guard: Guard = GUARD) -> Checked:
    return guard.check(text, Gate.DELIVERY)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
@pytest.mark.parametrize("shape", SECRETS)
def test_a_secret_is_taken_out_in_each_encoding_and_the_rest_stays(encoding: str, shape: str) -> None:
    secret = SECRETS[shape][1]
    data = f"größe: 1\nit is {secret}\nend\n".encode(encoding)
    done = checked_file(data, check)
    assert done.data is not None
    text = done.data.decode(encoding)
    assert secret not in text
    assert text.startswith("größe: 1\nit is [redacted: ")
    assert text.endswith("\nend\n")


@given(st.integers(-60, 60), st.sampled_from(["github", "private key", "ours"]), st.sampled_from(["\n", " ", "x"]))
def test_a_value_across_the_end_of_a_slice_is_found(shift: int, which: str, filling: str) -> None:
    secret = OURS if which == "ours" else SECRETS[which][1]
    filled = (filling * 7 + " ") * SLICE
    text = f"{filled[: SLICE + shift - len(secret) // 2]} {secret} {filled[:SLICE]}"
    done = checked_file(text.encode(), check, slice_chars=SLICE)
    assert done.data is not None
    assert secret not in done.data.decode()
    assert len(done.findings) == 1


@pytest.mark.parametrize("part", range(0, 100, 9))
def test_no_key_is_too_large_to_be_found_across_the_end_of_a_slice(part: int) -> None:
    """Of 16,384 bits: behind a cut nothing says what its lines are."""
    lines = [letters(64, number) for number in range(196)]
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"])
    text = f"{('x' * 9 + chr(10)) * ((SLICE - len(key) * part // 100) // 10)}{key}\n{'more ' * SLICE}"
    done = checked_file(text.encode(), check, slice_chars=SLICE)
    assert done.data is not None
    assert not any(line in done.data.decode() for line in lines)


@given(st.text(max_size=400), st.integers(1, 40))
def test_slices_are_the_whole_text(text: str, repeats: int) -> None:
    assert "".join(slices_of(text * repeats, check, SLICE)) == text * repeats


def test_a_clean_file_keeps_its_bytes() -> None:
    data = b"\xff\xfe\x00odd bytes, and no text of any kind \x80\x81"
    assert checked_file(data, check).data is data


def test_what_is_only_warned_of_passes_and_is_told() -> None:
    warning = Guard(GuardRules({Detector.SHAPE: Strictness.WARN}))
    data = SECRETS["github"][1].encode()
    done = checked_file(data, lambda text: check(text, warning))
    assert (done.data, len(done.findings)) == (data, 1)


def test_what_is_enforced_is_withheld() -> None:
    enforcing = Guard(GuardRules({Detector.SHAPE: Strictness.ENFORCE}))
    assert checked_file(SECRETS["github"][1].encode(), lambda text: check(text, enforcing)).data is None


@pytest.mark.parametrize(
    ("name", "mime", "text"),
    [
        ("notes", "", True),
        ("data.CSV", "", True),
        ("a.bin", "text/plain; charset=utf-8", True),
        ("plot.svg", "", True),
        ("api", "application/vnd.api+json", True),
        ("photo.png", "image/png", False),
        ("all.zip", "", False),
        ("a.pdf", "application/pdf", False),
    ],
)
def test_text_is_known_by_type_and_by_name(name: str, mime: str, text: bool) -> None:
    assert is_text(name, mime) is text
