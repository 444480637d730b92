"""The step of channels: which platforms people use, the tokens of an account there, and a look whether they work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from pydantic import TypeAdapter, ValidationError

from bot.secrets import account_keys
from bot.secrets.chain import Chain, members
from bot.secrets.token_forms import Token, fault_of
from bot.settings.accounts import NAME, AnyAccount
from bot.trials.account import look_at
from bot.wizard.dialogue import Dialogue
from bot.wizard.draft import Draft, Kept, Table
from runtime.contract import Finding, Level
from runtime.errors import ConfigError

NONE: Final = "none"
ACCOUNT: Final[TypeAdapter[AnyAccount]] = TypeAdapter(AnyAccount)
CHOICES: Final = {
    "again": "give other answers",
    "leave": "do without this channel for now",
    "keep": "write it down as it is, and mend it later",
}


@dataclass(frozen=True, slots=True)
class Platform:
    """How a platform is called, where its tokens are made, and what they are called there."""

    title: str
    how: str
    tokens: Mapping[str, tuple[str, Token]]


PLATFORMS: Final[Mapping[str, Platform]] = {
    "telegram": Platform(
        "Telegram",
        "Talk to @BotFather in Telegram: /newbot makes a bot and gives its token. More: docs/channels/telegram.md",
        {"token": ("Token of the bot", Token.TELEGRAM)},
    ),
    "slack": Platform(
        "Slack",
        "At https://api.slack.com/apps make an app from the manifest config/slack-manifest.yaml, install it, and make an\n"
        "app-level token with connections:write. More: docs/channels/slack.md",
        {
            "bot_token": ("Bot token, xoxb-…", Token.SLACK_BOT),
            "app_token": ("App-level token, xapp-…", Token.SLACK_APP),
        },
    ),
    "discord": Platform(
        "Discord",
        "At https://discord.com/developers/applications make an application; under Bot turn Message Content Intent on\n"
        "and make a token. More: docs/channels/discord.md",
        {"token": ("Token of the bot", Token.DISCORD)},
    ),
}


def ask_channels(draft: Draft, dialogue: Dialogue) -> None:
    """One account after the other, until the person wants no more."""
    for channel in draft.flags.channels:
        if channel not in PLATFORMS:
            raise ConfigError(f"--channel: {_unknown(channel)}")
        _ask_account(draft, dialogue, channel)
    while not draft.flags.channels and (channel := _chosen(draft, dialogue)):
        _ask_account(draft, dialogue, channel)


def _chosen(draft: Draft, dialogue: Dialogue) -> str:
    """The channel of the next account; empty for no more."""
    question = f"{'Another channel' if draft.accounts else 'Channel'} ({', '.join(PLATFORMS)}, {NONE})"
    while True:
        said = dialogue.ask(question, _suggestion(draft)).lower()
        if said == NONE or said in PLATFORMS:
            return "" if said == NONE else said
        dialogue.say(_unknown(said))


def _unknown(channel: str) -> str:
    return f"{channel} is no channel of this release. There are: {', '.join(PLATFORMS)}."


def _suggestion(draft: Draft) -> str:
    """A channel whose tokens are in the usual variables: it would be made of them anyway."""
    asked = {table["channel"][0] for table in draft.accounts} | draft.left_out
    found = account_keys.complete(lambda name: bool(draft.variables.get(name)))
    return next((channel for channel in found if channel not in asked), NONE)


# ------------------------------------------------------------------------------------------------------- one account


@dataclass(frozen=True, slots=True)
class Secret:
    """A token, and the variable or sealed secret that holds it, or will (`is_fresh`)."""

    value: str = field(repr=False)
    variable: str
    is_fresh: bool


Secrets = Mapping[str, Secret]
"""By setting."""


def _ask_account(draft: Draft, dialogue: Dialogue, channel: str) -> None:
    """Until the platform knows the account, or the person decides otherwise."""
    dialogue.say(PLATFORMS[channel].how)
    anew = False
    while True:
        name = _name(draft, dialogue, channel)
        found = _secrets(draft, dialogue, channel, name, anew=anew)
        if found is None:
            break
        verdict = _verdict(draft, dialogue, _account(draft, channel, name, found))
        if verdict == "keep":
            _note(draft, channel, name, found)
            return
        if verdict == "leave":
            break
        anew = True
    dialogue.say(f"{PLATFORMS[channel].title} is left out.")
    draft.left_out.add(channel)


def _name(draft: Draft, dialogue: Dialogue, channel: str) -> str:
    taken = {str(table["name"][0]) for table in draft.accounts}
    free = next(name for n in count(1) if (name := channel if n == 1 else f"{channel}-{n}") not in taken)
    while True:
        said = dialogue.ask("Name of this account, which its addresses carry", free)
        if NAME.fullmatch(said) and said not in taken:
            return said
        dialogue.say(
            f"{said} is taken." if said in taken else "A name has at most 32 small letters, digits and dashes."
        )


def _secrets(draft: Draft, dialogue: Dialogue, channel: str, name: str, *, anew: bool) -> Secrets | None:
    """All that the account needs; None where the person has one of them not."""
    found: dict[str, Secret] = {}
    for setting in account_keys.needed(channel):
        words, kind = PLATFORMS[channel].tokens[setting]
        usual = account_keys.USUAL[channel][setting]
        secret = None if anew or _is_taken(draft, usual) else _there(draft, dialogue, words, kind, usual)
        secret = secret or _typed(draft, dialogue, words, kind, _variable(draft, name, usual))
        if secret is None:
            return None
        found[setting] = secret
    return found


def _is_taken(draft: Draft, variable: str) -> bool:
    """Whether another account has its token there."""
    return any(variable == value for table in draft.accounts for value, _ in table.values())


def _variable(draft: Draft, name: str, usual: str) -> str:
    """Under which a token is sealed: the usual one, unless another account or the environment has it already."""
    if _is_taken(draft, usual) or usual in draft.variables:
        return f"{name}_{usual}".upper().replace("-", "_")
    return usual


def _there(draft: Draft, dialogue: Dialogue, words: str, kind: Token, variable: str) -> Secret | None:
    """The one that is in the environment, or sealed already."""
    own = draft.keyring.key_file
    chain = Chain(draft.variables, members(None, draft.data_dir, own.parent if own else None), draft.keyring)
    if (found := chain.find(variable)) is None:
        return None
    if fault := fault_of(found.value, kind):
        dialogue.say(f"{found.source}: expected {fault}.")
        return None
    dialogue.say(f"{words} is there: {found.source}.")
    return Secret(found.value, variable, is_fresh=False)


def _typed(draft: Draft, dialogue: Dialogue, words: str, kind: Token, variable: str) -> Secret | None:
    while said := dialogue.secret(f"{words} (not shown; it will be sealed. Enter: leave this out)"):
        if (fault := fault_of(said, kind)) is None:
            return Secret(said, variable, is_fresh=True)
        dialogue.say(f"Expected {fault}.")
    if draft.flags.channels:
        raise ConfigError(
            f"--channel: {variable} is not set here. Set it, or seal it: signalbox secrets set {variable}"
        )
    return None


def _account(draft: Draft, channel: str, name: str, found: Secrets) -> AnyAccount:
    """Errors: ConfigError for a flag that does not fit."""
    given = {setting: secret.value for setting, secret in found.items()}
    given |= {"channel": channel, "name": name, "api_base_url": draft.flags.servers.get(channel, "")}
    try:
        account: AnyAccount = ACCOUNT.validate_python(given)
    except ValidationError:
        raise ConfigError(f"--channel-server: {channel}={draft.flags.servers.get(channel)} is no address.") from None
    return account


def _note(draft: Draft, channel: str, name: str, found: Secrets) -> None:
    table: Table = {"name": (name, ""), "channel": (channel, "")}
    for setting, secret in found.items():
        comment = "it is sealed: signalbox secrets list" if secret.is_fresh else ""
        table[f"{setting}_env"] = (secret.variable, comment)
        if secret.is_fresh:
            draft.secrets[secret.variable] = Kept(secret.value, f"accounts.{name}.{setting}")
    if server := draft.flags.servers.get(channel):
        table["api_base_url"] = (server, "")
    draft.accounts.append(table)


# ----------------------------------------------------------------------------------------------------------- the look


def _verdict(draft: Draft, dialogue: Dialogue, account: AnyAccount) -> str:
    """A word of `CHOICES`: "keep" where nothing is wrong."""
    if not draft.flags.try_channels:
        return "keep"
    findings = dialogue.wait(f"Asking {PLATFORMS[account.channel].title}", look_at(account))
    for finding in findings:
        if finding.level is not Level.ERROR:
            dialogue.say(_sentence(finding))
    faults = [_sentence(finding) for finding in findings if finding.level is Level.ERROR]
    return dialogue.choose("\n".join(faults), CHOICES) if faults else "keep"


def _sentence(finding: Finding) -> str:
    fix = f" To mend it: {finding.fix}" if finding.fix and finding.level is not Level.OK else ""
    return f"{finding.what.rstrip('.')}.{fix}"
