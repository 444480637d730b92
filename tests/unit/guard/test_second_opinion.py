"""Another finder of secrets, by others, sees nothing in our samples that we don't."""

from __future__ import annotations

from typing import Final

import pytest
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector

from runtime.guard.findings import Detector, Gate
from runtime.guard.guard import Guard, GuardRules
from tests.unit.guard.secrets import IN_PLACE, SECRETS

OTHERS: Final = (
    AWSKeyDetector,
    DiscordBotTokenDetector,
    GitHubTokenDetector,
    GitLabTokenDetector,
    OpenAIDetector,
    PrivateKeyDetector,
    SlackDetector,
    StripeDetector,
    TelegramBotTokenDetector,
)
SAMPLES: Final = [
    *(secret for _, secret in SECRETS.values()),
    "sk-" + "a1B2c" * 4 + "T3BlbkFJ" + "d3E4f" * 4,
    *(around.format(secret) for _, around, secret in IN_PLACE.values()),
]


@pytest.mark.parametrize("other", OTHERS)
def test_what_another_finder_sees_is_seen(other: type[RegexBasedDetector]) -> None:
    theirs = [text for text in SAMPLES if any(other().analyze_string(text))]
    assert theirs, "it knows none of the samples, so it is no second opinion"
    looked = [Guard(GuardRules(key=b"k")).check(text, Gate.DELIVERY) for text in theirs]
    assert all(any(one.detector is Detector.SHAPE for one in told.findings) for told in looked)
