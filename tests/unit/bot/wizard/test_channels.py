"""The step of channels in `signalbox init`: the real adapters ask the fake platforms whether an account works."""

from __future__ import annotations

import asyncio
import threading
import tomllib
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot.cli.init import _pair
from bot.plugins.channels import BUILT_IN
from bot.secrets.keys import Keyring
from bot.settings.settings import load
from bot.wizard.channels import ask_channels
from bot.wizard.dialogue import ByFlags
from bot.wizard.draft import Draft, Flags, Kept
from bot.wizard.write import write_settings
from runtime.errors import BotError, ConfigError
from tests.contract.adapters.rig import Rig, Trouble
from tests.contract.adapters.rigs.slack import SlackRig
from tests.unit.bot.doctor.test_channels import MAKERS
from tests.unit.bot.settings.test_accounts import APP, BOT, DISCORD, TELEGRAM
from tests.unit.bot.wizard.test_wizard import Scripted

T = TypeVar("T")


class Platform:
    """A fake platform in a thread of its own, since each look of the wizard has an event loop of its own."""

    def __init__(self, channel: str, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._made: AbstractAsyncContextManager[Rig] = MAKERS[channel](folder)
        self.rig = self.do(self._made.__aenter__())
        self.table = dict(self.rig.settings())
        self.channel = channel
        self.name = str(self.table["name"])
        self.server = str(self.table["api_base_url"])
        self.tokens = [str(self.table[setting]) for setting in BUILT_IN[channel].needed()]

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def close(self) -> None:
        self.do(self._made.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(params=list(BUILT_IN))
def platform(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Platform]:
    made = Platform(request.param, tmp_path)
    yield made
    made.close()


@pytest.fixture
def slack(tmp_path: Path) -> Iterator[Platform]:
    made = Platform("slack", tmp_path)
    yield made
    made.close()


def draft_in(folder: Path, flags: Flags | None = None, **variables: str) -> Draft:
    keyring = Keyring(variable="sesame-open-the-door", key_file=folder / "config" / "secrets.key")
    return Draft(flags or Flags(), folder / "signalbox.toml", variables, keyring)


def at(platform: Platform) -> Flags:
    return Flags(servers={platform.channel: platform.server})


def written(draft: Draft) -> list[dict[str, Any]]:
    write_settings(draft)
    tables: list[dict[str, Any]] = tomllib.loads(draft.file.read_text()).get("accounts", [])
    return tables


# ----------------------------------------------------------------------------------------------------- what is answered


def test_who_wants_none_has_none(tmp_path: Path) -> None:
    draft = draft_in(tmp_path)
    ask_channels(draft, Scripted(""))
    assert written(draft) == []


def test_an_account_that_works_is_written_down_and_its_tokens_sealed(platform: Platform, tmp_path: Path) -> None:
    draft, person = draft_in(tmp_path, at(platform)), Scripted(platform.channel, "mine", *platform.tokens, "none")
    ask_channels(draft, person)
    [table] = written(draft)
    assert (table["name"], table["channel"], table["api_base_url"]) == ("mine", platform.channel, platform.server)
    sealed = {kept.setting: kept.value for kept in draft.secrets.values()}
    assert sealed == {f"accounts.mine.{s}": str(platform.table[s]) for s in BUILT_IN[platform.channel].needed()}
    assert all(f"{name}_env" in table for name in BUILT_IN[platform.channel].needed())
    assert not any(token in f"{person.told} {draft!r} {draft.toml()}" for token in platform.tokens)
    variables = {name: kept.value for name, kept in draft.secrets.items()}
    assert [account.name for account in load(draft.file, environ=variables).accounts] == ["mine"]


def test_a_refused_token_is_told_and_another_may_be_given(platform: Platform, tmp_path: Path) -> None:
    class Mended(Scripted):
        """Once the trouble is told, the platform takes the token."""

        def choose(self, trouble: str, choices: Any) -> str:
            platform.do(platform.rig.lift())
            return super().choose(trouble, choices)

    platform.do(platform.rig.fault(Trouble.TOKEN))
    draft = draft_in(tmp_path, at(platform))
    person = Mended(platform.channel, "", *platform.tokens, "again", "", *platform.tokens, "none")
    ask_channels(draft, person)
    assert "To fix it: " in person.told
    assert [table["name"] for table in written(draft)] == [platform.channel]
    assert len(draft.secrets) == len(platform.tokens)


@pytest.mark.parametrize(("choice", "accounts"), [("leave", 0), ("keep", 1)])
def test_a_platform_that_is_away_may_be_left_out_or_kept(
    platform: Platform, tmp_path: Path, choice: str, accounts: int
) -> None:
    platform.do(platform.rig.fault(Trouble.AWAY))
    draft = draft_in(tmp_path, at(platform))
    ask_channels(draft, Scripted(platform.channel, "", *platform.tokens, choice, "none"))
    assert len(written(draft)) == accounts
    assert bool(draft.secrets) is bool(accounts)


def test_a_missing_scope_is_named_with_its_fix(slack: Platform, tmp_path: Path) -> None:
    assert isinstance(slack.rig, SlackRig)
    slack.do(slack.rig.driver.switch(without=["chat:write"]))
    person = Scripted("slack", "", *slack.tokens, "leave", "none")
    ask_channels(draft_in(tmp_path, at(slack)), person)
    assert "the app is missing the scope chat:write. To fix it: Use config/slack-manifest.yaml" in person.told


def test_swapped_tokens_are_told_before_anybody_is_asked(slack: Platform, tmp_path: Path) -> None:
    bot, app = slack.tokens
    draft, person = draft_in(tmp_path, at(slack)), Scripted("slack", "", app, bot, bot, app, "none")
    ask_channels(draft, person)
    assert "this is a Slack app-level token" in person.told
    assert "this is a Slack bot token" in person.told
    assert len(written(draft)) == 1


def test_a_token_that_is_not_given_leaves_the_channel_out(tmp_path: Path) -> None:
    draft, person = draft_in(tmp_path), Scripted("slack", "", BOT, "", "none")
    ask_channels(draft, person)
    assert "Slack is left out." in person.told
    assert (written(draft), draft.secrets) == ([], {})


def test_what_is_no_channel_and_no_name_is_asked_again(platform: Platform, tmp_path: Path) -> None:
    draft = draft_in(tmp_path, at(platform))
    person = Scripted("irc", platform.channel.upper(), "My Bot", "my-bot", *platform.tokens, "")
    ask_channels(draft, person)
    assert "irc isn't a channel of this release. The channels are: telegram, slack, discord." in person.told
    assert "lowercase letters, digits and dashes" in person.told
    assert [table["name"] for table in written(draft)] == ["my-bot"]


# -------------------------------------------------------------------------------------------------- what is there already


def test_a_token_in_the_environment_is_used_and_not_sealed(platform: Platform, tmp_path: Path) -> None:
    usual = {
        "telegram": ["TELEGRAM_BOT_TOKEN"],
        "slack": ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"],
        "discord": ["DISCORD_BOT_TOKEN"],
    }
    variables = dict(zip(usual[platform.channel], platform.tokens, strict=True))
    draft, person = draft_in(tmp_path, at(platform), **variables), Scripted("", "", "")
    ask_channels(draft, person)
    assert [table["channel"] for table in written(draft)] == [platform.channel]
    assert draft.secrets == {}
    assert all(f"found in {name}." in person.told for name in variables)


@pytest.mark.parametrize("wrong", ["7000:short", "1234567890:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc"])
def test_a_token_that_stands_in_for_a_wrong_one_of_the_environment_has_another_name(tmp_path: Path, wrong: str) -> None:
    made = Platform("telegram", tmp_path)
    try:
        draft = draft_in(tmp_path, at(made), TELEGRAM_BOT_TOKEN=wrong)
        again = [] if "short" in wrong else ["again", "tg"]
        ask_channels(draft, Scripted("telegram", "tg", *again, *made.tokens, "none"))
        [table] = written(draft)
        assert list(draft.secrets) == ["TG_TELEGRAM_BOT_TOKEN"] == [table["token_env"]]
        settings = load(draft.file, environ={"TELEGRAM_BOT_TOKEN": wrong, "TG_TELEGRAM_BOT_TOKEN": made.tokens[0]})
        assert settings.secret_values() == made.tokens
    finally:
        made.close()


def test_two_accounts_of_a_channel_keep_their_tokens_apart(tmp_path: Path) -> None:
    draft = draft_in(tmp_path, Flags(try_channels=False))
    other = TELEGRAM.replace("1234567890", "1234567891")
    ask_channels(draft, Scripted("telegram", "", TELEGRAM, "telegram", "", other, "none"))
    tables = written(draft)
    assert [table["name"] for table in tables] == ["telegram", "telegram-2"]
    assert draft.secrets["TELEGRAM_BOT_TOKEN"] == Kept(TELEGRAM, "accounts.telegram.token")
    assert draft.secrets["TELEGRAM_2_TELEGRAM_BOT_TOKEN"] == Kept(other, "accounts.telegram-2.token")
    assert [table["token_env"] for table in tables] == list(draft.secrets)


# ------------------------------------------------------------------------------------------------------------- by flags


def test_flags_need_nobody_at_the_terminal(tmp_path: Path) -> None:
    flags = Flags(channels=("telegram", "slack", "discord"), try_channels=False)
    variables = {
        "TELEGRAM_BOT_TOKEN": TELEGRAM,
        "SLACK_BOT_TOKEN": BOT,
        "SLACK_APP_TOKEN": APP,
        "DISCORD_BOT_TOKEN": DISCORD,
    }
    draft = draft_in(tmp_path, flags, **variables)
    ask_channels(draft, ByFlags())
    assert [table["channel"] for table in written(draft)] == ["telegram", "slack", "discord"]


def test_without_a_flag_nobody_makes_up_a_channel(tmp_path: Path) -> None:
    draft = draft_in(tmp_path)
    ask_channels(draft, ByFlags())
    assert written(draft) == []


def test_a_token_that_is_missing_ends_it_with_the_variables_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--channel: SLACK_APP_TOKEN is not set here"):
        ask_channels(draft_in(tmp_path, Flags(channels=("slack",)), SLACK_BOT_TOKEN=BOT), ByFlags())


def test_a_platform_that_refuses_ends_it_before_anything_is_written(platform: Platform, tmp_path: Path) -> None:
    platform.do(platform.rig.fault(Trouble.TOKEN))
    variables = dict(zip(("TELEGRAM_BOT_TOKEN",), platform.tokens, strict=False))
    if platform.channel == "slack":
        variables = {"SLACK_BOT_TOKEN": platform.tokens[0], "SLACK_APP_TOKEN": platform.tokens[1]}
    if platform.channel == "discord":
        variables = {"DISCORD_BOT_TOKEN": platform.tokens[0]}
    flags = Flags(channels=(platform.channel,), servers={platform.channel: platform.server})
    with pytest.raises(BotError, match="Nothing was written"):
        ask_channels(draft_in(tmp_path, flags, **variables), ByFlags())


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (Flags(channels=("irc",)), "--channel: irc isn't a channel of this release"),
        (Flags(channels=("telegram",), servers={"telegram": "nowhere"}), "--channel-server: telegram=nowhere"),
    ],
)
def test_a_flag_that_does_not_fit_is_named(tmp_path: Path, flags: Flags, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        ask_channels(draft_in(tmp_path, flags, TELEGRAM_BOT_TOKEN=TELEGRAM), ByFlags())


def test_a_server_is_given_for_a_channel() -> None:
    assert _pair("slack=http://127.0.0.1:1/api/") == ("slack", "http://127.0.0.1:1/api/")
    with pytest.raises(ConfigError, match="CHANNEL=URL"):
        _pair("slack")
