"""Made-up secrets, one of each shape that the guard knows. They open nothing."""

from __future__ import annotations

import string
from collections.abc import Mapping
from random import Random
from typing import Final

LETTERS: Final = string.ascii_letters + string.digits


def letters(count: int, seed: int, among: str = LETTERS) -> str:
    chance = Random(seed)
    return "".join(chance.choice(among) for _ in range(count))


PEM: Final = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *(letters(64, seed) for seed in range(6)),
        letters(30, 9) + "==",
        "-----END RSA PRIVATE KEY-----",
    ]
)
SECRETS: Final[Mapping[str, tuple[str, str]]] = {
    "openai": ("API key", f"sk-proj-{letters(48, 1)}"),
    "anthropic": ("API key", f"sk-ant-api03-{letters(60, 2)}"),
    "stripe": ("Stripe key", f"sk_live_{letters(24, 3)}"),
    "stripe hook": ("Stripe webhook secret", f"whsec_{letters(32, 4)}"),
    "github": ("GitHub token", f"ghp_{letters(36, 5)}"),
    "github app": ("GitHub token", f"ghs_{letters(36, 6)}"),
    "github fine": ("GitHub token", f"github_pat_{letters(22, 7)}_{letters(59, 8)}"),
    "gitlab": ("GitLab token", f"glpat-{letters(20, 9)}"),
    "google": ("Google API key", f"AIza{letters(35, 10)}"),
    "google access": ("Google access token", f"ya29.{letters(60, 11)}"),
    "google client": ("Google client secret", f"GOCSPX-{letters(28, 12)}"),
    "slack bot": ("Slack token", f"xoxb-{letters(11, 13, string.digits)}-{letters(24, 14)}"),
    "slack app": ("Slack token", f"xapp-1-{letters(11, 15)}-{letters(40, 16)}"),
    "telegram": ("Telegram token", f"{letters(10, 17, '123456789')}:AA{letters(33, 18)}"),
    "discord": ("Discord token", f"M{letters(25, 19)}.{letters(6, 20)}.{letters(38, 21)}"),
    "aws id": ("AWS access key", f"AKIA{letters(16, 22, string.ascii_uppercase + '234567')}"),
    "npm": ("npm token", f"npm_{letters(36, 23)}"),
    "pypi": ("PyPI token", f"pypi-AgEI{letters(60, 24)}"),
    "hugging face": ("Hugging Face token", f"hf_{letters(34, 25)}"),
    "sendgrid": ("SendGrid key", f"SG.{letters(22, 26)}.{letters(43, 27)}"),
    "digitalocean": ("DigitalOcean token", f"dop_v1_{letters(64, 28, '0123456789abcdef')}"),
    "azure client": ("Azure client secret", f"{letters(3, 29)}8Q~{letters(34, 30)}"),
    "jwt": ("JSON web token", f"eyJ{letters(33, 31)}.eyJ{letters(80, 32)}.{letters(43, 33)}"),
    "private key": ("private key", PEM),
}
"""By a name of ours: the guard's name for it, and the secret."""

IN_PLACE: Final[Mapping[str, tuple[str, str, str]]] = {
    "aws key": ("AWS secret key", "aws_secret_access_key={}", letters(40, 34)),
    "azure storage": ("Azure account key", "AccountName=x;AccountKey={};EndpointSuffix=y", letters(86, 35) + "=="),
    "azure signature": ("Azure signature", "https://x.blob.core.windows.net/c?sv=2022&sig={}", letters(44, 36)),
    "slack hook": (
        "Slack webhook",
        "https://hooks.slack.com/services/{}",
        f"T{letters(8, 37)}/B{letters(8, 38)}/{letters(24, 39)}",
    ),
    "discord hook": ("Discord webhook", "https://discord.com/api/webhooks/123456789012/{}", letters(60, 40)),
    "password": ("password in an address", "postgres://app:{}@db.example.org/app", "correct-horse"),
}
"""Secrets that are known by what stands around them."""
