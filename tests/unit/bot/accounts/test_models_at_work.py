"""A process with two models, one of which refuses its key: people are answered, and operators are told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.operator.local import opened
from bot.settings.settings import Settings, load
from bot.testing.openai.server import OpenAI, Reply
from bot.testing.serve import serving
from tests.fakes.anthropic import Anthropic
from tests.unit.bot.accounts.test_accounts_at_work import Chat, running
from tests.unit.bot.accounts.test_supervisor import until

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]


def settings_in(folder: Path, first: str, second: str, key: str) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text(
        f'[model]\nname = "openai/gpt-4o"\napi_base = "{first}/v1"\napi_key = "{key}"\nfallbacks = ["sonnet"]\n'
        f'[[models]]\nname = "sonnet"\nmodel = "anthropic/claude-sonnet-4-5"\napi_base = "{second}"\napi_key = "k2"\n',
        encoding="utf-8",
    )
    given = {"web.port": 0, "data_dir": str(folder), "nodes.lease_seconds": 30, "access.default": "allow"}
    settings = load(file, overrides=given, environ={}, folder=folder)
    told = settings.operators.model_copy(update={"room": "fake:a/ops"})
    return settings.model_copy(update={"operators": told})


def shown(chat: Chat, room: str) -> list[str]:
    return [part.body for part in chat.shown if str(part.address).endswith(room)]


async def test_a_refused_key_is_told_to_operators_once_and_ends_with_another(tmp_path: Path) -> None:
    first, second = OpenAI(lambda _: Reply("I am the first.")), Anthropic(lambda _: Reply("I stand in."))
    first.revoked.add("revoked-key")
    async with serving(first.app()) as one, serving(second.app()) as other:
        chat = Chat("a", "A1")
        async with running(tmp_path, chat, settings=settings_in(tmp_path, one, other, "revoked-key")):
            await chat.say("hello")
            await until(lambda: shown(chat, "/desk") and shown(chat, "/ops"))
        assert shown(chat, "/desk") == ["I stand in."]
        [told] = shown(chat, "/ops")
        assert told.startswith("**The model openai/gpt-4o isn't in use** until its settings or its key change.")
        assert told.endswith("`signalbox models clear openai/gpt-4o`")
        again = Chat("a", "A1")
        async with running(tmp_path, again, settings=settings_in(tmp_path, one, other, "revoked-key")):
            await again.say("still there?")
            await until(lambda: shown(again, "/desk"))
        assert (shown(again, "/desk"), shown(again, "/ops")) == (["I stand in."], [])
        assert len(first.requests) == 1
        mended = Chat("a", "A1")
        async with running(tmp_path, mended, settings=settings_in(tmp_path, one, other, "another-key")):
            await mended.say("and now?")
            await until(lambda: shown(mended, "/desk"))
        assert shown(mended, "/desk") == ["I am the first."]


async def test_a_spent_budget_is_told_to_who_asks_and_to_operators_once(tmp_path: Path) -> None:
    vendor = OpenAI(lambda _: Reply("Here you are."))
    async with serving(vendor.app()) as one:
        settings = settings_in(tmp_path, one, one, "k1")
        section = settings.budgets.model_copy(update={"room_day": 0.0001, "day": 5.0})
        settings = settings.model_copy(update={"budgets": section})
        chat = Chat("a", "A1")
        async with running(tmp_path, chat, settings=settings):
            for number in range(3):
                await chat.say(f"question {number}")
                await answered(chat, "/desk", number + 1)
        *answers, last = [text for text in shown(chat, "/desk") if "nearly spent" not in text]
        assert answers == ["Here you are."] * 2  # each costs 98 millionths of a dollar
        assert last.startswith("I stopped here: this room's budget for today is spent ($0.0002 of $0.0001).")
        assert len(vendor.requests) == 2
        told = list[str]()
        for number in range(2):
            again = Chat("a", "A1")
            async with running(tmp_path, again, settings=settings):
                await again.say(f"and now, {number}?")
                await answered(again, "/desk", 1)
                if not number:
                    await answered(again, "/ops", 1)
            told += shown(again, "/ops")
        assert [text.partition(" is spent**")[0] for text in told] == ["**Today's budget of fake:a/desk"]
        assert len(vendor.requests) == 2
        await listed(settings)


async def answered(chat: Chat, room: str, times: int) -> None:
    await until(lambda: sum("nearly spent" not in text for text in shown(chat, room)) >= times)


async def listed(settings: Settings) -> None:
    """Rows of `signalbox budgets`, also while nothing runs."""
    async with opened(settings) as api:
        room, day = sorted(await api.budgets(), key=lambda row: str(row["budget"]), reverse=True)
    assert (room["budget"], room["whose"], room["state"], room["left"]) == ("room_day", "fake:a/desk", "spent", 0)
    assert (day["budget"], day["whose"], day["state"]) == ("day", "", "ok")
    assert (day["used"], day["limit"], day["under_way"]) == (0.000196, 5.0, 0)
