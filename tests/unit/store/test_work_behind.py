"""The texts behind an answer, cut to what a page unfolds at once."""

from __future__ import annotations

import pytest

from runtime.store.shelf.work_behind import WORK_CHARS, WORK_TEXT_CHARS, WORK_TEXT_LEAST_CHARS, chars_each


@pytest.mark.parametrize(
    ("texts", "chars"), [(0, WORK_TEXT_CHARS), (100, WORK_TEXT_CHARS), (2_000, 1_000), (10**6, WORK_TEXT_LEAST_CHARS)]
)
def test_of_very_many_texts_each_is_cut_shorter(texts: int, chars: int) -> None:
    assert chars_each(texts) == chars
    assert texts * chars <= max(WORK_CHARS, texts * WORK_TEXT_LEAST_CHARS)
