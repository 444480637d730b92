"""Changing settings: what an edit would do, and doing it, for an owner who has shown just now that it is them."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from bot.operator.partial_api import PartialApi, by_role
from bot.operator.settings.live import LiveSettings
from bot.operator.settings.meanwhile import meanwhile, must_be_there
from bot.operator.settings.outcomes import changed_outcomes
from bot.operator.settings.reading import against_writing, live_of, takes_effect, text_of
from bot.operator.views import View
from bot.settings.editing.diffs import unified
from bot.settings.editing.documents import Change, changed
from bot.settings.editing.edits import Edit, EditVerb, Fault, changes_of
from bot.settings.editing.file import FileChanged, SettingsText, replace_file
from bot.settings.editing.guards import Editor, objections, widened
from bot.settings.editing.wording import change_words
from bot.settings.settings import Settings
from runtime.contract import Role
from runtime.errors import ConfigError, StoreError
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.text.glyphs import visible
from runtime.text.words import marked, say

log = structlog.get_logger("settings")

CONFIRM: Final = marked("Show once more that it's you: open your link, or paste it here. That holds for ten minutes.")
CHANGED_MEANWHILE: Final = marked(
    "{file} was changed since you opened this. Nothing was saved, and what you typed is still here. Look at the new change below, "
    "then save again."
)
BY_COMMAND_ALONE: Final = marked("Only a command on the machine that runs Signalbox does this.")
NOTHING_NEW: Final = marked("The file says that already.")
ACCEPT: Final = marked("This lets people do more than now. Say that you want it, then save again.")
UNDONE: Final = marked("The settings were not taken over, so the file is as it was: {why}")
NOT_PUT_BACK: Final = marked(
    "The settings were not taken over, and the file could not be put back: {why} Look at it before the next start."
)
SAVED: Final = marked("Saved.")
FAULT: Final = re.compile(r'^\s+(?P<name>[a-z][\w.\[\]]*)(?: \("[^"]*"\))?: (?P<words>.*)$')


@dataclass(frozen=True, slots=True)
class Trial:
    """An edit that was tried on the file that is there now."""

    text: SettingsText
    fresh: str
    changes: Sequence[Change]
    before: Settings
    after: Settings | None
    faults: Sequence[Fault]
    widened: Sequence[str]
    outcomes: Sequence[View]


@by_role
class ChangesApi(PartialApi):
    """Edits of the settings file."""

    async def try_settings(self, name: str, fields: Mapping[str, Any]) -> View:
        """Try an edit: its faults, the change of the file, and its meaning. Nothing is written."""
        live = live_of(self)
        edit = _edit(name, fields)
        trial = await self._tried(live, edit, fields)
        return {**self._told(trial, live), "meanwhile": meanwhile(edit, fields, trial.text)}

    async def change_settings(self, name: str, fields: Mapping[str, Any]) -> View:
        """Write an edit into the file, and have it taken over. Errors: Refusal 403 unless confirmed, 409 for a file that changed."""
        live = live_of(self)
        self.must_be_confirmed(live)
        if against := await against_writing(live):
            raise Refusal(409, against)
        trial = await self._tried(live, _edit(name, fields), fields)
        if trial.text.digest != fields.get("digest"):
            raise Refusal(409, say(CHANGED_MEANWHILE, file=trial.text.path.name))
        if trial.faults:
            raise Refusal(422, "\n".join(_sentence(fault) for fault in trial.faults))
        if trial.widened and fields.get("accept") != "yes":
            raise Refusal(422, "\n".join([say(ACCEPT), *trial.widened]))
        return await self._written(live, trial)

    async def settings_edited(self, fields: Mapping[str, Any]) -> View:
        """Note that a command of this machine is about to change the file, or, with `undone`, that it was put back.

        Errors: Refusal 403 for a browser, which has no file.
        """
        if not self.actor.hand:
            raise Refusal(403, BY_COMMAND_ALONE)
        names, details, undone = (str(fields.get(key, "")) for key in ("names", "details", "undone"))
        live = self._context.live_settings
        if undone:
            await self._note_undone(names, self._context.door().clean(undone, Gate.HANDED_ON))
        else:
            cleaned = self._context.door().clean(details, Gate.HANDED_ON)
            await self._store.cluster.note_fact("settings changed", self.actor.name, names, cleaned)
            if live is not None:
                await self._tell(live, names, cleaned, str(fields.get("digest", "")))
        return {"is_at_work": live is not None and live.is_at_work}

    async def write(self, live: LiveSettings, changes: Sequence[Change]) -> View:
        """Write changes that Signalbox itself has made up, such as an account whose tokens were just checked. Errors: Refusal."""
        self.must_be_confirmed(live)
        if against := await against_writing(live):
            raise Refusal(409, against)
        text = await asyncio.to_thread(_read, live)
        trial = await self._of_changes(live, text, changes, [])
        if trial.faults:
            raise Refusal(422, "\n".join(_sentence(fault) for fault in trial.faults))
        return await self._written(live, trial)

    def must_be_confirmed(self, live: LiveSettings) -> None:
        """A command of this machine has shown it by its token. Errors: Refusal 403."""
        if not self.actor.hand and not live.confirmations.left(self.actor.session):
            raise Refusal(403, CONFIRM)

    # ------------------------------------------------------------------------------------------------------ the trial

    async def _tried(self, live: LiveSettings, edit: Edit, fields: Mapping[str, Any]) -> Trial:
        text = await asyncio.to_thread(_read, live)
        must_be_there(edit, fields, text)
        current = await _before(live)
        changes, faults = await asyncio.to_thread(changes_of, edit, text.text.replace("\r\n", "\n"), current)
        return await self._of_changes(live, text, changes, faults)

    async def _of_changes(
        self, live: LiveSettings, text: SettingsText, changes: Sequence[Change], faults: list[Fault]
    ) -> Trial:
        before, after, fresh = await _before(live), None, text.text
        if changes:
            try:
                fresh = await asyncio.to_thread(changed, text.text, changes)
                after = await live.trial(fresh)
            except ConfigError as error:
                faults = [*faults, *faults_of(str(error))]
        more: list[str] = []
        outcomes: list[View] = []
        if after is not None:
            faults = [*faults, *objections(before, after, tomllib.loads(text.text), changes, await self._editor())]
            outcomes = changed_outcomes(before, after, self._context.tools())
            more = [*widened(before, after), *(row["words"] for row in outcomes if row["is_freer"])]
        return Trial(text, fresh, changes, before, after, faults, more, outcomes)

    async def _editor(self) -> Editor:
        people = await self._store.people.people()
        own = [one for one in people if one.person.id == self.actor.person.id]
        owners = [one for one in people if one.person.role is Role.OWNER]
        return Editor(
            *(
                frozenset(name for one in some for name in (one.person.name, *one.identities))
                for some in (own, owners, people)
            )
        )

    def _told(self, trial: Trial, live: LiveSettings) -> View:
        return {
            "digest": trial.text.digest,
            "file": str(trial.text.path),
            "diff": unified(trial.text.path.name, trial.text.text, trial.fresh, self._context.mask),
            "faults": [{"name": fault.name, "words": fault.words} for fault in trial.faults],
            "widened": list(trial.widened),
            "outcomes": list(trial.outcomes),
            "takes_effect": {change.name: takes_effect(live, change.name) for change in trial.changes},
            "told": "" if trial.changes or trial.faults else say(NOTHING_NEW),
            "is_confirmed": bool(self.actor.hand or live.confirmations.left(self.actor.session)),
        }

    # ------------------------------------------------------------------------------------------------------ the write

    async def _written(self, live: LiveSettings, trial: Trial) -> View:
        if not trial.changes or trial.fresh == trial.text.text:
            raise Refusal(422, NOTHING_NEW)
        said = tomllib.loads(trial.text.text)
        words = "; ".join(change_words(change, said, self._context.mask) for change in trial.changes)
        details = self._context.door().clean(words, Gate.HANDED_ON)
        names = ", ".join(change.name for change in trial.changes)
        await self._store.cluster.note_fact("settings changed", self.actor.name, names, details)
        try:
            digest = await asyncio.to_thread(replace_file, trial.text.place, trial.text.digest, trial.fresh)
        except FileChanged:
            await self._note_undone(names, "the file was changed meanwhile")
            raise Refusal(409, say(CHANGED_MEANWHILE, file=trial.text.path.name)) from None
        except ConfigError as error:
            await self._note_undone(names, str(error.__cause__ or error))  # the audit is English
            raise Refusal(409, str(error)) from error
        taken = await self._taken_over(trial, digest, names)
        await self._tell(live, names, details, digest)
        log.info("settings changed in the page", by=self.actor.name, names=names)
        return {
            **taken,
            "state": "saved",
            "told": say(SAVED),
            "digest": digest,
            "diff": unified(trial.text.path.name, trial.text.text, trial.fresh, self._context.mask),
        }

    async def _taken_over(self, trial: Trial, digest: str, names: str) -> View:
        try:
            return await self._context.reload(self.actor.name)
        except (ConfigError, StoreError) as error:
            await self._put_back(trial, digest, names)
            raise Refusal(422, say(UNDONE, why=error)) from error

    async def _put_back(self, trial: Trial, digest: str, names: str) -> None:
        try:
            await asyncio.to_thread(replace_file, trial.text.place, digest, trial.text.text)
        except ConfigError as error:
            raise Refusal(409, say(NOT_PUT_BACK, why=error)) from error
        await self._note_undone(names, "they were not taken over")

    async def _note_undone(self, names: str, why: str) -> None:
        await self._store.cluster.note_fact("settings kept", self.actor.name, names, why)

    async def _tell(self, live: LiveSettings, names: str, details: str, digest: str) -> None:
        """Operators hear of it in their room; where they have none, log and audit tell it. What fails here undoes nothing."""
        text = f"**{visible(self.actor.name, one_line=True)} changed the settings**: {details}"
        try:
            await live.tell(f"settings:{digest}:{self._context.new_id()}", text)
        except Exception:
            log.exception("operators were not told of changed settings", names=names)


def faults_of(words: str) -> list[Fault]:
    """Faults of the reader of settings, each at its setting."""
    found: list[Fault] = []
    for line in words.splitlines():
        if match := FAULT.match(line):
            found.append(Fault(match["name"], match["words"]))
        elif found and line.startswith("    "):
            found[-1] = Fault(found[-1].name, f"{found[-1].words} {line.strip()}")
    return found or [Fault("", words)]


def _edit(name: str, fields: Mapping[str, Any]) -> Edit:
    """Errors: Refusal 400 for a form that is none."""
    values = fields.get("values", {})
    try:
        verb = EditVerb(fields.get("verb", EditVerb.SET))
    except ValueError:
        raise Refusal(400, f"`verb` must be one of: {', '.join(EditVerb)}.") from None
    if not isinstance(values, dict):
        raise Refusal(400, "`values` must be an object.")
    return Edit(name, verb, values)


async def _before(live: LiveSettings) -> Settings:
    """Settings as the file has them now; those in effect where it is broken."""
    try:
        return await live.now()
    except ConfigError:
        return live.current()


def _read(live: LiveSettings) -> SettingsText:
    """Errors: Refusal 409 for a file that can't be changed from here."""
    try:
        text = text_of(live.current())
        tomllib.loads(text.text)
    except ConfigError as error:
        raise Refusal(409, str(error)) from error
    except tomllib.TOMLDecodeError as error:
        raise Refusal(
            409, say("The settings file is no TOML now ({error}). Put it right there.", error=error)
        ) from None
    return text


def _sentence(fault: Fault) -> str:
    return f"{fault.name}: {fault.words}" if fault.name else fault.words
