"""A browser that comes back from an issuer's page, and what others may have written into its address."""

from __future__ import annotations

import pytest

from runtime.oauth.errors import IssuerRefused
from runtime.oauth.issuer import Endpoints, Proof, check_return


def test_another_issuer_in_an_address_reaches_no_terminal_as_it_is() -> None:
    proof = Proof()
    with pytest.raises(IssuerRefused) as caught:
        check_return(Endpoints("https://id.example.com", ""), proof, proof.state, "\x1b[2J\nall is well")
    assert str(caught.value).isprintable()
