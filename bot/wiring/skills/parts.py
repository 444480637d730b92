"""Parts of one process that have to do with skills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bot.settings.settings import Settings
from bot.wiring.skills.book import AcceptedSkills
from bot.wiring.skills.places import lacks_of, places_of
from bot.wiring.skills.proposal_undo import WrittenUndo
from bot.wiring.skills.proposals import WrittenProposals
from runtime.agent.duties.skilled import Skilled
from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import SKILLS
from runtime.contract import Tool
from runtime.domain.agents.manifest import Manifest
from runtime.domain.skills.matching import uses
from runtime.domain.skills.skill import Source
from runtime.skills.ready import ReadySkills
from runtime.skills.shelf import Shelf, ShelfPlace
from runtime.store.skills.store import SkillLockStore
from runtime.store.store import Store
from tools.skills.proposing import propose_tool


@dataclass(frozen=True, slots=True)
class SkillParts:
    """`ready` knows which skills agents may have, `book` is for tools, and `skilled` gives runs what they need of them.

    `every` looks at all places for people, also at those that no agent here uses.
    """

    ready: ReadySkills
    every: ReadySkills
    book: AcceptedSkills
    skilled: Skilled
    store: SkillLockStore
    ring: Callable[[], object]


def skills_of(
    settings: Callable[[], Settings],
    manifests: Callable[[], Mapping[str, Manifest]],
    store: Store,
    notifier: LocalNotifier,
) -> SkillParts:
    """Nothing is read yet: folders are looked for, and no file in them is opened."""

    def used() -> list[ShelfPlace]:
        shipped = any(manifest.skills for manifest in manifests().values())  # only those that are named are had
        return [place for place in places_of(settings()) if shipped or place.source is not Source.SHIPPED]

    def made(places: Callable[[], Sequence[ShelfPlace]]) -> ReadySkills:
        return ReadySkills(
            shelf=Shelf(places),
            locks=store.skills,
            lacks=lambda skill: lacks_of(settings(), skill),
            users=lambda skill: [name for name, manifest in manifests().items() if uses(skill, manifest)],
            rung=notifier.listen(SKILLS),
            now=store.now,
        )

    ready, every = made(used), made(lambda: places_of(settings()))
    book = AcceptedSkills(ready=ready, settings=settings, manifests=manifests, note=store.cluster.note_fact)
    skilled, ring = Skilled(shelf=ready, note=store.skills.use_skill), partial(notifier.notify, SKILLS)
    return SkillParts(ready, every, book, skilled, store.skills, ring)


def proposing_of(settings: Callable[[], Settings], parts: SkillParts, clean: Callable[[str], str]) -> Sequence[Tool]:
    """The tool by which agents propose skills; none where the settings turn it off."""
    if not settings().skills.proposals:
        return ()
    proposals = WrittenProposals(settings=settings, ready=parts.ready, store=parts.store, ring=parts.ring, clean=clean)
    undo = WrittenUndo(settings=settings, ready=parts.ready, store=parts.store, ring=parts.ring, clean=clean)
    return (propose_tool(proposals, undo),)
