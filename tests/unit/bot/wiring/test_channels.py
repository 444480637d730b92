"""Accounts of the settings become adapters with what belongs to them, and nothing is loaded for channels nobody has."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest

from bot.accounts.supervisor import AccountSupervisor
from bot.plugins.channels import BUILT_IN
from bot.settings.settings import Settings, load
from bot.wiring.channels import adapters_of, buckets_of
from runtime.contract import Address, Bucket, ChannelAdapter, ChannelPlugin, Features
from runtime.errors import ConfigError
from tests.fakes.fresh import SERVING, AllFresh
from tests.fakes.nothing import given_nothing
from tests.unit.bot.accounts.test_supervisor import Plain
from tests.unit.bot.settings.test_accounts import MINE, SIGNING, TELEGRAM, THREE

SDKS = ("telegram", "slack_sdk", "slack_bolt", "discord")
LOOK = """
import sys
from pathlib import Path
from tests.fakes.nothing import given_nothing
from bot.server.app import build
from bot.wiring.channels import adapters_of
from bot.settings.settings import Settings, load
settings = load(Path(sys.argv[1]), environ={})
adapters_of(settings)(given_nothing())
print(*[name for name in sys.argv[2:] if name in sys.modules])
"""


def settings_of(folder: Path, text: str, **variables: str) -> Settings:
    (folder / "signalbox.toml").write_text(text)
    return load(folder / "signalbox.toml", environ=variables)


def test_each_account_becomes_an_adapter_of_its_channel(tmp_path: Path) -> None:
    made = adapters_of(settings_of(tmp_path, THREE, **MINE))(given_nothing())
    assert [(a.channel, a.account, a.identity) for a in made] == [
        ("telegram", "tg", "1234567890"),
        ("slack", "work", ""),
        ("discord", "guild", "123456789012345678"),
    ]


def test_an_account_that_is_off_is_not_made(tmp_path: Path) -> None:
    text = THREE.replace('name = "tg"', 'name = "tg"\nenabled = false')
    assert [a.account for a in adapters_of(settings_of(tmp_path, text, **MINE))(given_nothing())] == ["work", "guild"]


def test_signed_requests_need_no_app_token(tmp_path: Path) -> None:
    text = f'[[accounts]]\nname = "w"\nchannel = "slack"\nmode = "http"\nsigning_secret = "{SIGNING}"\n'
    [made] = adapters_of(settings_of(tmp_path, text, SLACK_BOT_TOKEN=MINE["MY_BOT"]))(given_nothing())
    assert made.account == "w"


def test_a_token_that_is_not_at_hand_is_named_and_not_made_up(tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text(THREE)
    settings = load(tmp_path / "signalbox.toml", environ={}, demand=())
    with pytest.raises(ConfigError, match='account "work": bot_token is missing'):
        adapters_of(settings)(given_nothing())


def test_a_channel_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adapters.telegram.adapter", None)
    with pytest.raises(ConfigError, match='account "tg": the channel telegram is not part of this build'):
        adapters_of(settings_of(tmp_path, THREE, **MINE))(given_nothing())


def test_a_webhooks_secret_is_the_same_after_a_restart_and_not_the_token(tmp_path: Path) -> None:
    hook = 'mode = "webhook"\nwebhook_url = "https://bot.example.org"\n'
    text = f'[[accounts]]\nname = "tg"\nchannel = "telegram"\n{hook}token = "{TELEGRAM}"\n'
    [first], [second] = (adapters_of(settings_of(tmp_path, text))(given_nothing()) for _ in range(2))
    secrets = {adapter._settings.webhook_secret for adapter in (first, second)}  # type: ignore[attr-defined]
    assert len(secrets) == 1
    assert TELEGRAM.partition(":")[2] not in secrets.pop()


@pytest.mark.xdist_group("fresh")
@pytest.mark.parametrize(
    ("table", "loaded"),
    [
        ("", []),
        (f'[[accounts]]\nname = "a"\nchannel = "telegram"\ntoken = "{TELEGRAM}"\n', ["telegram"]),
        (
            f'[[accounts]]\nname = "a"\nchannel = "slack"\nbot_token = "{MINE["MY_BOT"]}"\napp_token = "{MINE["MY_APP"]}"\n',
            ["slack_sdk", "slack_bolt"],
        ),
        (f'[[accounts]]\nname = "a"\nchannel = "discord"\ntoken = "{MINE["MY_DISCORD"]}"\n', ["discord"]),
    ],
    ids=["none", "telegram", "slack", "discord"],
)
def test_only_the_library_of_a_channel_that_is_used_is_loaded(
    tmp_path: Path, fresh: AllFresh, table: str, loaded: list[str]
) -> None:
    file = tmp_path / "signalbox.toml"
    file.write_text(table)
    told = fresh.after(*SERVING).run(LOOK, str(file), *SDKS)
    assert (told.stdout.split(), told.returncode) == (loaded, 0), told.stderr


# ------------------------------------------------------------------------------------------------------------- bounds

ROOM = Address("telegram", "7", "1")
ITS_OWN = Bucket("chat:1", 1, timedelta(seconds=1))


class Bound(Plain):
    channel, account = "telegram", "tg"

    def features(self) -> Features:
        return Features(buckets=self.buckets)

    def buckets(self, address: Address) -> Sequence[Bucket]:
        return [ITS_OWN]


class Free(Plain):
    channel, account = "telegram", "tg"


def supervised(adapter: Plain, settings: Settings) -> AccountSupervisor:
    async def nobody(role: str) -> None: ...

    async def unnoted(known: ChannelAdapter) -> None: ...

    return AccountSupervisor(adapter, take=nobody, on_learnt=unnoted, buckets=buckets_of(settings, adapter))


@pytest.mark.parametrize("adapter", [Bound(), Free()])
@pytest.mark.parametrize(("most", "bucket"), [("0.5", (1, timedelta(seconds=2))), ("4", (4, timedelta(seconds=0.25)))])
def test_the_bound_of_the_settings_stands_in_place_of_the_platforms(
    tmp_path: Path, adapter: Plain, most: str, bucket: tuple[int, timedelta]
) -> None:
    text = THREE.replace('name = "tg"', f'name = "tg"\nmessages_per_second = {most}')
    buckets = supervised(adapter, settings_of(tmp_path, text, **MINE)).features().buckets
    assert buckets is not None
    [only] = buckets(ROOM)
    assert (only.burst, only.every) == bucket


def test_without_a_bound_the_platforms_own_hold(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, THREE, **MINE)
    assert supervised(Free(), settings).features().buckets is None
    buckets = supervised(Bound(), settings).features().buckets
    assert buckets is not None
    assert buckets(ROOM) == [ITS_OWN]


# ------------------------------------------------------------------------------------------------------------ plugins


@pytest.mark.parametrize("plugin", BUILT_IN.values(), ids=BUILT_IN)
def test_a_plugin_says_of_its_table_what_the_table_says(plugin: ChannelPlugin) -> None:
    fields = plugin.settings.model_fields
    assert get_args(fields["channel"].annotation) == (plugin.channel,)
    assert all(name in fields and f"{name}_env" in fields for name in plugin.secrets)
    if plugin.modes:
        assert get_args(fields["mode"].annotation) == tuple(plugin.modes)
        assert fields["mode"].default == plugin.modes[0]
    for secret in plugin.secrets.values():
        assert set(secret.modes) <= set(plugin.modes)
        assert secret.title
        assert secret.form.looks
        assert all(
            secret.variable in fields[f"{name}_env"].description
            for name in plugin.secrets
            if plugin.secrets[name] is secret
        )


def test_what_an_account_needs_follows_its_mode() -> None:
    slack = BUILT_IN["slack"]
    assert (
        list(slack.needed())
        == list(slack.needed("socket"))
        == list(slack.needed(["no mode"]))
        == ["bot_token", "app_token"]
    )
    assert list(slack.needed("http")) == ["bot_token", "signing_secret"]
