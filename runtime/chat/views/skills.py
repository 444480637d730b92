"""Words about skills: the question to owners, the list, and answers to `/skills` and `/skill`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import ApprovalId, Button, Choice, Content, Mark
from runtime.domain.ids import digest
from runtime.domain.skills.lock import Difference, Standing
from runtime.domain.skills.lock import in_words as differences
from runtime.domain.skills.scanning import Capabilities, Warned
from runtime.domain.skills.scanning import in_words as abilities
from runtime.domain.skills.skill import Skill
from runtime.text.glyphs import clip, fenced, plainly
from runtime.text.words import marked, say

DESCRIPTION_MAX_CHARS: Final = 160
WARNINGS_SHOWN: Final = 8
SKILLS_LISTED_MAX: Final = 40
ONLY_OWNERS_ACCEPT: Final = marked("Only owners can accept a skill. I've told them already if they have a room for it.")
FORM_LETTERS: Final = 12
CARD_FORM_LETTERS: Final = 24
"""Behind a button: nobody reads them, and nobody makes another form with the same ones."""
SKILL_CARD: Final = "skill-"
"""Begins the id behind the buttons of a skill's card; the form that is asked about ends it."""
ANSWERED_ALREADY: Final = marked("This question was answered already.")
FORM_GONE: Final = marked("That form of the skill isn't there any more. Answer the newest question about it.")
NO_SKILLS_HERE: Final = marked("There are no skills here yet.")
STATE_WORDS: Final = {
    Standing.TRUSTED: marked("ready, came with Signalbox"),
    Standing.ACCEPTED: marked("ready"),
    Standing.NEW: marked("waits for an owner"),
    Standing.CHANGED: marked("changed, waits for an owner"),
}


NO_DIFFERENCE: Final = Difference()


@dataclass(frozen=True, slots=True)
class ToldSkill:
    """A skill with all that people are told before they accept it. `wrong`: it can't be read."""

    name: str
    standing: Standing = Standing.NEW
    skill: Skill | None = None
    difference: Difference = NO_DIFFERENCE
    warned: Sequence[Warned] = ()
    able: Capabilities | None = None
    lacks: Sequence[str] = ()
    wrong: Sequence[str] = ()

    @property
    def state(self) -> str:
        """Its standing in a few words."""
        if self.wrong:
            return say("can't be read: {wrong}", wrong="; ".join(self.wrong))
        if self.standing.is_open and self.lacks:
            return say("not usable: needs {lacks}", lacks=", ".join(self.lacks))
        return say(STATE_WORDS[self.standing])


def question(told: ToldSkill) -> str:
    """The question to owners, in the operators' room and wherever somebody looks at one that waits."""
    head = (
        say("**The skill {name} changed.** It isn't loaded until an owner accepts it.", name=told.name)
        if told.standing is Standing.CHANGED
        else say("**The skill {name} is new.** It isn't loaded until an owner accepts it.", name=told.name)
    )
    ways = say(
        "To accept it: `signalbox skills approve {name}`, the console's Skills page, or `/skills "
        "approve {name} {form}`.",
        name=told.name,
        form=form_of(told.skill),
    )
    return "\n\n".join(filter(None, (head, *details(told), ways)))


def card(told: ToldSkill) -> Content:
    """The question as the operators' room has it, to be answered by a button."""
    about = ApprovalId(f"{SKILL_CARD}{card_form_of(told.skill)}")
    return Content(
        question(told),
        (Button(about, Choice.APPROVE, "Accept this form"), Button(about, Choice.NO, "Leave it out")),
    )


def answered_card(card: Content, name: str, who: str, *, accepted: bool) -> Content:
    """The card once an owner answered it; what was asked is folded under it."""
    mark, did = (Mark.YES, say("accepted")) if accepted else (Mark.NO, say("left out"))
    after = "" if accepted else say(" No agent has it until it changes again, or an owner accepts it.")
    return Content(
        say(
            "{mark} **{who} {did} the skill {name}** in this form.{after}",
            mark=mark,
            who=plainly(who),
            did=did,
            name=name,
            after=after,
        ),
        folded=card.text.rpartition("\n\n")[0],
        mark=mark,
    )


def card_origin(skill: Skill) -> str:
    """Origin of the card about this form."""
    return f"skill:{skill.locked_as}:{skill.digest[:CARD_FORM_LETTERS]}"


def card_form_of(skill: Skill | None) -> str:
    """Names the form and whose skill it is: an agent's own one may be the same as one of all."""
    return digest(f"{skill.locked_as} {skill.digest}")[:CARD_FORM_LETTERS] if skill else ""


def form_of(skill: Skill | None) -> str:
    """The beginning of a form's digest: who accepts a skill in a chat names the form that they read."""
    return skill.digest[:FORM_LETTERS] if skill else ""


def details(told: ToldSkill) -> list[str]:
    """Paragraphs on one skill: what it is, what it can do, what stands out, and what differs."""
    parts: list[str] = []
    if told.skill:
        parts.append(plainly(clip(told.skill.description, 500)))
    lines = [
        *(abilities(told.able) if told.able else ()),
        *(say("Needs {one}, which isn't here", one=one) for one in told.lacks),
    ]
    parts.append("\n".join(f"- {plainly(line)}" for line in lines))
    if told.warned:
        more = len(told.warned) - WARNINGS_SHOWN
        found = [f"- {plainly(str(one))}" for one in told.warned[:WARNINGS_SHOWN]]
        parts.append(
            "\n".join(
                [say("Look at this first:"), *found, *([say("- and {more} more", more=more)] if more > 0 else ())]
            )
        )
    if told.standing is Standing.CHANGED:
        parts.append(
            "\n".join([say("Since it was accepted:"), *(f"- {line}" for line in differences(told.difference))])
        )
    if told.difference.lines and not told.standing.is_open:
        parts.append(fenced("\n".join(told.difference.lines), "diff"))
    return [part for part in parts if part]


def listing(skills: Iterable[ToldSkill], mark: str) -> str:
    """Answer to `/skills`."""
    known = list(skills)
    if not known:
        return say(NO_SKILLS_HERE)
    lines = [f"- `{one.name}` · {plainly(one.state)}{_about(one)}" for one in known[:SKILLS_LISTED_MAX]]
    return "\n".join([*lines, "", say("To use one: `{mark}skill NAME what you want`", mark=mark)])


def one(told: ToldSkill, mark: str) -> str:
    """Answer to `/skill NAME`."""
    if not told.standing.is_open and not told.wrong:
        return question(told)
    how = (
        say("To use it: `{mark}skill {name} what you want`", mark=mark, name=told.name)
        if told.standing.is_open and not told.lacks
        else ""
    )
    return "\n\n".join(filter(None, (f"`{told.name}` · {plainly(told.state)}", *details(told), how)))


def unknown(name: str, known: Sequence[str], mark: str) -> str:
    there = (
        say(" There are: {names}.", names=", ".join(f"`{one}`" for one in known[:SKILLS_LISTED_MAX])) if known else ""
    )
    return say(
        "There's no skill called `{name}`.{there} `{mark}skills` lists them.",
        name=plainly(name[:64]),
        there=there,
        mark=mark,
    )


def ready_already(name: str) -> str:
    return say("The skill {name} is accepted in this form already.", name=name)


def left_out(name: str) -> str:
    return say("The skill {name} is left out in this form.", name=name)


def accepted(name: str) -> str:
    return say(
        "The skill {name} is accepted as it is now. Agents that have it can use it from their next message on.",
        name=name,
    )


def _about(told: ToldSkill) -> str:
    return f" · {plainly(clip(told.skill.description, DESCRIPTION_MAX_CHARS))}" if told.skill else ""
