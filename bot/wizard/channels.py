"""The step of channels: which platforms people use, the tokens of an account there, and a look whether they work."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from pydantic import TypeAdapter, ValidationError

from bot.plugins.channels import channel as plugin_of
from bot.plugins.channels import channel_names, known_channels, token_forms
from bot.secrets import account_keys
from bot.secrets.chain import Chain, members
from bot.settings.accounts import AnyAccount, faults_as_a_whole
from bot.tryouts.account import look_at
from bot.wizard.dialogue import Dialogue
from bot.wizard.draft import Draft, Kept, Table
from runtime.contract import AccountSecret, ChannelPlugin, Finding, Level
from runtime.errors import ConfigError
from runtime.settings.accounts import NAME, Account
from runtime.settings.token_forms import fault_of

NONE: Final = "none"
ACCOUNT: Final[TypeAdapter[Account]] = TypeAdapter(AnyAccount)
CHOICES: Final = {
    "again": "give other answers",
    "leave": "leave this channel out for now",
    "keep": "keep it as it is, and fix it later",
}


def ask_channels(draft: Draft, dialogue: Dialogue) -> None:
    """One account after the other, until the person wants no more."""
    offered = _offered()
    for channel in draft.flags.channels:
        if channel not in offered:
            raise ConfigError(f"--channel: {_unknown(channel, offered)}")
        _ask_account(draft, dialogue, offered[channel])
    while not draft.flags.channels and (channel := _chosen(draft, dialogue, offered)):
        _ask_account(draft, dialogue, offered[channel])


def _offered() -> Mapping[str, ChannelPlugin]:
    """Channels whose accounts need nothing but their tokens, so that anybody can be asked for all of it.

    Loads what packages bring; one that can't be used is left out, and tells why when it is named.
    """
    return {name: plugin for name in channel_names() if (plugin := _usable(name)) and not _further(plugin)}


def _usable(channel: str) -> ChannelPlugin | None:
    try:
        return plugin_of(channel)
    except ConfigError:
        return None


def _further(plugin: ChannelPlugin) -> set[str]:
    """Settings beside its tokens that an account can't be without; an empty one for a package that can't tell."""
    bare = {"channel": plugin.channel, "name": plugin.channel}
    required = {setting for setting, field in plugin.settings.model_fields.items() if field.is_required()}
    return (required | {setting for setting, _ in faults_as_a_whole(bare)}) - {*bare, *plugin.secrets}


def _chosen(draft: Draft, dialogue: Dialogue, offered: Collection[str]) -> str:
    """The channel of the next account; empty for no more."""
    question = f"{'Another channel' if draft.accounts else 'Channel'} ({', '.join(offered)}, {NONE})"
    while True:
        said = dialogue.ask(question, _suggestion(draft)).lower()
        if said == NONE or said in offered:
            return "" if said == NONE else said
        dialogue.say(_unknown(said, offered))


def _unknown(channel: str, offered: Collection[str]) -> str:
    """Errors: ConfigError for a package that can't be used."""
    if plugin_of(channel) is not None:
        return f"{channel} comes with a package, and needs more than tokens: write its account into the settings file afterwards, as its documentation says. Set up here: {', '.join(offered)}."
    return f"{channel} isn't a channel of this release. The channels are: {', '.join(offered)}."


def _suggestion(draft: Draft) -> str:
    """A channel whose tokens are in the usual variables: it would be made of them anyway."""
    asked = {table["channel"][0] for table in draft.accounts} | draft.left_out
    found = account_keys.complete(lambda name: bool(draft.variables.get(name)))
    return next((one.channel for one in found if one.channel not in asked), NONE)


# ------------------------------------------------------------------------------------------------------- one account


@dataclass(frozen=True, slots=True)
class Secret:
    """A token, and the variable or sealed secret that holds it, or will (`is_fresh`)."""

    value: str = field(repr=False)
    variable: str
    is_fresh: bool


Secrets = Mapping[str, Secret]
"""By setting."""


def _ask_account(draft: Draft, dialogue: Dialogue, plugin: ChannelPlugin) -> None:
    """Until the platform knows the account, or the person decides otherwise."""
    channel = plugin.channel
    dialogue.say(plugin.setup)
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
    dialogue.say(f"{plugin.title} is left out.")
    draft.left_out.add(channel)


def _name(draft: Draft, dialogue: Dialogue, channel: str) -> str:
    taken = {str(table["name"][0]) for table in draft.accounts}
    free = next(name for n in count(1) if (name := channel if n == 1 else f"{channel}-{n}") not in taken)
    while True:
        said = dialogue.ask("Name of this account, used in its addresses", free)
        if NAME.fullmatch(said) and said not in taken:
            return said
        dialogue.say(
            f"{said} is taken." if said in taken else "A name has at most 32 lowercase letters, digits and dashes."
        )


def _secrets(draft: Draft, dialogue: Dialogue, channel: str, name: str, *, anew: bool) -> Secrets | None:
    """All that the account needs; None where the person has one of them not."""
    found: dict[str, Secret] = {}
    for setting, asked in known_channels()[channel].needed().items():
        usual = asked.variable
        secret = None if anew or _is_taken(draft, usual) else _there(draft, dialogue, asked)
        secret = secret or _typed(draft, dialogue, asked, _variable(draft, name, usual))
        if secret is None:
            return None
        found[setting] = secret
    return found


def _is_taken(draft: Draft, variable: str) -> bool:
    """True if another account has its token there."""
    return any(variable == value for table in draft.accounts for value, _ in table.values())


def _variable(draft: Draft, name: str, usual: str) -> str:
    """Under which a token is sealed: the usual one, unless another account or the environment has it already."""
    if _is_taken(draft, usual) or usual in draft.variables:
        return f"{name}_{usual}".upper().replace("-", "_")
    return usual


def _there(draft: Draft, dialogue: Dialogue, asked: AccountSecret) -> Secret | None:
    """The one that is in the environment, or sealed already."""
    own = draft.keyring.key_file
    chain = Chain(draft.variables, members(None, draft.data_dir, own.parent if own else None), draft.keyring)
    if (found := chain.find(asked.variable)) is None:
        return None
    if fault := fault_of(found.value, asked.form, token_forms()):
        dialogue.say(f"{found.source}: expected {fault}.")
        return None
    dialogue.say(f"{asked.title}: found in {found.source}.")
    return Secret(found.value, asked.variable, is_fresh=False)


def _typed(draft: Draft, dialogue: Dialogue, asked: AccountSecret, variable: str) -> Secret | None:
    while said := dialogue.secret(f"{asked.title} (hidden, and sealed; Enter to leave it out)"):
        if (fault := fault_of(said, asked.form, token_forms())) is None:
            return Secret(said, variable, is_fresh=True)
        dialogue.say(f"Expected {fault}.")
    if draft.flags.channels:
        raise ConfigError(
            f"--channel: {variable} is not set here. Set it, or seal it: signalbox secrets set {variable}"
        )
    return None


def _account(draft: Draft, channel: str, name: str, found: Secrets) -> Account:
    """Errors: ConfigError for a flag that does not fit."""
    given = {setting: secret.value for setting, secret in found.items()}
    given |= {"channel": channel, "name": name, "api_base_url": draft.flags.servers.get(channel, "")}
    try:
        return ACCOUNT.validate_python(given)
    except ValidationError:
        raise ConfigError(f"--channel-server: {channel}={draft.flags.servers.get(channel)} isn't an address.") from None


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


def _verdict(draft: Draft, dialogue: Dialogue, account: Account) -> str:
    """A word of `CHOICES`: "keep" where nothing is wrong."""
    if not draft.flags.try_channels:
        return "keep"
    findings = dialogue.wait(f"Asking {known_channels()[account.channel].title}", look_at(account))
    for finding in findings:
        if finding.level is not Level.ERROR:
            dialogue.say(_sentence(finding))
    faults = [_sentence(finding) for finding in findings if finding.level is Level.ERROR]
    return dialogue.choose("\n".join(faults), CHOICES) if faults else "keep"


def _sentence(finding: Finding) -> str:
    fix = f" To fix it: {finding.fix}" if finding.fix and finding.level is not Level.OK else ""
    return f"{finding.what.rstrip('.')}.{fix}"
