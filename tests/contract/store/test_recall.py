"""One dialogue of the suite of five abilities; `make bench ARGS=recall` asks twenty."""

from __future__ import annotations

import pytest

from bench.recall.abilities import Score, asked, told, with_vectors
from bench.recall.dialogues import Ability, Question, dialogue
from runtime.store.store import Store
from tests.contract.store.stage import HandClock
from tests.contract.store.test_memory_vectors import Model

CHATTER = 10


def right(scores: dict[Ability, Score]) -> tuple[list[str], int, int]:
    """Questions without their answer; and rows that should not have come, superseded and foreign."""
    every = scores.values()
    missed = [text for one in every for text in one.missed]
    return missed, sum(one.superseded for one in every), sum(one.foreign for one in every)


async def test_every_ability_holds_by_words_and_by_meaning(store: Store, clock: HandClock) -> None:
    story = dialogue(7, CHATTER)
    ended = await told(store, clock, story)
    assert len(ended) == 2
    words = {ability: Score() for ability in Ability}
    await asked(store, story, ended, None, words)
    missed, superseded, foreign = right(words)
    assert [one.text for one in story.questions if one.is_direct and one.text in missed] == []
    assert (superseded, foreign) == (0, 0)
    await with_vectors(store, model := Model())
    both = {ability: Score() for ability in Ability}
    await asked(store, story, ended, model, both)
    assert right(both) == ([], 0, 0)


@pytest.mark.parametrize("whole", [True, False])
def test_a_score_counts_what_it_says(whole: bool) -> None:
    score = Score()
    score.add(Question(Ability.TIME, "When?", frozenset(["then"]), whole), right=False)
    score.add(Question(Ability.TIME, "Since?", frozenset(["then"]), whole), right=True)
    counts = (score.direct, score.direct_right) if whole else (score.other, score.other_right)
    assert (*counts, score.missed) == (2, 1, ["When?"])
