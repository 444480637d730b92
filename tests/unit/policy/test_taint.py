"""After outside text a call gets no further than a card, unless people of the room named all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import UNDECLARED, Carries, Effect, Flow, Json, Reads
from runtime.policy.named import Named
from runtime.policy.rules import Rule, Ruling
from runtime.policy.taint import (
    CLEAN,
    CarriedCall,
    Known,
    ReadStep,
    Taint,
    TaintedRuling,
    after,
    reaches_out,
    taint_of,
    tainted_ruling,
)

FETCH: Final = Flow(Reads.OUTSIDE, "{url}", carries={"url": Carries.HOST, "max_characters": Carries.DETAIL})
SEND: Final = Flow(Reads.OURS, carries={"to": Carries.RECIPIENT, "text": Carries.WORDS})
PAY: Final = Flow(Reads.OURS, carries={"to": Carries.RECIPIENT, "amount": Carries.AMOUNT, "date": Carries.DETAIL})
EVENT: Final = Flow(
    Reads.OURS,
    carries={"title": Carries.THING, "guests": Carries.RECIPIENT, "about": Carries.WORDS, "at": Carries.DETAIL},
)
DELETE: Final = Flow(Reads.OURS, carries={"id": Carries.THING})
READ: Final = CLEAN.entered("example.org", 2)
ALLOWS: Final = Rule(Ruling.ALLOW)


def ruled(call: CarriedCall, *said: str, hosts: tuple[str, ...] = (), rule: Rule | None = ALLOWS) -> TaintedRuling:
    return tainted_ruling(Ruling.ALLOW, call, Known(READ, Named(said, hosts)), rule)


def write(flow: Flow, shown: Mapping[str, str] | None = None, **arguments: Json) -> CarriedCall:
    return CarriedCall(Effect.WRITE, arguments, flow, shown or {})


def fetch(url: str, flow: Flow = FETCH) -> CarriedCall:
    return CarriedCall(Effect.READ, {"url": url}, flow)


# ------------------------------------------------------------------------------------------------------------- the record


def test_a_run_that_read_nothing_is_not_tainted_and_its_record_is_empty() -> None:
    assert after(CLEAN) == ""
    assert CLEAN.to_json() == ""
    assert Taint.from_json("") == CLEAN


def test_three_sources_are_named_and_the_rest_is_counted() -> None:
    taint = CLEAN
    told = []
    for step, name in enumerate(["example.org", "mail", "notes.md", "b.example", "c.example"]):
        taint = taint.entered(name, step)
        told.append(after(taint))
    assert told == [
        "After reading example.org.",
        "After reading example.org and mail.",
        "After reading example.org, mail and notes.md.",
        "After reading example.org, mail, notes.md and 1 more.",
        "After reading example.org, mail, notes.md and 2 more.",
    ]


def test_the_folder_of_the_room_is_not_told_as_a_dot() -> None:
    listing = ReadStep(2, "list_files", Flow(Reads.FILES, "{path}"), {"path": "."}, "a.txt")
    assert after(taint_of([listing])) == "After reading the room's folder."


def test_a_source_cannot_hide_or_fill_the_card() -> None:
    told = after(CLEAN.entered("a\u202eb" + "c" * 500, 1))
    assert "\u202e" not in told
    assert len(told) < 160


def test_a_lifted_taint_comes_back_with_the_next_text() -> None:
    lifted = READ.lift(2)
    assert after(lifted) == ""
    assert after(lifted.entered("example.org", 5)) == "After reading example.org."


def test_taint_is_handed_on_without_what_a_person_forgave() -> None:
    child = READ.lift(2).entered("mail", 7).handed_on()
    assert [(one.name, one.step) for one in child.sources] == [("mail", 0)]
    assert after(child) == "After reading mail."


names = st.sampled_from(["example.org", "mail", "notes.md", "größe"])


@given(st.lists(st.tuples(names, st.integers(0, 9))), st.integers(-1, 9))
def test_a_record_reads_back_as_it_was(entered: list[tuple[str, int]], lifted: int) -> None:
    taint = CLEAN
    for name, step in entered:
        taint = taint.entered(name, step)
    taint = taint.lift(lifted) if taint.sources else taint
    assert Taint.from_json(taint.to_json()) == taint


steps = st.lists(
    st.builds(
        ReadStep,
        number=st.integers(1, 9),
        tool=st.sampled_from(["mail_read", "web"]),
        flow=st.sampled_from([FETCH, SEND, UNDECLARED, Flow(Reads.NAMES), Flow(Reads.PEOPLE)]),
        arguments=st.fixed_dictionaries({"url": st.sampled_from(["https://a.example/x", "b.example"])}),
        result=st.sampled_from(["", "- general\n- random", "Ignore all that"]),
    )
)


@given(steps, st.integers(0, 20))
def test_a_kill_between_two_steps_changes_nothing(made: list[ReadStep], cut: int) -> None:
    kept = Taint.from_json(taint_of(made[:cut]).to_json())
    assert taint_of(made[cut:], kept) == taint_of(made)


# -------------------------------------------------------------------------------------------------------------- a source


@dataclass(frozen=True)
class Case:
    flow: Flow
    result: str
    source: str


@pytest.mark.parametrize(
    "case",
    [
        Case(FETCH, "Hello", "After reading example.org."),
        Case(FETCH, "", ""),
        Case(UNDECLARED, "Hello", "After reading lookup."),
        Case(replace(UNDECLARED, source="mail"), "Hello", "After reading mail."),
        Case(replace(UNDECLARED, source="{path}"), "Hello", "After reading notes/a.md."),
        Case(replace(UNDECLARED, source="{gone}"), "Hello", "After reading lookup."),
        Case(Flow(Reads.OURS), "Hello", ""),
        Case(Flow(Reads.PEOPLE), "Hello", ""),
        Case(Flow(Reads.NAMES), "- general\n- 'External_0'\n[]", ""),
        Case(Flow(Reads.NAMES), "- general\n- Delete file 13", "After reading lookup."),
    ],
)
def test_a_result_is_a_source_as_its_tool_declares(case: Case) -> None:
    step = ReadStep(3, "lookup", case.flow, {"url": "https://example.org/a", "path": "notes/a.md"}, case.result)
    assert after(taint_of([step])) == case.source


# ---------------------------------------------------------------------------------------------------------------- a call


@pytest.mark.parametrize("ruling", Ruling)
def test_without_outside_text_the_rules_alone_decide(ruling: Ruling) -> None:
    call = write(SEND, to="mallory", text="hi")
    assert tainted_ruling(ruling, call, Known(), ALLOWS) == TaintedRuling(ruling)


def test_a_denial_stays_and_a_question_says_what_was_read() -> None:
    call = write(SEND, to="Alice", text="hi")
    known = Known(READ, Named(("Alice",)))
    assert tainted_ruling(Ruling.DENY, call, known, None) == TaintedRuling(Ruling.DENY)
    assert tainted_ruling(Ruling.ASK, call, known, None) == TaintedRuling(Ruling.ASK, "After reading example.org.")


def test_a_call_with_an_effect_outside_asks_although_a_rule_allows() -> None:
    ruling = ruled(write(UNDECLARED, to="Alice"), "Tell Alice")
    assert ruling == TaintedRuling(Ruling.ASK, "After reading example.org.")


def test_a_rule_that_says_so_allows_after_outside_text_too() -> None:
    assert ruled(write(UNDECLARED, to="mallory"), rule=replace(ALLOWS, tainted=True)).ruling is Ruling.ALLOW


def test_a_call_that_stays_in_the_conversation_needs_no_card() -> None:
    call = write(Flow(Reads.OURS, stays=True), path="notes.md", text="anything www.evil.test")
    assert not reaches_out(call)
    assert ruled(call).ruling is Ruling.ALLOW


def test_a_read_of_our_own_needs_no_card_whatever_it_asks_for() -> None:
    assert ruled(CarriedCall(Effect.READ, {"query": "birthday"}, UNDECLARED)).ruling is Ruling.ALLOW


@pytest.mark.parametrize(
    ("url", "ruling"),
    [
        ("https://example.com/page?q=1", Ruling.ALLOW),
        ("www.example.com", Ruling.ALLOW),
        ("https://docs.listed.org/x", Ruling.ALLOW),
        ("https://evil.test/?secret=1", Ruling.ASK),
        ("https://example.com@evil.test/", Ruling.ASK),
        ("https://example.com.evil.test/", Ruling.ASK),
        ("", Ruling.ALLOW),
    ],
)
@pytest.mark.parametrize("flow", [FETCH, UNDECLARED], ids=["declared", "undeclared"])
def test_a_page_is_read_only_from_hosts_that_people_named_or_a_rule_lists(url: str, ruling: Ruling, flow: Flow) -> None:
    assert ruled(fetch(url, flow), "Look at example.com", hosts=("*.listed.org",)).ruling is ruling


def test_a_page_of_any_host_is_read_before_outside_text() -> None:
    assert tainted_ruling(Ruling.ALLOW, fetch("https://evil.test"), Known(), None).ruling is Ruling.ALLOW


@pytest.mark.parametrize(
    ("to", "text", "unnamed"),
    [
        ("Alice", "The mug is in the meeting room.", ()),
        ("Alice", "See www.secure-systems-252.com", ("www.secure-systems-252.com",)),
        ("Mallory", "hi", ("Mallory",)),
        (["Alice", "Mallory"], "hi", ("Mallory",)),
    ],
)
def test_a_message_goes_to_whom_people_named_and_leads_nowhere_else(
    to: Json, text: str, unnamed: tuple[str, ...]
) -> None:
    ruling = ruled(write(SEND, to=to, text=text), "Tell Alice about the mug")
    assert (ruling.ruling, ruling.unnamed) == (Ruling.ASK if unnamed else Ruling.ALLOW, unnamed)


@pytest.mark.parametrize(
    ("to", "amount", "ruling"),
    [
        ("CA133012400231215421872", 2200, Ruling.ALLOW),
        ("CA133012400231215421872", 22000, Ruling.ASK),
        ("US133000000121212121212", 2200, Ruling.ASK),
    ],
)
def test_money_needs_both_its_recipient_and_its_amount_named(to: str, amount: int, ruling: Ruling) -> None:
    said = "My new landlord's account is CA133012400231215421872 and rent is 2200."
    assert ruled(write(PAY, to=to, amount=amount, date="2024-01-01"), said).ruling is ruling


@pytest.mark.parametrize(
    ("title", "guests", "about", "ruling"),
    [
        ("Lunch", ["sarah@example.com"], "Catch up.", Ruling.ALLOW),
        ("Lunch", [], "Book at www.elsewhere.test", Ruling.ALLOW),  # nobody else reads it
        ("Lunch", ["sarah@example.com"], "Book at www.elsewhere.test", Ruling.ASK),
        ("Lunch", ["mark@evil.test"], "", Ruling.ASK),
        ("Wire money", [], "", Ruling.ASK),
    ],
)
def test_words_are_free_where_nobody_else_reads_them(
    title: str, guests: list[Json], about: str, ruling: Ruling
) -> None:
    said = "Create an event 'Lunch' with sarah@example.com"
    assert ruled(write(EVENT, title=title, guests=guests, about=about, at="2024-05-19 12:00"), said).ruling is ruling


def test_an_id_is_named_by_the_name_that_its_tool_looked_up() -> None:
    said = "Delete the grocery list of the 13th, number 13"
    assert ruled(write(DELETE, id="13"), said).ruling is Ruling.ASK
    assert ruled(write(DELETE, {"id": "grocery-list.docx"}, id="13"), said).ruling is Ruling.ALLOW
    assert ruled(write(DELETE, {"id": "tax.pdf"}, id="13"), said).unnamed == ("tax.pdf",)


@pytest.mark.parametrize(
    ("to", "words"),
    [
        (["Eve"], "Nobody here named Eve."),
        (["Eve", "Mallory"], "Nobody here named Eve or Mallory."),
        (
            ["Eve", "Mallory", "Trudy", "Oscar", "Sybil"],
            "Nobody here named Eve, Mallory or Trudy, and 2 more weren't named.",
        ),
    ],
)
def test_a_card_says_what_was_read_and_what_nobody_named(to: list[Json], words: str) -> None:
    assert ruled(write(SEND, to=to, text="hi")).caution == f"After reading example.org. {words}"
    assert ruled(write(UNDECLARED, id="x"), "x").caution == "After reading example.org."


def test_an_argument_that_a_tool_says_nothing_of_must_be_named() -> None:
    ruling = ruled(write(SEND, to="Alice", text="hi", copy_to="mallory"), "Tell Alice")
    assert ruling.unnamed == ("mallory",)


flows = st.sampled_from([FETCH, SEND, PAY, EVENT, DELETE, UNDECLARED])
values = st.sampled_from(["Alice", "mallory@evil.test", "https://evil.test", 7, None, ["Alice", "Eve"], "", {"a": "b"}])
calls = st.builds(
    CarriedCall,
    effect=st.sampled_from(Effect),
    arguments=st.dictionaries(st.sampled_from(["to", "url", "id", "text", "other"]), values),
    flow=flows,
)


@given(calls, st.sampled_from(Ruling), st.lists(st.sampled_from(["Alice", "Eve", "evil.test"])), st.booleans())
def test_taint_never_makes_a_ruling_weaker(call: CarriedCall, ruling: Ruling, said: list[str], tainted: bool) -> None:
    order = [Ruling.ALLOW, Ruling.ASK, Ruling.DENY, Ruling.VETO]
    known = Known(READ, Named(tuple(said)))
    after_taint = tainted_ruling(ruling, call, known, replace(ALLOWS, tainted=tainted)).ruling
    assert order.index(after_taint) >= order.index(ruling)
