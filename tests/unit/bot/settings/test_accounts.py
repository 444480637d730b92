"""Accounts in the settings: which there are, where their tokens come from, and every slip told at once without a token."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.discord import plugin as discord
from adapters.discord.plugin import DiscordAccount
from adapters.slack import plugin as slack
from adapters.slack.plugin import SlackAccount
from adapters.telegram import plugin as telegram
from adapters.telegram.plugin import TelegramAccount
from bot.plugins.channels import token_forms
from bot.secrets.file import SealedFile
from bot.secrets.keys import Passphrase
from bot.secrets.sealed import Entry, Lock
from bot.server.reload import differences
from bot.settings.faults import MASK
from bot.settings.secrets import asked_for
from bot.settings.settings import Settings, load, load_usable
from runtime.contract import TokenForm
from runtime.errors import ConfigError
from runtime.settings.token_forms import fault_of, kind_of
from tests.unit.bot.settings.test_settings import ROOT, faults, read, write

TELEGRAM = "1234567890:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc"
BOT = "xoxb-1111-2222-abcdefABCDEF"
APP = "xapp-1-A111-2222-abcdef"
SIGNING = "0123456789abcdef0123456789abcdef"
DISCORD = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0123456789AB"
TOKENS = (TELEGRAM, BOT, APP, SIGNING, DISCORD)

THREE = f"""
[[accounts]]
name = "tg"
channel = "telegram"
token = "{TELEGRAM}"

[[accounts]]
name = "work"
channel = "slack"
bot_token_env = "MY_BOT"
app_token_env = "MY_APP"

[[accounts]]
name = "guild"
channel = "discord"
token_env = "MY_DISCORD"
"""
MINE = {"MY_BOT": BOT, "MY_APP": APP, "MY_DISCORD": DISCORD}


def sealed_at() -> datetime:
    return datetime(2026, 11, 1, tzinfo=UTC)


def values(settings: Settings) -> dict[str, list[str]]:
    """The secrets of each account."""
    found = {}
    for account in settings.accounts:
        match account:
            case TelegramAccount(token=token) | DiscordAccount(token=token):
                secrets = [token]
            case SlackAccount(bot_token=bot, app_token=app, signing_secret=signing):
                secrets = [bot, app, signing]
            case _:
                raise AssertionError(account)
        found[account.name] = [secret.get_secret_value() for secret in secrets if secret]
    return found


# ---------------------------------------------------------------------------------------------------- where they are


def test_each_channel_has_a_table_of_its_own(tmp_path: Path) -> None:
    settings = read(tmp_path, THREE, **MINE)
    assert [type(account) for account in settings.accounts] == [TelegramAccount, SlackAccount, DiscordAccount]
    assert values(settings) == {"tg": [TELEGRAM], "work": [BOT, APP], "guild": [DISCORD]}


def test_where_each_token_came_from_is_known(tmp_path: Path) -> None:
    settings = read(tmp_path, THREE, **MINE)
    assert settings.source("accounts[1].token") == str(tmp_path / "signalbox.toml")
    assert settings.source("accounts[2].app_token") == "MY_APP"
    assert settings.source("accounts[2].enabled") == str(tmp_path / "signalbox.toml")


@pytest.mark.parametrize(
    ("variables", "names"),
    [
        ({}, []),
        ({"TELEGRAM_BOT_TOKEN": TELEGRAM}, ["telegram"]),
        ({"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP}, ["slack"]),
        ({"DISCORD_BOT_TOKEN": DISCORD}, ["discord"]),
        ({"SLACK_BOT_TOKEN": BOT}, []),
        ({"TELEGRAM_BOT_TOKEN": TELEGRAM, "DISCORD_BOT_TOKEN": DISCORD}, ["telegram", "discord"]),
    ],
)
def test_the_usual_variables_alone_make_an_account(tmp_path: Path, variables: dict[str, str], names: list[str]) -> None:
    settings = load(environ=variables, folder=tmp_path)
    assert [account.name for account in settings.accounts] == names
    assert sorted(settings.secret_values()) == sorted(variables.values() if names else [])


def test_a_table_of_a_channel_leaves_no_room_for_one_of_its_variables(tmp_path: Path) -> None:
    text = f'[[accounts]]\nname = "tg"\nchannel = "telegram"\ntoken = "{TELEGRAM}"\n'
    settings = read(tmp_path, text, TELEGRAM_BOT_TOKEN="7:other", DISCORD_BOT_TOKEN=DISCORD)
    assert values(settings) == {"tg": [TELEGRAM], "discord": [DISCORD]}


def test_a_table_that_names_no_variable_finds_the_usual_one(tmp_path: Path) -> None:
    text = '[[accounts]]\nname = "work"\nchannel = "slack"\nmode = "http"\n'
    settings = read(tmp_path, text, SLACK_BOT_TOKEN=BOT, SLACK_SIGNING_SECRET=SIGNING, SLACK_APP_TOKEN=APP)
    assert values(settings) == {"work": [BOT, SIGNING]}


def test_an_account_that_is_off_needs_no_token_and_keeps_its_variable_from_making_another(tmp_path: Path) -> None:
    text = '[[accounts]]\nname = "tg"\nchannel = "telegram"\nenabled = false\ntoken_env = "NONE"\n'
    settings = read(tmp_path, text, TELEGRAM_BOT_TOKEN=TELEGRAM)
    assert [(account.name, account.enabled) for account in settings.accounts] == [("tg", False)]


def test_a_token_may_be_sealed_or_handed_over(tmp_path: Path) -> None:
    sealed = SealedFile(tmp_path / "var" / "secrets.sealed")
    opened = sealed.make(Passphrase("sesame", "test"), Lock.PASSPHRASE)
    sealed.change(opened, lambda entries: entries.update({"MY_APP": Entry(APP, sealed_at())}))
    handed = tmp_path / "handed"
    handed.mkdir()
    (handed / "MY_BOT").write_text(f"{BOT}\n")
    text = f'[secrets]\nfolder = "handed"\n{THREE}'
    settings = read(tmp_path, text, MY_DISCORD=DISCORD, SIGNALBOX_SECRETS_PASSPHRASE="sesame")
    assert values(settings)["work"] == [BOT, APP]
    assert "secrets.sealed" in settings.source("accounts[2].app_token")


def test_what_is_handed_over_under_a_usual_name_makes_an_account(tmp_path: Path) -> None:
    (tmp_path / "TELEGRAM_BOT_TOKEN").write_text(TELEGRAM)
    assert values(read(tmp_path, '[secrets]\nfolder = "."\n')) == {"telegram": [TELEGRAM]}


def test_a_client_of_the_process_needs_no_token(tmp_path: Path) -> None:
    settings = load(write(tmp_path, THREE), environ={}, demand=())
    assert values(settings) == {"tg": [TELEGRAM], "work": [], "guild": []}


def test_a_process_for_one_question_leaves_the_accounts_alone(tmp_path: Path) -> None:
    settings = read(tmp_path, THREE, **MINE).for_one_question()
    assert (settings.accounts, settings.web.host, settings.web.port) == ((), "127.0.0.1", 0)


def test_one_variable_holds_all_accounts(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        THREE,
        SIGNALBOX_ACCOUNTS='[{channel = "telegram", name = "other", token_env = "SIGNALBOX_TG"}]',
        SIGNALBOX_TG=TELEGRAM,
    )
    assert values(settings) == {"other": [TELEGRAM]}


def test_a_setting_of_one_account_has_no_variable(tmp_path: Path) -> None:
    told = faults(tmp_path, THREE, **MINE, SIGNALBOX_ACCOUNTS__1__TOKEN="x")
    assert "SIGNALBOX_ACCOUNTS__1__TOKEN: there is no such variable; SIGNALBOX_ACCOUNTS holds all of accounts" in told


# --------------------------------------------------------------------------------------------------------- they are kept


def test_tokens_of_accounts_are_masked_wherever_settings_are_shown(tmp_path: Path) -> None:
    settings = read(tmp_path, THREE, **MINE)
    shown = f"{settings!r} {settings} {settings.shown()} {settings.accounts[1]!r}"
    assert not any(token in shown for token in TOKENS)
    assert settings.shown()["accounts"][1]["bot_token"] == MASK
    assert settings.shown()["accounts"][1]["bot_token_env"] == "MY_BOT"
    assert set(settings.secret_values()) == {TELEGRAM, BOT, APP, DISCORD}


def test_what_asks_for_a_sealed_token_is_known(tmp_path: Path) -> None:
    assert asked_for(read(tmp_path, THREE, **MINE))["MY_APP"] == ["accounts[2].app_token"]


def test_one_token_for_two_accounts_is_refused(tmp_path: Path) -> None:
    two = "".join(f'[[accounts]]\nname = "{name}"\nchannel = "telegram"\n' for name in ("a", "b"))
    told = faults(tmp_path, two, TELEGRAM_BOT_TOKEN=TELEGRAM)
    assert "accounts[1].token (TELEGRAM_BOT_TOKEN) and accounts[2].token (TELEGRAM_BOT_TOKEN) hold the same" in told


def test_the_accounts_of_the_example_file_are_valid(tmp_path: Path) -> None:
    text = (ROOT / "config" / "example.toml").read_text()
    block = re.search(r"^# \[\[accounts\]\]\n(?:#.*\n)*", text, re.MULTILINE)
    assert block is not None
    usual = {
        "TELEGRAM_BOT_TOKEN": TELEGRAM,
        "SLACK_BOT_TOKEN": BOT,
        "SLACK_APP_TOKEN": APP,
        "DISCORD_BOT_TOKEN": DISCORD,
    }
    settings = read(tmp_path, text.replace(block[0], re.sub(r"^# ?", "", block[0], flags=re.MULTILINE)), **usual)
    assert [account.channel for account in settings.accounts] == ["telegram", "slack", "discord"]
    assert settings.operators.room == "slack:work/C024BE91L"


# ---------------------------------------------------------------------------------------------------------------- slips


def test_all_slips_are_told_at_once_with_setting_shape_and_fix(tmp_path: Path) -> None:
    told = faults(
        tmp_path,
        f"""
        [web]
        port = "many"
        [operators]
        room = "slack:wrok/C1"
        [[accounts]]
        name = "Work"
        channel = "slack"
        bot_token = "{APP}"
        app_token = "{BOT}"
        [[accounts]]
        name = "tg"
        channel = "telegram"
        token = "{DISCORD}"
        tokn_env = "X"
        [[accounts]]
        name = "tg"
        channel = "telegrm"
        [[accounts]]
        name = "work"
        channel = "slack"
        [[accounts]]
        channel = "discord"
        shards = -1
        token_env = "GONE"
        [[accounts]]
        name = "hook"
        channel = "telegram"
        mode = "webhook"
        """,
        TELEGRAM_BOT_TOKEN=TELEGRAM,
    )
    expected = [
        "web.port: got text",
        "operators.room: there is no account slack:wrok; did you mean slack:work?",
        'accounts[1].name ("Work"): got text "Work"',
        'accounts[1].bot_token ("Work"): got text of 23 characters',
        "expected a Slack bot token (it begins with xoxb-",
        "this is a Slack app-level token",
        "expected a Slack app-level token (it begins with xapp-",
        "this is a Slack bot token",
        'accounts[2].token ("tg"): got text of',
        "this is a Discord bot token",
        'accounts[2].tokn_env ("tg"): there is no such setting',
        "did you mean accounts[2].token_env?",
        'accounts[3].name ("tg"): accounts[2] has this name too',
        'accounts[3].channel ("tg"): got text "telegrm"',
        'expected "telegram", "slack" or "discord"',
        'accounts[4].bot_token ("work"): is missing; set the variable SLACK_BOT_TOKEN, or seal it',
        'accounts[4].app_token ("work"): is missing; set the variable SLACK_APP_TOKEN, or seal it',
        "accounts[5].name: is missing",
        "accounts[5].shards: got a number -1",
        "accounts[5].token_env: the variable GONE is not set",
        'accounts[6].webhook_url ("hook"): is missing',
    ]
    assert [line for line in expected if line not in told] == []
    assert not any(token in told for token in TOKENS)


def test_one_bracket_too_few_is_told(tmp_path: Path) -> None:
    assert "write [[accounts]] with two brackets" in faults(tmp_path, '[accounts]\nname = "tg"\n')


@pytest.mark.parametrize(
    ("url", "base", "fits"),
    [
        ("https://bot.example.org/tg", "", True),
        ("http://bot.example.org/tg", "", False),
        ("http://127.0.0.1:8080/tg", "http://127.0.0.1:9", True),
        ("bot.example.org", "", False),
    ],
)
def test_telegram_brings_messages_only_with_https(tmp_path: Path, url: str, base: str, fits: bool) -> None:
    text = f'[[accounts]]\nname = "tg"\nchannel = "telegram"\nmode = "webhook"\nwebhook_url = "{url}"\napi_base_url = "{base}"\n'
    if fits:
        assert read(tmp_path, text, TELEGRAM_BOT_TOKEN=TELEGRAM).accounts
    else:
        assert "accounts[1].webhook_url" in faults(tmp_path, text, TELEGRAM_BOT_TOKEN=TELEGRAM)


@pytest.mark.parametrize("room", ["nowhere", "slack:work", "irc:x/y", "slack:work2/C1"])
def test_a_room_for_operators_is_an_address_of_an_account(tmp_path: Path, room: str) -> None:
    assert "operators.room" in faults(tmp_path, f'{THREE}\n[operators]\nroom = "{room}"\n', **MINE)


@pytest.mark.parametrize("room", ["slack:work/C1", "slack:work/C1/17.5", "web:main/r1"])
def test_operators_may_be_told_in_any_room_of_an_account(tmp_path: Path, room: str) -> None:
    assert read(tmp_path, f'{THREE}\n[operators]\nroom = "{room}"\n', **MINE).operators.room == room


def test_what_is_wrong_with_one_account_leaves_the_others(tmp_path: Path) -> None:
    text = f'[[accounts]]\nname = "A"\nchannel = "irc"\n[[accounts]]\nname = "B"\nchannel = "slack"\nbot_token = "x"\n{THREE}'
    settings, told = load_usable(write(tmp_path, text), environ=MINE)
    assert isinstance(told, ConfigError)
    assert [account.name for account in settings.accounts] == ["tg", "work", "guild"]


# --------------------------------------------------------------------------------------------------------------- reload


def test_a_changed_account_is_a_difference_and_a_sealed_token_is_none(tmp_path: Path) -> None:
    settings = read(tmp_path, THREE, **MINE)
    same = load(tmp_path / "signalbox.toml", environ={}, demand=())
    assert list(differences(settings, same)) == []
    other = read(tmp_path, THREE.replace('name = "tg"', 'name = "bot"'), **MINE)
    assert list(differences(settings, other)) == ["accounts"]
    fewer = read(tmp_path, THREE.partition('[[accounts]]\nname = "guild"')[0], **MINE)
    assert list(differences(settings, fewer)) == ["accounts"]


# --------------------------------------------------------------------------------------------------------------- tokens


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TELEGRAM, telegram.BOT_TOKEN),
        (BOT, slack.BOT_TOKEN),
        (APP, slack.APP_TOKEN),
        ("xoxp-1111-2222-abcdef", slack.USER_TOKEN),
        ("xoxe.xoxp-1-Mi0yLTE", slack.CONFIGURATION_TOKEN),
        (SIGNING, slack.SIGNING_SECRET),
        (DISCORD, discord.BOT_TOKEN),
        ("sk-proj-something-else", None),
    ],
)
def test_each_kind_of_token_is_known_by_its_form(text: str, kind: TokenForm | None) -> None:
    known = token_forms()
    assert kind_of(text, known) is kind
    told = [other for other in known if other.looks and fault_of(text, other, known) is None]
    assert told == ([one for one in known if one.looks and one is kind] if kind else [slack.SIGNING_SECRET])


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (telegram.BOT_TOKEN, TELEGRAM[:20]),
        (slack.BOT_TOKEN, "xoxb-123"),
        (slack.APP_TOKEN, "xapp-1"),
        (discord.BOT_TOKEN, DISCORD[:30]),
    ],
)
def test_a_token_that_was_not_copied_whole_is_told_as_that(wanted: TokenForm, text: str) -> None:
    told = fault_of(text, wanted, token_forms()) or ""
    assert f"begins like one, but {len(text)} characters" in told
    assert text not in told


@pytest.mark.parametrize(
    ("text", "hint"), [(f"Bot {DISCORD}", "leave out the word before it"), (f"{DISCORD}\n", "blanks or line ends")]
)
def test_what_was_pasted_with_a_token_is_told(text: str, hint: str) -> None:
    assert hint in (fault_of(text, discord.BOT_TOKEN, token_forms()) or "")


def test_a_secret_that_may_look_like_anything_is_no_name_for_others() -> None:
    password = TokenForm("a mailbox's password", re.compile("(?!)"), looks="the password", vague=True)
    pin = TokenForm("the PIN of a notebook", re.compile(r"pin-\d{4}"), looks="on its cover")
    assert fault_of("pin-1234", pin, [password, pin]) is None
    assert fault_of("correct horse", password, [password, pin]) is None
    assert fault_of("pin-1234", password, [password, pin]) == f"{password.kind} (the password); this is {pin.kind}"
    assert fault_of("pin-12", pin, [password, pin]) == f"{pin.kind} (on its cover)"
