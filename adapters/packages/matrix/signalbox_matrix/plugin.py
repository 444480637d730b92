"""Matrix as the program knows it: its table of settings, its token, and the adapter that comes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from signalbox.channels import (
    Account,
    AccountSecret,
    AdapterContext,
    ChannelAdapter,
    ChannelPlugin,
    Finding,
    Secret,
    TokenForm,
    is_http_address,
    of_form,
)
from signalbox_matrix.settings import MatrixSettings

ACCESS_TOKEN: Final = TokenForm(
    "a Matrix access token",
    # Homeservers make them as they like: Synapse "syt_…", its authentication service "mct_…".
    re.compile(r"(?:syt|mct)_[\x21-\x7e]+"),
    looks="without blanks, from the answer to the bot's login",
    begins=re.compile(r"(?:syt|mct|mat)_"),
    vague=True,
)


def _address(url: str) -> str:
    if url and not is_http_address(url):
        raise ValueError('the address of the homeserver, such as "https://matrix.example.org"')
    return url


class MatrixAccount(Account):
    """A Matrix bot user: [channels/matrix.md](channels/matrix.md)."""

    channel: Literal["matrix"] = Field(description="This table is for a Matrix bot user.")
    homeserver: Annotated[str, AfterValidator(_address)] = Field(
        default="", description="Address of its homeserver, such as `https://matrix.example.org`."
    )
    token: Annotated[Secret, of_form(ACCESS_TOKEN)] = Field(default=None, description="The bot's access token.")
    token_env: str = Field(
        default="",
        description="Name of the variable or sealed secret that holds `token`. Default: MATRIX_ACCESS_TOKEN.",
    )


def settings_of(account: MatrixAccount) -> MatrixSettings:
    return MatrixSettings(
        account=account.name, homeserver=account.api_base_url or account.homeserver, token=account.secret("token")
    )


def make(account: MatrixAccount, given: AdapterContext) -> ChannelAdapter:
    from signalbox_matrix.adapter import MatrixAdapter

    return MatrixAdapter(settings_of(account), given)


async def check(account: MatrixAccount) -> Sequence[Finding]:
    from signalbox_matrix.checks import checked

    return await checked(settings_of(account))


def faults(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not table.get("homeserver") and not table.get("api_base_url"):
        yield "homeserver", 'is missing; set the address of the bot\'s homeserver, such as "https://matrix.example.org"'


PLUGIN: Final = ChannelPlugin(
    "matrix",
    "Matrix",
    MatrixAccount,
    make,
    secrets={"token": AccountSecret(ACCESS_TOKEN, "MATRIX_ACCESS_TOKEN", "Access token")},
    setup="Register a user for the bot, and log it in for its access token. More: docs/channels/matrix.md",
    faults=faults,
    check=check,
)
