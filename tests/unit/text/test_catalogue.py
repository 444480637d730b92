"""Every text that people read has a translation that fits it; and where people are spoken to, every text is marked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from bot.settings.sections.rooms import Language
from runtime.text.words import (
    AT_PLACE,
    ENGLISH,
    LANGUAGE,
    LANGUAGE_NAMES,
    LANGUAGES,
    Languages,
    catalogue,
    others,
    said_at,
    say,
)
from tests.catalogue import (
    PLACES,
    ROOT,
    SCRIPTS,
    Said,
    compiled,
    found,
    of_scripts,
    po_of,
    read,
    renewed,
    written,
)

SPEAK: Final = ("runtime/chat", "runtime/timeline", "adapters/web", "bot/console", "bot/operator/planning")
"""Folders in which every sentence is for people."""
FOR_MODELS: Final = frozenset({"runtime/chat/cards/verdicts.py", "runtime/chat/cards/asked_back.py:to_model"})
STAY_ENGLISH: Final[Mapping[str, str]] = {
    "Other role…": "a button that decides",
    "Deny with this reason": "a button that decides",
    "Accept this form": "a button that decides",
    "Leave it out": "a button that decides",
    "chart the table sales.csv as a line": "a phrase of the demo model",
    "write oat milk, bread, coffee to shopping.txt": "a phrase of the demo model",
    "remind me in 1 minute to stretch": "a phrase of the demo model",
    "the web page": "prompts tell it",
    "signalbox hands list": "a command",
    "every weekday at 9": "an example that is understood as it stands",
    "first Monday of the month at 8:30": "an example that is understood as it stands",
    "every day at 9": "no reader",
    "xcharts can only be drawn while Signalbox runs.": "for a template, in place of a result",
    "the web page does not take messages yet": "for operators",
    "unreachable: there is always a next number": "an error of ours",
    "the file became shorter while it was sent": "for the log",
    "signalbox agents new NAME": "a command",
    "signalbox skills install FOLDER": "a command",
    "about to begin": "a state, which a badge says",
    "an empty control token would let everybody in": "an error of ours",
    "list of texts": "a kind of setting",
    "list of tables": "a kind of setting",
    "card plain edit": "names of styles",
    "`x` must be a time such as 2026-01-31T12:00:00+00:00.": "for programs",
    "`x` must name its time zone, such as 2026-01-31T12:00:00+00:00.": "for programs",
}
"""Texts of those folders that aren't said, each with why."""
SENTENCE: Final = re.compile(r"[A-Z][\w']*[ ,].*[a-z]{2}.*[.?!…:]$|[a-z]{2,} [a-z]{2,} [a-z]{2,}", re.DOTALL)
"""Looks like something said: it begins and ends as a sentence, or has three words in a row."""


@pytest.mark.parametrize("language", others())
def test_every_text_has_a_translation(language: str) -> None:
    known, texts = read(language), found()
    missing = [said.text for said in texts if not _whole(known.get(said.text), said)]
    assert missing == [], "run python -m tests.catalogue, and translate what is empty in the .po file"
    assert {_key(one.id) for one in known if one.id} == {said.text for said in texts}, "run python -m tests.catalogue"


@pytest.mark.parametrize("language", others())
def test_a_translation_has_the_places_and_the_markup_of_its_text(language: str) -> None:
    wrong = {
        text: string
        for one in read(language)
        for text, string in zip(_forms(one.id), _forms(one.string), strict=True)
        if text and _shape(_forms(one.id)[-1]) != _shape(string)
    }
    assert wrong == {}


@pytest.mark.parametrize("language", others())
def test_what_is_compiled_is_what_is_written(language: str) -> None:
    known = read(language)
    assert po_of(language).read_bytes() == written(renewed(language, found()))
    assert po_of(language).with_suffix(".mo").read_bytes() == compiled(known)
    for folder in SCRIPTS:
        assert (folder / f"words.{language}.json").read_text(encoding="utf-8") == of_scripts(known, folder)


def test_settings_know_the_languages_of_the_catalogues() -> None:
    assert set(get_args(Language)) == set(LANGUAGE_NAMES)
    assert set(others()) == {path.name for path in (ROOT / "runtime/text/locale").iterdir()}


def test_whoever_speaks_marks_what_they_say() -> None:
    unmarked = {
        f"{path.relative_to(ROOT)}:{line}": text
        for folder in SPEAK
        for path in _modules(ROOT / folder)
        if str(path.relative_to(ROOT)) not in FOR_MODELS
        for line, text in _unmarked(path)
    }
    assert unmarked == {}


# ------------------------------------------------------------------------------------------------------- what is said


def test_words_are_said_in_the_language_of_their_room() -> None:
    LANGUAGES.set(Languages(ENGLISH, {"here": "de", "there": "en"}.get))  # type: ignore[arg-type]  # a name is a place
    AT_PLACE.set("here")
    assert (say("New conversation"), say("")) == ("Neue Unterhaltung", "")
    with said_at("there"):
        assert say("New conversation") == "New conversation"
    assert say("{who}, in {title}", who="Ann", title="{x}") == "Ann, in {x}"


def test_a_readers_own_language_goes_before_that_of_the_room() -> None:
    LANGUAGES.set(Languages("de"))
    LANGUAGE.set(ENGLISH)
    assert say("Yesterday") == "Yesterday"
    with said_at("elsewhere"):  # a copy of a card is for others
        assert say("Yesterday") == "Gestern"


def test_a_readers_language_is_kept_for_what_is_said_in_their_room_later() -> None:
    known = Languages()
    assert known.are_english
    known.hear("their room", "de")
    assert (known.of("their room"), known.of("another"), known.are_english) == ("de", ENGLISH, False)


def test_nothing_is_loaded_for_english() -> None:
    before = catalogue.cache_info().currsize
    LANGUAGES.set(Languages())
    LANGUAGE.set("")
    assert say("Today") == "Today"
    assert catalogue.cache_info().currsize == before


# ------------------------------------------------------------------------------------------------------------ looked at


def _modules(place: Path) -> Sequence[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def _whole(one: Any, said: Said) -> bool:
    if one is None or isinstance(one.id, tuple) != bool(said.many):
        return False
    return all(one.string) if isinstance(one.string, tuple) else bool(one.string)


def _key(identity: Any) -> str:
    return _forms(identity)[0]


def _forms(told: Any) -> Sequence[str]:
    """The forms of a text, of which one that counts has two."""
    return tuple(told) if isinstance(told, tuple | list) else (str(told),)


def _shape(text: str) -> Mapping[str, Any]:
    """Places, as a set: a language may name one twice; how often bold begins or ends; pieces of code; paragraphs."""
    return {
        "places": set(PLACES.findall(text)),
        "bold": text.count("**"),
        "code": text.count("`"),
        "paragraphs": text.count("\n\n"),
        "around": (text[:1].isspace(), text[-1:].isspace()),
    }


def _unmarked(path: Path) -> Iterator[tuple[int, str]]:
    """Literals that look like something said and that no function of ours says."""
    name, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))
    stack: list[ast.AST] = []

    def walk(node: ast.AST) -> Iterator[tuple[int, str]]:
        text = _text_of(node)
        if text is not None:
            if SENTENCE.search(text) and text not in STAY_ENGLISH and not _is_said(stack):
                yield getattr(node, "lineno", 0), text
            return
        if isinstance(node, ast.FunctionDef) and f"{name}:{node.name}" in FOR_MODELS:
            return
        stack.append(node)
        for child in ast.iter_child_nodes(node):
            yield from walk(child)
        stack.pop()

    yield from walk(tree)


def _text_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "x" for one in node.values)
    return None


def _is_said(stack: list[ast.AST]) -> bool:
    """In a call that says it, in one that is for operators or patterns, or a docstring."""
    if isinstance(stack[-1], ast.Expr):
        return True
    calls = [node for node in stack if isinstance(node, ast.Call)]
    names = {node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "") for node in calls}
    return bool(names & {"say", "say_many", "marked", "several", "compile", "info", "warning", "error", "debug"})
