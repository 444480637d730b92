"""The table of an account: each setting is documented, and what is never meant is a fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from signalbox_email.plugin import EmailAccount, faults, settings_of

DOCS = Path(__file__).parents[3] / "docs" / "email.md"
LEAST: dict[str, Any] = {
    "channel": "email",
    "name": "post",
    "address": "agent@example.org",
    "imap_host": "mx.example.org",
}
COMMON = {"channel", "name", "enabled", "messages_per_second", "api_base_url"}


def test_each_setting_is_documented() -> None:
    told = DOCS.read_text(encoding="utf-8")
    for name, field in EmailAccount.model_fields.items():
        if name not in COMMON:
            assert f"| `{name}` |" in told
            assert field.description
            assert f"| {field.description} |" in told


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, {"authserv_id"}),
        ({"authserv_id": "mx"}, set()),
        ({"unverified": "stranger"}, set()),
        ({"authserv_id": "mx", "imap_security": "none"}, {"imap_security"}),
        ({"authserv_id": "mx", "smtp_security": "none"}, {"smtp_security"}),
        ({"authserv_id": "mx", "smtp_security": "none", "smtp_host": "127.0.0.1"}, set()),
        ({"authserv_id": "mx", "smtp_security": "none", "smtp_host": "127.0.0.1.evil.example"}, {"smtp_security"}),
    ],
)
def test_what_is_never_meant_is_a_fault(given: dict[str, str], wrong: set[str]) -> None:
    assert {name for name, _ in faults(LEAST | given)} == wrong


@pytest.mark.parametrize(
    "address", ["", "agent", "a b@example.org", "agent@", "Agent <agent@example.org>", "ä@example.org"]
)
def test_an_address_is_an_address(address: str) -> None:
    with pytest.raises(ValidationError, match="an e-mail address, such as"):
        EmailAccount(**(LEAST | {"address": address}))


def test_ports_follow_the_way_of_protection() -> None:
    made = settings_of(EmailAccount(**LEAST, password="x", smtp_security="starttls"))  # type: ignore[arg-type]  # a secret is read from text
    assert (made.imap.port, made.smtp.host, made.smtp.port) == (993, "mx.example.org", 587)
    assert "password" not in repr(made)
