"""Edits that the reader of settings would take, and that are refused or asked about: who would be locked out or let in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from bot.secrets import model_keys
from bot.settings.editing.documents import Add, Change, Put
from bot.settings.editing.edits import Fault
from bot.settings.editing.values import path_of
from bot.settings.models.aliases import OWN_KEYS, by_name, first_of
from bot.settings.models.tables import AnyModel
from bot.settings.settings import Settings
from bot.settings.sources import value_at
from runtime.domain.routing import Attention
from runtime.models.vendors import VENDORS
from runtime.text.words import listed, marked, say

MODELS: Final = (
    *("model.name", "models[].model", "embeddings.name", "images.name", "transcription.name"),
    "speech.name",
)
"""Settings that choose a model at a vendor."""
MODEL_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")
OWN_PLACES: Final = ("api_base", "api_key", "api_key_env", "api_keys", "api_key_envs", "login")
"""Settings beside a model's name that say whom it is asked at, or by which key."""

NOT_A_NAME: Final = marked("expected the name of a model, such as openai/gpt-4o-mini, and no address.")
OF_A_PACKAGE: Final = marked('a package brings the vendor "{vendor}", so it is chosen in the file.')
KEY_OF_ANOTHER: Final = marked(
    "its {names} in the file belong to {before}. A key must not go to another vendor by this: change both in the file."
)
KEY_ELSEWHERE: Final = marked(
    "a key would go to {where} by this, where it doesn't go now. Whoever looks after the file can write that there."
)
OWN_LOCK: Final = marked("you would shut yourself out. Have another owner do that.")
OWNER_LOCK: Final = marked("{who} is an owner. Take the role away first, under People.")
OWN_OWNER: Final = marked("you would take yourself out of the owners. Have another owner do that.")
NO_OWNER: Final = marked("at least one owner must stay in the list.")
NOBODY_APPROVES: Final = marked("nobody who is known here is in it, so no question could be answered.")


@dataclass(frozen=True, slots=True)
class Editor:
    """The person who edits, as settings may call them: names and identities. `owners` and `known` are those of others, too."""

    own: frozenset[str]
    owners: frozenset[str]
    known: frozenset[str]


class _Asked(NamedTuple):
    """Place where a model is asked: the keys that are its own, empty for the vendor's usual one, and the address, empty for the vendor's."""

    keys: tuple[object, ...]
    vendor: str
    api_base: str


def objections(
    before: Settings, after: Settings, said: Mapping[str, Any], changes: Sequence[Change], editor: Editor
) -> list[Fault]:
    """Reasons against an edit whose settings are `after`. Both name people as they are stored. `said` is the file of before."""
    models = [*_of_models(said, changes)] or [*_keys_led_elsewhere(before, after)]
    return [*models, *_locked_out(before, after, editor), *_owners(before, after, editor)]


def name_faults(name: str, value: str, holder: Mapping[str, Any]) -> list[Fault]:
    """Reasons against the model `value` for the setting `name`, in the table that `holder` is in the file."""
    return list(_of_model(name, value, holder))


def _of_models(said: Mapping[str, Any], changes: Sequence[Change]) -> Iterator[Fault]:
    for change in changes:
        match change:
            case Put(name, str(value)) if path_of(name) in MODELS:
                holder = value_at(said, name.rpartition(".")[0])
                yield from _of_model(name, value, holder if isinstance(holder, dict) else {})
            case Add("models", table) if isinstance(model := table.get("model"), str):
                yield from _of_model("models[].model", model, {})


def _of_model(name: str, value: str, holder: Mapping[str, Any]) -> Iterator[Fault]:
    """A name can carry an address to which LiteLLM would send a key, or choose a package's code."""
    if not MODEL_NAME.fullmatch(value) or "://" in value or "//" in value:
        yield Fault(name, say(NOT_A_NAME))
        return
    vendor, slash, _ = value.partition("/")
    if slash and vendor not in VENDORS:
        yield Fault(name, say(OF_A_PACKAGE, vendor=vendor))
    was = str(holder.get(name.rpartition(".")[2], ""))
    places = [place for place in OWN_PLACES if holder.get(place)]
    if places and model_keys.vendor(value) != model_keys.vendor(was):
        yield Fault(name, say(KEY_OF_ANOTHER, names=listed(places), before=was or say("another model")))


def _keys_led_elsewhere(before: Settings, after: Settings) -> Iterator[Fault]:
    """Models that would take a key to a vendor or an address where it doesn't go now, as one name may stand for another."""
    old = {whom for _, whom in _asked(before)}
    for name, whom in _asked(after):
        if whom not in old and (whom.keys or whom.api_base):
            yield Fault(name, say(KEY_ELSEWHERE, where=whom.api_base or whom.vendor or say("another vendor")))


def _asked(settings: Settings) -> Iterator[tuple[str, _Asked]]:
    tables = by_name(settings.models)
    first = first_of(settings.model, tables)
    yield "model.name", _asked_at(first, first.name)
    for number, table in enumerate(settings.models, 1):
        one = tables[table.name]
        yield f"models[{number}].model", _asked_at(one, one.model)


def _asked_at(one: AnyModel, name: str) -> _Asked:
    keys = tuple(getattr(one, place) for place in OWN_KEYS)
    return _Asked(keys if any(keys) else (), model_keys.vendor(name), one.api_base)


def _locked_out(before: Settings, after: Settings, editor: Editor) -> Iterator[Fault]:
    rooms = {f"rooms[{n}].blocked": room.blocked for n, room in enumerate(after.rooms, 1)}
    old = {*before.access.blocked, *(name for room in before.rooms for name in room.blocked)}
    for place, names in {"access.blocked": after.access.blocked, **rooms}.items():
        fresh = [name for name in names if name not in old]
        if _meets(fresh, editor.own):
            yield Fault(place, say(OWN_LOCK))
        elif place == "access.blocked" and (found := _meets(fresh, editor.owners)):
            yield Fault(place, say(OWNER_LOCK, who=found))


def _owners(before: Settings, after: Settings, editor: Editor) -> Iterator[Fault]:
    gone = set(before.access.owners) - set(after.access.owners)
    if before.access.owners and not after.access.owners:
        yield Fault("access.owners", say(NO_OWNER))
    elif _meets(gone, editor.own):
        yield Fault("access.owners", say(OWN_OWNER))
    approvers = after.access.approvers
    if approvers and set(approvers) != set(before.access.approvers) and not _meets(approvers, editor.known):
        yield Fault("access.approvers", say(NOBODY_APPROVES))


def _meets(names: Collection[str], others: Collection[str]) -> str:
    """The first of `names` that is one of `others`, however it is capitalised; empty for none."""
    folded = {other.casefold() for other in others}
    return next((name for name in names if name.casefold() in folded), "")


def widened(before: Settings, after: Settings) -> list[str]:
    """Rights that people get by an edit, a sentence each: it wants a second yes."""
    found = (_more_people, _wider_access, _more_rooms, _other_rules)
    return [words for find in found for words in find(before, after)]


def _more_people(before: Settings, after: Settings) -> Iterator[str]:
    """Lists of people and programs that are longer now, or of blocked ones that are shorter."""
    old, new = before.access, after.access
    lists = (
        (old.owners, new.owners, marked("{who} becomes an owner, who may do everything, also here.")),
        (old.approvers, new.approvers, marked("{who} may approve what agents ask for.")),
        (old.bots, new.bots, marked("The program {who} may talk to the agent.")),
        (new.blocked, old.blocked, marked("{who} isn't blocked any more.")),
        (before.feedback.readers, after.feedback.readers, marked("{who} may read what people think of answers.")),
    )
    for few, many, words in lists:
        for who in sorted(set(many) - set(few)):
            yield say(words, who=who)
    if old.approvers and not new.approvers:
        yield say("All operators and owners may approve what agents ask for.")


def _wider_access(before: Settings, after: Settings) -> Iterator[str]:
    """Settings that let everybody do more."""
    old, new = before.access, after.access
    if new.default == "allow" and old.default != "allow":
        yield say("Everybody who writes to the agent is answered, strangers too.")
    if new.default == "pair" and old.default == "deny":
        yield say("Strangers who write to the agent get a pairing code.")
    if new.self_approval and not old.self_approval:
        yield say("Operators and owners may approve their own requests.")
    if new.rooms is Attention.OPEN and old.rooms is not Attention.OPEN:
        yield say("The agent reads and answers everything that is written in rooms.")
    if after.operators.room != before.operators.room:
        room = after.operators.room
        yield (
            say("Alerts for operators go to {room}.", room=room)
            if room
            else say("Alerts for operators go to the log alone.")
        )


def _more_rooms(before: Settings, after: Settings) -> Iterator[str]:
    """Rules of a room that go away, or let in more."""
    old = {room.address: room for room in before.rooms}
    new = {room.address: room for room in after.rooms}
    for address, room in old.items():
        now = new.get(address)
        bounds = [room.people, room.blocked, room.tools, room.secrets, room.personal]
        if now is None and any(bounds):
            yield say("The bounds of {room} go away.", room=address)
        if now is None:
            continue
        if room.people and (not now.people or set(now.people) - set(room.people)):
            yield say("More people are answered in {room}.", room=address)
        if set(room.blocked) - set(now.blocked):
            yield say("Fewer people are blocked in {room}.", room=address)
        if room.tools and (not now.tools or set(now.tools) - set(room.tools)):
            yield say("Agents have more tools in {room}.", room=address)
        if (room.secrets, room.personal) != (now.secrets, now.personal) and any((room.secrets, room.personal)):
            yield say("The leak guard is set anew in {room}.", room=address)
    if [room.address for room in before.rooms if room.address in new] != [a for a in new if a in old]:
        yield say("Other rules come first for rooms that several of them fit.")


def _other_rules(before: Settings, after: Settings) -> Iterator[str]:
    """Rules that allow more, and rules that stood in the way. What they mean for each tool is shown beside."""
    for rule in after.policy:
        if rule.result == "allow" and rule not in before.policy:
            yield say("A rule allows {tool} to run without a question.", tool=rule.tool)
    for rule in before.policy:
        if rule.result != "allow" and rule not in after.policy:
            yield say(
                "A rule that says {result} to {tool} isn't there any more as it was.",
                result=rule.result,
                tool=rule.tool,
            )
    kept = [rule for rule in before.policy if rule in after.policy]
    if kept != [rule for rule in after.policy if rule in before.policy]:
        yield say("The rules are in another order, and the first that fits decides.")
