"""A model whose key is the token of a sign-in: real LiteLLM, a vendor and an issuer on the wire, and a store between them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from bot.testing.openai.server import OpenAI
from bot.testing.serve import serving
from bot.wiring.logins.tokens import LoginTokens, new_grant
from runtime.contract import ModelRequest, UserTurn
from runtime.domain.ids import new_id
from runtime.errors import Cause, ModelFailed
from runtime.guard.sealing import Sealer
from runtime.models.account.tokens import OAUTH_KEY
from runtime.models.litellm_loading import LIBRARY
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings
from runtime.oauth.client import IssuerClient
from runtime.oauth.issuer import IssuerTerms
from runtime.store.store import Store, open_store
from tests.fakes.issuer import CLIENT, FakeIssuer, issuer

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),  # LiteLLM sets this filter itself; pytest resets it
]
KEY: Final = Sealer(b"k" * 32)


@dataclass
class Rig:
    """A model at a vendor who takes the tokens of one issuer."""

    at: FakeIssuer
    vendor: OpenAI
    store: Store
    model: LiteModel
    slept: list[float] = field(default_factory=list)
    back_after: int = 0

    async def sleep(self, seconds: float) -> None:
        """The issuer comes back after so many waits."""
        self.slept.append(seconds)
        if len(self.slept) == self.back_after:
            self.at.away = False

    async def ask(self) -> str:
        return (await self.model.reply(ModelRequest("be kind", [UserTurn("hi")], []), lambda _: None)).text

    async def fail(self) -> ModelFailed:
        with pytest.raises(ModelFailed) as raised:
            await self.ask()
        assert not any(token in f"{raised.value} {raised.value.detail}" for token in self.at.tokens)
        return raised.value

    def refuse_all(self) -> None:
        """The vendor takes no token that was given so far."""
        self.vendor.revoked |= set(self.at.tokens)


@asynccontextmanager
async def rig(life: float = 3600) -> AsyncIterator[Rig]:
    store, vendor = await open_store("sqlite:///:memory:"), OpenAI()
    await LIBRARY.get()
    async with issuer(life=life) as at, serving(vendor.app()) as url:

        def client() -> IssuerClient:
            return IssuerClient(IssuerTerms("v", CLIENT, issuer=at.url), now=lambda: datetime.now(UTC))

        endpoints = await client().endpoints()
        grant = await client().by_device(endpoints, await client().device_code(endpoints))
        await store.logins.keep_login("v", new_grant(KEY, "v", grant), at.url, "Ada")
        tokens = LoginTokens("v", book=store.logins, client=client, sealer=lambda: KEY, now=store.now, new_id=new_id)
        found = Rig(at, vendor, store, LiteModel(ModelSettings("openai/gpt-4o")))
        given = ModelSettings("openai/gpt-4o", f"{url}/v1", login="v", tokens=tokens, timeout=timedelta(seconds=20))
        found.model = LiteModel(given, sleep=found.sleep)
        yield found
    await store.close()


async def test_the_token_is_filled_in_when_the_model_is_asked() -> None:
    async with rig() as it:
        await it.ask()
        assert it.vendor.keys == [f"Bearer {token}" for token in it.at.tokens]
        assert OAUTH_KEY not in "".join(it.vendor.keys)


async def test_a_refused_token_is_renewed_once_and_the_model_asked_again() -> None:
    async with rig() as it:
        it.refuse_all()
        await it.ask()
        assert len(it.vendor.keys) == 2
        assert it.slept == []
        assert it.at.seen.count("refresh_token") == 1


async def test_a_fresh_token_that_is_refused_too_tells_operators_what_to_do() -> None:
    async with rig() as it:
        it.vendor.revoked = _Everything()
        error = await it.fail()
        assert str(error).endswith("refused, also once it was renewed. Sign in again: signalbox login v")
        assert error.cause is Cause.AUTH
        assert len(it.vendor.keys) == 2
        assert (await it.store.logins.logins())[0].trouble == str(error)


async def test_an_issuer_that_is_away_is_waited_for_and_then_told() -> None:
    async with rig(life=0.001) as it:  # a token is over before it is used
        it.at.away, it.back_after = True, 1
        assert await it.ask() == "You said: hi"
        assert len(it.slept) == 1
        it.at.away, it.back_after = True, 99
        error = await it.fail()
        assert str(error) == "The token of the sign-in v could not be renewed: its issuer answered 503."
        assert error.cause is Cause.AWAY
        assert len(it.vendor.keys) == 1


class _Everything(set[str]):
    def __contains__(self, one: object) -> bool:
        return True
