"""Changes of the settings file: accounts, rooms, models, the prompt and schedules. Each is tried before it is planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Any, Final

from bot.migration.formats.values import account_name
from bot.migration.found import Found, FoundAccount, FoundJob, FoundModel, Item
from bot.migration.plan import Action, Plan
from bot.plugins.channels import BUILT_IN
from bot.secrets.model_keys import names as key_names
from bot.secrets.model_keys import vendor
from bot.settings.editing.documents import Add, Change, Put, changed
from bot.settings.settings import Settings
from runtime.errors import ConfigError
from runtime.models.vendors import fault_of
from runtime.templating.prompts import MARKS, PROMPT_MAX_CHARS
from runtime.text.glyphs import visible

JOBS_MAX: Final = 200
PROMPTS_FOLDER: Final = "prompts"
DEMO: Final = "demo"
LOCAL_VENDORS: Final = frozenset({"ollama", "ollama_chat", "lm_studio", "vllm", "hosted_vllm"})
"""They ask for no key."""
NEEDS_SECRETS: Final = "its secrets stay behind without --with-secrets"
OFF: Final = "off, since its secrets stay behind without --with-secrets"
OTHER_VALUE: Final = "off, since another value is sealed here under that name"
RUN_AGAIN: Final = "Run this again with --with-secrets, or set them: signalbox secrets set {names}"
DEMO_ANSWERS: Final = "no model is taken over, so the demo model would answer people on real accounts"
SET_MODEL: Final = (
    "Before signalbox run: signalbox config set model.name VENDOR/MODEL, and signalbox secrets set its key."
)
KEY_ELSEWHERE: Final = "If your key belongs there: signalbox config set model.api_base, and model.name."
PROMPT_INTRODUCTION: Final = (
    "What follows comes from {program}, where it was written for another program. Where it names tools, files or commands "
    "that you don't have, pass over it."
)


@dataclass
class SettingsChanges:
    """Changes of one plan. Each is checked as the whole file would be, so that one that is wrong is left alone."""

    found: Found
    settings: Settings
    items: frozenset[Item]
    with_secrets: bool
    sealed: Mapping[str, str] = field(repr=False)
    plan: Plan
    _made: list[Change] = field(default_factory=list)
    _renamed: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names of accounts here, by channel and their name there; only those that answer."""

    def add(self) -> None:
        """Plan all of it. Errors: ConfigError."""
        if Item.ACCOUNTS in self.items:
            self._accounts()
        else:
            self._known_accounts()
        if Item.ROOMS in self.items:
            self._rooms()
        if Item.MODELS in self.items:
            self._models()
        if Item.PROMPT in self.items:
            self._prompt()
        if Item.SCHEDULES in self.items:
            self._schedules()
        self.plan.fresh = self._text(self._made)

    # ------------------------------------------------------------------------------------------------------- accounts

    def _accounts(self) -> None:
        for one in self.found.accounts:
            same = self._same_account(one)
            if same is not None:
                self._account_there(one, same)
            else:
                self._new_account(one)

    def _same_account(self, one: FoundAccount) -> int | None:
        """The number of its table here, from a run before: by its name."""
        rows = list(enumerate(self.settings.accounts, 1))
        return next((number for number, row in rows if (row.channel, row.name) == (one.channel, one.name)), None)

    def _account_there(self, one: FoundAccount, number: int) -> None:
        row = self.settings.accounts[number - 1]
        if row.enabled or not one.enabled:
            self.plan.add(Item.ACCOUNTS, _of(one), Action.THERE)
        elif self.with_secrets and (names := self._secrets(one)) is not None:
            self._take(Item.ACCOUNTS, _of(one), [Put(f"accounts[{number}].enabled", True)], "turned on", secrets=names)
        else:
            self.plan.add(
                Item.ACCOUNTS, _of(one), Action.THERE, OTHER_VALUE if self.with_secrets else OFF, self._run_again(one)
            )
            return
        if row.enabled or self.with_secrets:
            self._renamed[one.channel, one.name] = one.name

    def _new_account(self, one: FoundAccount) -> None:
        secrets = self._secrets(one)
        has_all = secrets is not None and all(self._is_at_hand(name, secrets) for name in self._variables(one).values())
        enabled = one.enabled and has_all
        table: dict[str, Any] = {"channel": one.channel, "name": one.name, **one.options}
        table |= {f"{setting}_env": variable for setting, variable in self._variables(one).items()}
        if not enabled:
            table["enabled"] = False
        why, fix = "", "Stop the other bot before you start this one: they would take each other's messages."
        if not one.enabled:
            why, fix = "off, as it was there", ""
        elif secrets is None:
            why, fix = OTHER_VALUE, "See which one is right: signalbox secrets list, signalbox secrets set"
        elif not has_all:
            why, fix = OFF, self._run_again(one)
        action = Action.TAKE if enabled or not one.enabled else Action.CHANGE
        if self._take(Item.ACCOUNTS, _of(one), [Add("accounts", table)], why, fix, action, secrets or {}) and enabled:
            self._renamed[one.channel, one.name] = one.name

    def _variables(self, one: FoundAccount) -> dict[str, str]:
        """Names of its secrets: the usual ones for the first account of a channel, with its name behind for others."""
        rows = [row.name for row in self.settings.accounts if row.channel == one.channel]
        firsts = [other.name for other in self.found.accounts if other.channel == one.channel]
        is_first = (not rows or rows[0] == one.name) and firsts[0] == one.name
        end = "" if is_first else f"_{one.name.upper().replace('-', '_')}"
        usual = BUILT_IN[one.channel].secrets
        return {setting: f"{usual[setting].variable}{end}" for setting in one.secrets}

    def _run_again(self, one: FoundAccount) -> str:
        missing = [name for name in self._variables(one).values() if not self._value(name, {})]
        return RUN_AGAIN.format(names=", ".join(missing)).rstrip()

    def _secrets(self, one: FoundAccount) -> dict[str, str] | None:
        """Values to seal, by name; None where another one is sealed under that name."""
        if not self.with_secrets:
            return {}
        named = {variable: one.secrets[setting] for setting, variable in self._variables(one).items()}
        if any(self.sealed.get(name, value) != value for name, value in named.items()):
            return None
        return {name: value for name, value in named.items() if name not in self.sealed}

    def _is_at_hand(self, name: str, new: Mapping[str, str]) -> bool:
        return bool(self._value(name, new))

    def _value(self, name: str, new: Mapping[str, str]) -> str:
        return new.get(name) or self.sealed.get(name) or self.settings.chain.variables.get(name) or ""

    def _known_accounts(self) -> None:
        """Note accounts that answer already: rooms and schedules may name them."""
        for one in self.found.accounts:
            same = self._same_account(one)
            if same is not None and self.settings.accounts[same - 1].enabled:
                self._renamed[one.channel, one.name] = one.name

    # ---------------------------------------------------------------------------------------------- rooms, models

    def _rooms(self) -> None:
        there = {(row.address, row.attention) for row in self.settings.rooms}
        wanted = [(one.channel, one.account, one.room, one.attention) for one in self.found.rooms]
        wanted += [(one.channel, one.name, "*", one.attention) for one in self.found.accounts if one.attention]
        for channel, account, room, attention in sorted(wanted, key=lambda one: one[2] == "*"):
            address = f"{channel}:{account}/{room}"
            if (address, attention) in there:
                self.plan.add(Item.ROOMS, address, Action.THERE)
            elif (channel, account) not in self._renamed:
                self.plan.add(Item.ROOMS, address, Action.LEAVE, "its account doesn't answer yet")
            else:
                table = {"address": address, "attention": attention}
                self._take(Item.ROOMS, address, [Add("rooms", table)], f'attention = "{attention}"')

    def _models(self) -> None:
        known = {self.settings.model.name, *(row.model for row in self.settings.models)}
        usable = [one for one in self._distinct() if (one.name in known and not one.api_base) or self._has_key(one)]
        if not usable:
            if self._renamed and self.settings.model.name == DEMO:
                self.plan.add(Item.MODELS, "model.name", Action.LEAVE, DEMO_ANSWERS, SET_MODEL)
            return
        first, *others = usable
        if self.settings.model.name not in (DEMO, first.name):
            why = f"{self.settings.model.name} answers here already"
            fix = f"signalbox config set model.name {quote(first.name)}"
            self.plan.add(Item.MODELS, first.name, Action.LEAVE, why, fix)
        elif self.settings.model.name == first.name:
            self.plan.add(Item.MODELS, first.name, Action.THERE)
        else:
            puts: list[Change] = [Put("model.name", first.name)]
            if first.api_base:
                puts.append(Put("model.api_base", first.api_base))
            if key := self._key_variable(first):
                puts.append(Put("model.api_key_env", key))
            self._take(Item.MODELS, first.name, puts, secrets=self._key_of(first))
        self._fallbacks(others)

    def _fallbacks(self, others: Sequence[FoundModel]) -> None:
        known = {row.model for row in self.settings.models}
        names = {row.name for row in self.settings.models}
        for one in others:
            if one.name in known:
                self.plan.add(Item.MODELS, one.name, Action.THERE)
                continue
            name = account_name(one.name.rpartition("/")[2], names)
            names.add(name)
            table = {"name": name, "model": one.name}
            table |= {"api_base": one.api_base} if one.api_base else {}
            table |= {"api_key_env": key} if (key := self._key_variable(one)) else {}
            why = f"as {name}: signalbox models"
            self._take(Item.MODELS, one.name, [Add("models", table)], why, secrets=self._key_of(one))

    def _distinct(self) -> Iterator[FoundModel]:
        """Each model once, without those that no vendor has."""
        seen: set[str] = set()
        for one in self.found.models[:JOBS_MAX]:
            if one.name in seen:
                continue
            seen.add(one.name)
            if fault := fault_of(one.name, one.api_base):
                self.plan.add(Item.MODELS, one.name, Action.LEAVE, fault)
            else:
                yield one

    def _has_key(self, one: FoundModel) -> bool:
        wanted = [*key_names(one.name)] or [name for name in (self._key_variable(one),) if name]
        if not wanted and vendor(one.name) in LOCAL_VENDORS:
            return True
        if at_hand := next(filter(None, (self._value(name, self._key_of(one)) for name in wanted)), ""):
            if one.api_base and at_hand != one.key:  # a folder names no place to which a key of ours is sent
                why = f"it is asked at {visible(one.api_base)}, and another key is here under {wanted[0]}"
                self.plan.add(Item.MODELS, one.name, Action.LEAVE, why, KEY_ELSEWHERE)
                return False
            return True
        name = wanted[0] if wanted else "its key"
        why = NEEDS_SECRETS if one.key else "its key isn't in that folder"
        fix = f"signalbox secrets set {name}, then: signalbox config set model.name {quote(one.name)}"
        self.plan.add(Item.MODELS, one.name, Action.LEAVE, why, fix)
        return False

    def _key_variable(self, one: FoundModel) -> str:
        """A variable for a vendor without a usual one; empty where there is one, or no key."""
        return f"{vendor(one.name).upper()}_API_KEY" if one.key and not key_names(one.name) else ""

    def _key_of(self, one: FoundModel) -> dict[str, str]:
        name = next(iter(key_names(one.name)), self._key_variable(one))
        if not (self.with_secrets and one.key and name) or name in self.sealed:
            return {}
        return {name: one.key}

    # ---------------------------------------------------------------------------------------------- prompt, schedules

    def _prompt(self) -> None:
        if not self.found.prompt:
            return
        file = self.settings.place.parent / PROMPTS_FOLDER / f"from-{account_name(self.found.program, set())}.md"
        text, taken = self._prompt_text()
        told = ", ".join(taken)
        current = self.settings.run.prompt_file
        if current is not None and current != file:
            self.plan.add(Item.PROMPT, told, Action.LEAVE, f"{current.name} is the prompt here already")
        elif file.is_symlink():
            self.plan.add(Item.PROMPT, told, Action.LEAVE, f"{file} is a link")
        elif file.exists() and file.read_text(encoding="utf-8", errors="replace") != text:
            self.plan.add(Item.PROMPT, told, Action.LEAVE, f"{file.name} is there, with other words")
        elif file.exists() and current == file:
            self.plan.add(Item.PROMPT, told, Action.THERE)
        elif taken:
            self.plan.prompt_file, self.plan.prompt = file, text
            self._made.append(Put("run.prompt_file", f"{PROMPTS_FOLDER}/{file.name}"))
            self.plan.add(Item.PROMPT, told, Action.CHANGE, f"behind our own words, in {PROMPTS_FOLDER}/{file.name}")

    def _prompt_text(self) -> tuple[str, list[str]]:
        """Our own prompt with theirs behind it, as long as it fits; and the names of what fits."""
        from bot.settings.sections.prompts import PROMPTS

        ours = (PROMPTS / "main.md").read_text(encoding="utf-8").strip()
        text = f"{ours}\n\n{PROMPT_INTRODUCTION.format(program=self.found.program)}\n"
        taken = []
        for name, words in self.found.prompt.items():
            more = f"\n# {name}\n\n{_plain(words)}\n"
            if len(text) + len(more) > PROMPT_MAX_CHARS:
                why = f"with it the prompt would have more than {PROMPT_MAX_CHARS:,} characters"
                self.plan.add(Item.PROMPT, name, Action.LEAVE, why, "Shorten it there, and run this again.")
                continue
            text += more
            taken.append(name)
        return text, taken

    def _schedules(self) -> None:
        there = {row.name: row for row in self.settings.schedules}
        seen: set[str] = set()
        for job in self.found.jobs[:JOBS_MAX]:
            channel, account, room = job.to
            address = f"{channel}:{self._renamed.get((channel, account), account)}/{room}"
            row = there.get(job.name)
            if row is not None:
                is_same = (row.when, row.prompt, row.to) == (job.when, job.prompt, (address,))
                why = "" if is_same else "there is another schedule of that name"
                self.plan.add(Item.SCHEDULES, job.name, Action.THERE if is_same else Action.LEAVE, why)
            elif job.name in seen:
                self.plan.add(Item.SCHEDULES, job.name, Action.LEAVE, "another of that name is taken over")
            elif (channel, account) not in self._renamed:
                fix = "" if self.with_secrets else "Run this again with --with-secrets."
                self.plan.add(Item.SCHEDULES, job.name, Action.LEAVE, f"{channel}:{account} doesn't answer yet", fix)
            else:
                self._take(
                    Item.SCHEDULES, job.name, [Add("schedules", _table_of(job, address))], f"{job.when}, {job.zone}"
                )
            seen.add(job.name)
        self.plan.left_more(Item.SCHEDULES, len(self.found.jobs), JOBS_MAX)

    # ---------------------------------------------------------------------------------------------------- one by one

    def _take(
        self,
        item: Item,
        name: str,
        changes: Sequence[Change],
        why: str = "",
        fix: str = "",
        action: Action = Action.TAKE,
        secrets: Mapping[str, str] | None = None,
    ) -> bool:
        """Plan them if the settings hold with them; else leave them, with the fault."""
        files = [one for one in self._made if isinstance(one, Put) and one.name == "run.prompt_file"]
        try:
            # The prompt's file isn't written yet.
            self.settings.with_text(self._text([*(one for one in self._made if one not in files), *changes]))
        except ConfigError as error:
            self.plan.add(item, name, Action.LEAVE, " ".join(str(error).split()))
            return False
        self._made += changes
        self.plan.secrets |= secrets or {}
        self.plan.add(item, name, action, why, fix)
        return True

    def _text(self, changes: Sequence[Change]) -> str:
        assert self.plan.settings is not None  # noqa: S101 - the plan begins with it
        return changed(self.plan.settings.text, changes)


def _of(one: FoundAccount) -> str:
    return f"{one.channel}:{one.name}"


def _plain(words: str) -> str:
    """Words without what a prompt would take for a value to fill in."""
    for mark in MARKS:
        words = words.replace(mark, f"{mark[0]} {mark[1]}")
    return words.strip()


def _table_of(job: FoundJob, address: str) -> dict[str, Any]:
    return {"name": job.name, "when": job.when, "zone": job.zone, "prompt": job.prompt, "to": [address]}
