"""Nobody is called who was not meant: mass mentions in a reply are words only."""

from __future__ import annotations

import pytest
from hypothesis import given

from runtime.markup import mass_mentions, neutralised, neutralised_text, parse, to_plain
from runtime.markup.mentions import NOTHING_WIDE
from tests.unit.markup.shapes import markdown

MASS = mass_mentions("@everyone", "@here", "<!channel>")


def shown(text: str) -> str:
    return to_plain(neutralised(parse(text), MASS))


@pytest.mark.parametrize(
    "text", ["@everyone", "a @here b", "<!channel>", "@EveryOne", "x@here", "@@everyone", "(@here)"]
)
def test_a_mass_mention_reads_the_same_and_calls_nobody(text: str) -> None:
    assert MASS.search(shown(text)) is None
    assert shown(text).replace(NOTHING_WIDE, "") == text


@pytest.mark.parametrize(
    "text",
    [
        "# @here",
        "- @here",
        "> @here",
        "|@here|\n|-|",
        "|a|\n|-|\n|@here|",
        "**@here**",
        "[@here](http://x.io)",
        "~~@here~~",
    ],
)
def test_wherever_it_stands_in_a_text(text: str) -> None:
    assert "@" + NOTHING_WIDE + "here" in shown(text)


@pytest.mark.parametrize("text", ["@every**one**", "**@**here", "*@he*re", "[@](http://x.io)here @[here](http://y.io)"])
def test_marks_between_its_letters_do_not_hide_it(text: str) -> None:
    assert MASS.search(shown(text).replace(" (http://x.io)", "")) is None


@pytest.mark.parametrize("text", ["`@everyone`", "```\n@everyone\n```", "    @here", "- ```\n  @here\n  ```"])
def test_code_stays_as_it_is(text: str) -> None:
    document = parse(text)
    assert neutralised(document, MASS) == document


def test_people_and_addresses_are_left_alone() -> None:
    document = parse("@ada wrote to [Bob](mailto:bob@here.example) <@U1>")
    assert neutralised(document, MASS) == document


def test_a_plain_twin_spares_nothing() -> None:
    assert MASS.search(neutralised_text("see `@everyone` @here", MASS)) is None


@given(markdown)
def test_other_text_is_not_touched(text: str) -> None:
    document = parse(text)
    assert neutralised(document, MASS) == document
