"""Words of a provider about somebody: what is taken for theirs, and what isn't."""

from __future__ import annotations

import pytest

from runtime.oauth.claims import claims_of


@pytest.mark.parametrize(
    ("email", "taken"),
    [("Ada@Example.com", "ada@example.com"), ("\u212aate@example.com", ""), ("ada@\u212a.example", ""), (7, "")],
    ids=["capitals", "a Kelvin sign, which is a small k", "in the domain", "a number"],
)
def test_an_address_is_never_taken_for_one_like_it(email: object, taken: str) -> None:
    claims = claims_of({"sub": "ada", "email": email, "email_verified": True}, "groups")
    assert claims is not None
    assert claims.email == taken
