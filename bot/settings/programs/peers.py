"""`[[a2a]]`: one table for each agent of another system that agents may ask."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from runtime.settings.accounts import AccountName
from runtime.settings.types import Number, Secret, Section, is_http_address

if TYPE_CHECKING:
    from tools.peers.cards import PeerTerms


def _peer_address(url: str) -> str:
    from runtime.egress.places import Place  # not loaded where there are no peers

    if not is_http_address(url) or urlsplit(url).query:
        raise ValueError('an address without a query, such as "https://billing.example.org"')
    try:
        Place.parse(url)
    except Exception as error:
        raise ValueError(f'an address such as "https://billing.example.org": {error}') from error
    return url


class PeerTable(Section):
    """An agent of another system, which agents ask over A2A. See [a2a.md](a2a.md#peers)."""

    name: AccountName = Field(description="Its name, by which agents ask it: lowercase letters, digits and dashes.")
    url: Annotated[str, AfterValidator(_peer_address)] = Field(
        description="Its address. Its card is at `/.well-known/agent-card.json` there. A private one needs `egress.allow`."
    )
    token: Secret = Field(default=None, description='Sent to it as "Authorization: Bearer", and nowhere else.')
    token_env: str = Field(default="", description="Name of the variable or sealed secret that holds `token`.")
    card_name: str = Field(default="", description="Name that its card must have. Default: `name`.")
    timeout_seconds: Number = Field(
        default=300, ge=30, le=3600, description="Longest wait of one call for its task. A later call looks again."
    )

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)

    @property
    def terms(self) -> PeerTerms:
        from tools.peers.cards import PeerTerms

        token = self.token.get_secret_value() if self.token else ""
        return PeerTerms(self.name, self.url, token, self.card_name, self.timeout)
