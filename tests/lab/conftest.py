"""What every test of the laboratory has: a way to print its figures."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def tell(capfd: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Print a figure, whatever is captured."""

    def say(words: str) -> None:
        with capfd.disabled():
            sys.stdout.write(f"\n{words}\n")

    return say
