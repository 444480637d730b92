"""Forms behind the buttons of a card, and what is read out of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.chat.forms import ARGUMENT, ARGUMENTS, FORMS, NO_FORM, changed_arguments, edit, form_of, readable
from runtime.contract import REASON, Choice, Form
from runtime.text.glyphs import visible
from tests.unit.chat.test_cards import PENDING

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
LONE = replace(PENDING, arguments='{"command": "uname -a"}')
SEVERAL = replace(PENDING, arguments='{"room": "general", "count": 2}')


@pytest.mark.parametrize("choice", FORMS)
def test_a_form_fits_every_platform_and_names_its_question(choice: Choice) -> None:
    card = '{"question": "Which colour?", "options": [], "to": ""}' if choice is Choice.TEXT else ""
    form = form_of(replace(LONE, card=card), choice)
    assert isinstance(form, Form)
    assert (form.approval_id, form.choice) == (LONE.id, choice)
    assert 1 <= len(form.fields) <= 5
    assert len(form.title) <= 24 or choice is Choice.EDIT
    assert len(form.send) <= 24


def test_a_choice_without_a_form_is_told_so() -> None:
    assert form_of(LONE, Choice.APPROVE) == NO_FORM


def test_a_call_with_one_text_shows_that_text_and_any_other_its_json() -> None:
    [field] = edit(LONE).fields
    assert (field.name, field.label, field.text) == (ARGUMENT, "Command", "uname -a")
    [field] = edit(SEVERAL).fields
    assert (field.name, field.text) == (ARGUMENTS, '{\n  "room": "general",\n  "count": 2\n}')
    [field] = edit(replace(PENDING, arguments='{"count": 2}')).fields
    assert field.name == ARGUMENTS


def test_nothing_in_the_form_is_hidden() -> None:
    [field] = edit(replace(PENDING, arguments=json.dumps({"command": "ls \u202e" + " " * 100 + "x"}))).fields
    assert field.text == "ls ⟨U+202E⟩⟨100 spaces⟩x"


def test_the_form_of_a_changed_call_carries_its_change() -> None:
    changed = replace(LONE, asked_arguments=LONE.arguments, card='{"edits": 3}')
    assert edit(changed).approval_id == f"{LONE.id}~3"


@given(TEXTS)
def test_a_text_that_is_sent_back_as_it_is_shown_is_no_change(text: str) -> None:
    text = text.replace("\r\n", "\n")
    about = replace(PENDING, arguments=json.dumps({"command": text}, ensure_ascii=False))
    [field] = edit(about).fields
    assert (
        changed_arguments(about, {field.name: field.text})
        == "You haven't changed anything. To run it as it is, approve it."
    )


@given(st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), st.booleans(), st.lists(TEXTS, max_size=3)), max_size=4))
def test_arguments_are_read_as_they_were_written(arguments: dict[str, object]) -> None:
    about = replace(PENDING, arguments='{"other": 1, "and": 2}')
    typed = visible(readable(json.dumps(arguments, ensure_ascii=False)))
    assert changed_arguments(about, {ARGUMENTS: typed}) == arguments


def test_a_reason_is_no_argument() -> None:
    assert isinstance(changed_arguments(LONE, {REASON: "because"}), str)
