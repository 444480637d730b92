"""Skills in the words that people read, and what a chat command asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from runtime.chat.views.skills import (
    FORM_GONE,
    SKILL_CARD,
    ToldSkill,
    accepted,
    card_form_of,
    form_of,
    listing,
    one,
    ready_already,
    unknown,
)
from runtime.domain.agents.manifest import Manifest
from runtime.domain.skills.lock import difference
from runtime.domain.skills.matching import uses
from runtime.domain.skills.skill import Skill
from runtime.skills.ready import ReadySkills, Shelved
from runtime.store.protocol.intake import SkillAnswer
from runtime.text.words import say

APPROVE: Final = "approve"


def told_of(name: str, shelved: Shelved) -> ToldSkill:
    found = shelved.found
    if found.skill is None:
        return ToldSkill(name, wrong=found.wrong)
    return ToldSkill(
        name,
        shelved.standing,
        found.skill,
        difference(found.skill, found.text, shelved.lock),
        found.warned,
        found.able,
        shelved.lacks,
    )


class SkillCommands:
    """Answers `/skills`, `/skill NAME` and a click on a skill's card, before the transaction that takes it in."""

    def __init__(
        self,
        ready: ReadySkills,
        manifests: Callable[[], Mapping[str, Manifest]],
        clean: Callable[[str], str] = str,
    ) -> None:
        """`clean` takes secrets out of what is kept of a skill's text."""
        self._clean = clean
        self._ready = ready
        self._manifests = manifests

    async def __call__(self, agent: str, command: str, argument: str, mark: str) -> SkillAnswer:
        all_ = await self._ready.look()
        if command == SKILL_CARD:
            return self._of_card(argument, all_)
        known = {name: shelved for (whose, name), shelved in sorted(all_.items()) if whose in ("", agent)}
        words = argument.split()
        if not words:
            manifest = self._manifests().get(agent) or Manifest(name=agent, skills=())
            told = [told_of(name, one_) for name, one_ in known.items() if _is_for(one_, manifest)]
            return SkillAnswer(listing(told, mark))
        name, form = asked(command, words)
        # A form is that of one skill alone: also of another agent's own, which the operators' room was asked about.
        of_form = (one for (_, called), one in all_.items() if called == name and form_of(one.found.skill) == form)
        shelved = next(of_form, None) if form else None
        shelved = shelved or known.get(name)
        if shelved is None:
            return SkillAnswer(unknown(name, list(known), mark))
        skill = shelved.found.skill
        if skill and form and form == form_of(skill) and not shelved.standing.is_open:
            return self._accepting(skill, shelved)
        return SkillAnswer(one(told_of(name, shelved), mark))

    def _of_card(self, form: str, all_: Mapping[tuple[str, str], Shelved]) -> SkillAnswer:
        """The form itself tells which skill is meant."""
        for shelved in all_.values():
            if (skill := shelved.found.skill) and card_form_of(skill) == form:
                return (
                    SkillAnswer(ready_already(skill.name))
                    if shelved.standing.is_open
                    else self._accepting(skill, shelved)
                )
        return SkillAnswer(say(FORM_GONE))

    def _accepting(self, skill: Skill, shelved: Shelved) -> SkillAnswer:
        self._ready.expire()
        return SkillAnswer(accepted(skill.name), skill, self._clean(shelved.found.text))


def asked(command: str, words: Sequence[str]) -> tuple[str, str]:
    """The skill that is meant, and the form of it that is to be accepted; empty where none is.

    >>> (
    ...     asked("skills", ["approve", "notes", "1a2b3c4d"]),
    ...     asked("skills", ["approve", "notes"]),
    ...     asked("skill", ["notes"]),
    ... )
    (('notes', '1a2b3c4d'), ('notes', ''), ('notes', ''))
    """
    if command == "skills" and words[0].lower() == APPROVE and len(words) > 1:
        return words[1].lower(), "".join(words[2:3]).lower()
    return words[-1].lower(), ""


def _is_for(shelved: Shelved, manifest: Manifest) -> bool:
    """True for what an agent has, or would have once it's in order."""
    return shelved.found.skill is None or uses(shelved.found.skill, manifest)
