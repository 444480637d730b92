"""Places for push notifications: who may name one."""

from __future__ import annotations

import pytest

from bot.doors.a2a.places import may_be_told
from bot.doors.a2a.wire import A2aError, Code


def test_somebody_with_the_word_of_a_provider_names_no_place_that_nothing_would_be_told_at() -> None:
    may_be_told("api:billing")
    with pytest.raises(A2aError, match="for programs with a token of Signalbox") as refused:
        may_be_told("oidc:ada-1")
    assert refused.value.code is Code.PUSH_NOTIFICATION_NOT_SUPPORTED
