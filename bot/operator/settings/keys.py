"""Keys and tokens: set and never shown. A model's key is tried before it is kept, and so are the tokens of an account."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from bot.operator.partial_api import by_role
from bot.operator.settings.changing import ChangesApi
from bot.operator.settings.live import LiveSettings
from bot.operator.settings.reading import against_writing, live_of
from bot.operator.settings.secret_names import SETTABLE, settable
from bot.operator.views import View
from bot.plugins.channels import BUILT_IN, token_forms
from bot.secrets import model_keys
from bot.secrets.setting import checked_value, require_sealable, seal_values
from bot.settings.accounts import AnyAccount
from bot.settings.editing.documents import Add, Put
from bot.settings.editing.guards import name_faults
from bot.settings.models.tables import DEMO
from bot.settings.secrets import asked_for, uses
from bot.settings.settings import Settings
from bot.tryouts.account import look_at
from bot.tryouts.model import Answered, try_model
from runtime.contract import ChannelPlugin, Level
from runtime.errors import BotError, ConfigError
from runtime.guard.masks import Mask
from runtime.http.errors import Refusal
from runtime.settings.accounts import NAME, Account
from runtime.settings.token_forms import fault_of

ACCOUNT_TABLE: Final[TypeAdapter[Account]] = TypeAdapter(AnyAccount)

NOT_SETTABLE: Final = "{name} is no key of a model and no token of an account. On the machine that runs Signalbox: signalbox secrets set {name}"
REUSED: Final = "{other} holds the same value. A secret has one purpose: make a new one."
NO_USUAL: Final = "Nobody knows the usual variable of this vendor. Set `api_key_env` in the file, and seal the key with signalbox secrets set."
NO_KEY: Final = "Give the key: none was found for this model."
ANSWERED: Final = "{model} answers, in {seconds:.1f} s: {text}"
DEMO_ANSWERS: Final = "The demo model is built in, and needs no key."
MODEL_KEPT: Final = "Its key is sealed, and model.name is {model}. Restart Signalbox to use it."
NAME_IS_SEALED: Final = "{name} is sealed. It is used from the next start on."
NO_CHANNEL: Final = "There is no channel of that name. The channels are: {names}."
BAD_NAME: Final = "A name has at most 32 lowercase letters, digits and dashes."
CONNECTED: Final = (
    "{title} knows these tokens. They are sealed, and the account {name} stands in the settings. Restart Signalbox, then write to it there: "
    "who isn't known gets a code, which an owner enters under People."
)


@by_role
class KeysApi(ChangesApi):
    """Secrets of models and accounts."""

    async def set_secret(self, name: str, fields: Mapping[str, Any]) -> View:
        """Seal one secret that a model or an account has. Errors: Refusal."""
        live = live_of(self)
        self.must_be_confirmed(live)
        if name not in settable(live.current()):
            raise Refusal(422, NOT_SETTABLE.format(name=name if name.isidentifier() else "NAME"))
        value = self._value(live, name, fields.get("value"))
        await self._seal(live, {name: value})
        return {"state": "sealed", "told": NAME_IS_SEALED.format(name=name)}

    async def try_model_key(self, fields: Mapping[str, Any]) -> View:
        """Ask a model for one word, with this key; keep both if `keep` says yes and it answers. Errors: Refusal."""
        live = live_of(self)
        self.must_be_confirmed(live)
        model = str(fields.get("model", "")).strip()
        if faults := name_faults("model.name", model, {}):
            raise Refusal(422, faults[0].words)
        usual = model_keys.names(model)
        if not usual and model != DEMO:
            raise Refusal(422, NO_USUAL)
        typed = str(fields.get("key", "") or "")
        keep = fields.get("keep") == "yes"
        if typed and usual:
            key = self._value(live, usual[0], typed) if keep else _checked(typed)
        else:
            key = await asyncio.to_thread(_found, live.current(), usual)
        if usual and not key:
            raise Refusal(422, NO_KEY)
        if keep and (against := await against_writing(live)):
            raise Refusal(409, against)
        told = await _tried(model, key)
        if not keep:
            return {"state": "answered", "told": told}
        if typed and usual:
            await self._seal(live, {usual[0]: key})
        saved = await self.write(live, [Put("model.name", model)])
        return {**saved, "told": f"{told} {MODEL_KEPT.format(model=model)}"}

    async def channels(self) -> list[View]:
        """Channels to connect, each with what its setup wants."""
        return [
            {
                "channel": plugin.channel,
                "title": plugin.title,
                "setup": plugin.setup,
                "secrets": [
                    {"name": name, "title": asked.title, "looks": asked.form.looks}
                    for name, asked in plugin.needed().items()
                ],
            }
            for plugin in BUILT_IN.values()
        ]

    async def connect_channel(self, channel: str, fields: Mapping[str, Any]) -> View:
        """Ask the platform about an account; if it knows the tokens, seal them and put it into the settings. Errors: Refusal."""
        live = live_of(self)
        self.must_be_confirmed(live)
        plugin = BUILT_IN.get(channel)
        if plugin is None:
            raise Refusal(404, NO_CHANNEL.format(names=", ".join(BUILT_IN)))
        if against := await against_writing(live):
            raise Refusal(409, against)
        name, tokens = _account_name(live.current(), channel, fields), _tokens(plugin, fields)
        variables = {setting: _variable(live.current(), name, plugin.secrets[setting].variable) for setting in tokens}
        for setting, variable in variables.items():
            self._value(live, variable, tokens[setting])
        told = await _asked(plugin, name, tokens)
        await self._seal(live, {variable: tokens[setting] for setting, variable in variables.items()})
        table = {
            "name": name,
            "channel": channel,
            **{f"{setting}_env": variable for setting, variable in variables.items()},
        }
        saved = await self.write(live, [Add("accounts", table)])
        words = CONNECTED.format(title=plugin.title, name=name)
        return {**saved, "told": " ".join([words, *told])}

    def _value(self, live: LiveSettings, name: str, given: object) -> str:
        """The value, if it may be sealed under `name`. Errors: Refusal, which never repeats it."""
        value = _checked(given if isinstance(given, str) else "")
        try:
            require_sealable(live.current().chain, name)
        except ConfigError as error:
            raise Refusal(422, str(error)) from None
        others = [one for one in uses(live.current(), live.current().sources) if one.value == value]
        if other := next((one for one in others if not one.name.startswith(SETTABLE)), None):
            raise Refusal(422, REUSED.format(other=other.name))
        return value

    async def _seal(self, live: LiveSettings, values: dict[str, str]) -> None:
        names = ", ".join(values)
        await self._store.cluster.note_fact("secret set", self.actor.name, names, "")
        try:
            await asyncio.to_thread(seal_values, live.current().chain, values, self._context.now())
        except BotError as error:
            await self._note_undone(names, "it could not be sealed")
            raise Refusal(409, str(error)) from None
        await self._tell(live, names, f"set the secret {names}", names)


def _checked(given: str) -> str:
    """The value without the blanks around it. Errors: Refusal, which never repeats it."""
    try:
        return checked_value(given)
    except ConfigError as error:
        raise Refusal(422, str(error)) from None


async def _tried(model: str, key: str) -> str:
    """Words of the model. Errors: Refusal with its reason and the way out, without the key."""
    if model == DEMO:
        return DEMO_ANSWERS
    answer, hide = await try_model(model, "", key), Mask([key])
    if not isinstance(answer, Answered):
        raise Refusal(422, hide(f"{answer.why} {answer.fix}"))
    return ANSWERED.format(model=model, seconds=answer.took.total_seconds(), text=hide(answer.text)[:60])


def _found(settings: Settings, names: Sequence[str]) -> str:
    """The key that the process would find; empty for none. A file that wants a passphrase is left closed."""
    chain = settings.chain
    known = dict(chain.unasked())
    return next((value for name in names if (value := chain.variables.get(name) or known.get(name, ""))), "")


def _account_name(settings: Settings, channel: str, fields: Mapping[str, Any]) -> str:
    taken = {account.name for account in settings.accounts}
    free = next(name for n in count(1) if (name := channel if n == 1 else f"{channel}-{n}") not in taken)
    name = str(fields.get("name", "") or free).strip()
    if not NAME.fullmatch(name):
        raise Refusal(422, BAD_NAME)
    if name in taken:
        raise Refusal(422, f"There is an account {name} already. Choose another name.")
    return name


def _tokens(plugin: ChannelPlugin, fields: Mapping[str, Any]) -> dict[str, str]:
    """Errors: Refusal for a token of another form, told by what it looks like."""
    found = {}
    for setting, asked in plugin.needed().items():
        value = str(fields.get(setting, "") or "").strip()
        if fault := fault_of(value, asked.form, token_forms()) if value else "it":
            raise Refusal(422, f"{asked.title}: expected {fault if value else asked.form.looks}.")
        found[setting] = value
    return found


def _variable(settings: Settings, name: str, usual: str) -> str:
    """Under which a token is sealed: the usual one, unless another account or the environment has it."""
    taken = usual in asked_for(settings) or settings.chain.variables.get(usual)
    return f"{name}_{usual}".upper().replace("-", "_") if taken else usual


async def _asked(plugin: ChannelPlugin, name: str, tokens: Mapping[str, str]) -> list[str]:
    """Words of the platform beside a yes. Errors: Refusal with what is wrong and how to fix it, without the tokens."""
    hide = Mask(tokens.values())
    try:
        account = ACCOUNT_TABLE.validate_python({**tokens, "channel": plugin.channel, "name": name})
    except ValidationError:
        raise Refusal(422, f"{plugin.title} has other tokens than these.") from None
    findings = await look_at(account)
    words = [f"{one.what.rstrip('.')}.{f' To fix it: {one.fix}' if one.fix else ''}" for one in findings]
    if any(one.level is Level.ERROR for one in findings):
        wrong = [said for said, one in zip(words, findings, strict=True) if one.level is Level.ERROR]
        raise Refusal(422, hide("\n".join(wrong)))
    return [hide(said) for said, one in zip(words, findings, strict=True) if one.level is not Level.OK]
