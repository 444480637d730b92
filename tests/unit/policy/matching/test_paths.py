"""Paths inside a folder: what may lead elsewhere is never allowed, and always asked about or denied."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.policy.matching.paths import EXPECTED, Inside, folder_of

NOTES = Inside(("notes",))


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("notes", "notes"),
        ("notes/a.md", "notes"),
        ("./notes//a/./b.md", "notes/"),
        ("notes/a.b..c", "notes"),
        ("anything", "."),
        ("/srv/data/x", "/srv/data/"),
        ("notes/*.md", "notes"),
        ("notes/ein Bild (ä).png", "./notes"),
    ],
)
def test_a_plain_path_is_surely_inside(path: str, folder: str) -> None:
    matcher = Inside((folder_of(folder),))
    assert matcher.surely(path)
    assert matcher.perhaps(path)


@pytest.mark.parametrize("path", ["notesx/a", "other/notes/a", "a.md", "/srv/data", "note"])
def test_a_path_elsewhere_is_not_inside(path: str) -> None:
    assert not NOTES.surely(path)
    assert not NOTES.perhaps(path)


@pytest.mark.parametrize(
    "path",
    [
        "notes/../secret",
        "notes/..",
        "../notes/a",
        "x/../notes",
        "notes\\..\\secret",
        "notes/a\0.md",
        "notes/%2e%2e/x",
        "notes%2Fa",
        "notes%00",
        "notes/\u202ea",
        "notes/a\n",
        " notes/a",
        "~/notes/a",
        "C:/notes/a",
        "file:///notes/a",
        "/srv/notes/a",
        "NOTES/a",
        "\uff4eotes/a",
        "",
    ],
)
def test_a_path_that_may_lead_anywhere_is_not_allowed_but_may_be_denied(path: str) -> None:
    assert not NOTES.surely(path)
    assert NOTES.perhaps(path)


def test_an_absolute_path_may_lie_in_the_workspace_and_no_other_one_outside() -> None:
    assert Inside((".",)).perhaps("/etc/passwd")
    assert not Inside((".",)).surely("/etc/passwd")
    assert not Inside(("/etc",)).perhaps("etc/passwd")


@pytest.mark.parametrize(
    ("value", "surely", "perhaps"),
    [
        (None, False, False),
        (3, False, True),
        (["notes/a", "notes/b"], True, True),
        (["notes/a", "b"], False, True),
        (["a", "b"], False, False),
        ([["notes/a"]], False, True),
        ([], False, False),
    ],
)
def test_what_it_cannot_tell_is_no_reason_to_allow_and_one_to_ask(value: object, surely: bool, perhaps: bool) -> None:
    assert (NOTES.surely(value), NOTES.perhaps(value)) == (surely, perhaps)


@given(st.text(alphabet="notes/.\\%2e~:\0 é", max_size=20))
def test_whatever_is_surely_so_is_perhaps_so_too(path: str) -> None:
    for text in (path, f"notes/{path}"):
        assert not NOTES.surely(text) or NOTES.perhaps(text)


@pytest.mark.parametrize("folder", ["", "..", "a/../b", "a\\b", "a\0", "~", "C:/x", " a", "%2e%2e"])
def test_what_is_no_folder_is_told_with_what_is_expected(folder: str) -> None:
    with pytest.raises(ValueError, match=re.escape(EXPECTED)):
        folder_of(folder)
