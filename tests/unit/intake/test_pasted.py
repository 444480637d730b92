"""Words for whoever wrote something into a chat that was taken out."""

from __future__ import annotations

import pytest

from runtime.guard.findings import Detector, Finding, Strictness
from runtime.intake.pasted import told


@pytest.mark.parametrize("detector", Detector)
def test_only_keys_are_to_be_renewed(detector: Detector) -> None:
    words = told([Finding(detector, "e-mail address", "4f2a", Strictness.REDACT)])
    assert words.startswith("Your message held something that shouldn't be in a chat (e-mail address ·4f2a)")
    assert "delete your message" in words
    assert ("renew the key" in words) is (detector not in (Detector.PERSONAL, Detector.RULE))
