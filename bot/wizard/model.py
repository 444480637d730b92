"""The step of the model: its name, its server, its key; and a try whether they work."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from bot.secrets import model_keys
from bot.secrets.chain import Chain, members
from bot.settings.models.tables import DEMO
from bot.tryouts.model import Answered, Refused, try_model
from bot.wizard.dialogue import Dialogue
from bot.wizard.draft import Draft, Kept
from runtime.errors import ConfigError

OWN_KEY: Final = "MODEL_API_KEY"
"""The name of a key whose vendor has no usual one."""
SUGGESTED: Final = {
    "OPENAI_API_KEY": "openai/gpt-4o-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-sonnet-4-5",
    "GEMINI_API_KEY": "gemini/gemini-2.5-flash",
    "MISTRAL_API_KEY": "mistral/mistral-small-latest",
}
CHOICES: Final = {
    "again": "give other answers",
    "demo": "use the built-in demo model for now",
    "keep": "keep it as it is, and fix it later",
}


def ask_model(draft: Draft, dialogue: Dialogue) -> None:
    """Until the model answers, or the person decides otherwise."""
    while True:
        draft.forget("model.")
        name = draft.flags.model or dialogue.ask("Model", draft.said.get("model") or _suggestion(draft))
        draft.said["model"] = name
        if name == DEMO:
            return
        draft.set("model.name", name)
        _server(draft, dialogue)
        key = _key(draft, dialogue, name)
        draft.set("model.name", name, _where_the_key_is(draft, name, key))
        if not draft.flags.try_model or _works(draft, dialogue, name, key):
            return


def _suggestion(draft: Draft) -> str:
    return next((model for name, model in SUGGESTED.items() if draft.variables.get(name)), DEMO)


def _server(draft: Draft, dialogue: Dialogue) -> None:
    before = draft.said.get("address", "")
    while True:
        given = draft.flags.api_base
        address = given if given is not None else _ask_address(draft, dialogue)
        fault = _address_fault(address)
        if fault is None:
            break
        if given is not None:
            raise ConfigError(f"--api-base: {fault}")
        dialogue.say(fault)
        draft.said["address"] = before
    if address:
        draft.set("model.api_base", address)


def _ask_address(draft: Draft, dialogue: Dialogue) -> str:
    """A vendor's own may follow an address of before: a dash takes that back."""
    before = draft.said.get("address", "")
    words = (
        "Address of its server (-: the vendor's own)" if before else "Address of its server (Enter: the vendor's own)"
    )
    said = dialogue.ask(words, before)
    draft.said["address"] = "" if said == "-" else said
    return draft.said["address"]


def _address_fault(address: str) -> str | None:
    if not address:
        return None
    try:
        parts = urlsplit(address)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.password
        _ = parts.port
    except ValueError:
        is_good = False
    return None if is_good else "Write an address like http://HOST:PORT/v1 or https://HOST/v1, without a password."


# ------------------------------------------------------------------------------------------------------------ the key


def _key(draft: Draft, dialogue: Dialogue, name: str) -> str:
    """The key's value; its place is noted in the draft."""
    usual = model_keys.names(name)
    if variable := draft.flags.key_env:
        return _named(draft, variable, usual)
    if draft.flags.key is not None:
        return _sealed(draft, usual, draft.flags.key)
    own = draft.keyring.key_file
    chain = Chain(draft.variables, members(None, draft.data_dir, own.parent if own else None), draft.keyring)
    for variable in usual:
        if found := chain.find(variable):
            dialogue.say(f"Its key: found in {found.source}.")
            return found.value
    if not usual and not _may_need_one(draft):
        return ""
    key = dialogue.secret("Its key (hidden, and sealed; Enter for none)")
    return _sealed(draft, usual, key) if key else ""


def _may_need_one(draft: Draft) -> bool:
    """A server of one's own seldom asks for a key; a vendor that we do not know may."""
    return "model.api_base" in draft.settings


def _named(draft: Draft, variable: str, usual: tuple[str, ...]) -> str:
    value = draft.variables.get(variable, "")
    if not value:
        raise ConfigError(f"--key-env: the variable {variable} is not set here. Set it, or use --key-stdin.")
    if variable not in usual:
        draft.set("model.api_key_env", variable)
    return value


def _sealed(draft: Draft, usual: tuple[str, ...], key: str) -> str:
    name = usual[0] if usual else OWN_KEY
    if not usual:
        draft.set("model.api_key_env", name)
    draft.secrets[name] = Kept(key, "model.api_key")
    return key


def _where_the_key_is(draft: Draft, name: str, key: str) -> str:
    if not key:
        return ""
    if any(kept.value == key for kept in draft.secrets.values()):
        return "its key is sealed: signalbox secrets list"
    variable = draft.flags.key_env or next(iter(model_keys.names(name)), "")
    return f"its key is {variable}"


# ------------------------------------------------------------------------------------------------------------ the try


def _works(draft: Draft, dialogue: Dialogue, name: str, key: str) -> bool:
    """True if the step is over: the model answered, or the person does without."""
    address = str(draft.settings.get("model.api_base", ("", ""))[0])
    match dialogue.wait(f"Asking {name} for one word", try_model(name, address, key)):
        case Answered(text, took):
            dialogue.say(f"{name} answers, in {took.total_seconds():.1f} s: {text[:60]}")
            return True
        case Refused(why, fix):
            choice = dialogue.choose(f"{why} {fix}", CHOICES)
    if choice != "keep":
        draft.forget("model.")
        draft.flags = replace(draft.flags, model=None, api_base=None, key_env=None, key=None)
    return choice != "again"
