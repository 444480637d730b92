"""The new words of a mail, its text where it is HTML, and choices in words."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import ApprovalId, Choice
from signalbox_email.checks import closed
from signalbox_email.incoming.choices import Chosen, chosen_in
from signalbox_email.incoming.html_text import text_of_html
from signalbox_email.incoming.quotes import Words, parted

CODE = "0354ZtKrHPQyQx7PqdnDam"
QUOTE = "> Shall I?\n> It takes a minute."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Yes.", Words("Yes.")),
        (
            f"Yes.\n\nOn Fri, 27 Nov 2026 at 10:00, Agent <a@b.c> wrote:\n{QUOTE}\n",
            Words("Yes.", QUOTED := "Shall I?\nIt takes a minute."),
        ),
        (f"Ja.\n\nAm 27.11.26 um 10:00 schrieb Agent:\n\n{QUOTE}", Words("Ja.", QUOTED)),
        (
            f"Yes.\n\nOn Fri, 27 Nov 2026, a very long name\n<somebody@example.org>\nwrote:\n{QUOTE}",
            Words("Yes.", QUOTED),
        ),
        (
            "Yes.\r\n\r\n-----Original Message-----\r\nFrom: Agent\r\nShall I?",
            Words("Yes.", "-----Original Message-----\nFrom: Agent\nShall I?"),
        ),
        (
            "Ja.\n\nVon: Agent <a@b.c>\nGesendet: Freitag\nAn: Ada\n\nSoll ich?",
            Words("Ja.", "Von: Agent <a@b.c>\nGesendet: Freitag\nAn: Ada\n\nSoll ich?"),
        ),
        ("Yes.\n\n-- \nAda\nHead of Lamps", Words("Yes.")),
        ("> Shall I?\nYes.\n> And then?\nNo.", Words("> Shall I?\nYes.\n> And then?\nNo.")),
        (f"> First?\nYes, and:\n{QUOTE}", Words(f"> First?\nYes, and:\n{QUOTE}")),
        (QUOTE, Words("", QUOTED)),
        ("a > b\nFrom: here to there", Words("a > b\nFrom: here to there")),
        ("", Words("")),
    ],
)
def test_new_words_are_apart_from_the_quote_below_them(text: str, words: Words) -> None:
    found = parted(text)
    assert found.new == words.new
    assert words.quoted in found.quoted
    assert bool(words.quoted) is bool(found.quoted)


@given(st.text(alphabet=st.sampled_from("> \nab:-_OnwrteFm"), max_size=200))
def test_of_any_text_no_word_is_lost(text: str) -> None:
    found = parted(text)
    assert len(found.new) + len(found.quoted) <= len(text)


@pytest.mark.parametrize("text", ["On a" * 40_000 + "\n> x", "From: a\n" * 30_000, "> " * 100_000, "_" * 300_000])
def test_no_text_takes_long(text: str) -> None:
    begun = time.process_time()
    parted(text)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Hello, <b>you</b> &amp; me</p><p>Bye</p>", "Hello, you & me\n\nBye"),
        ("one<br>two<div>three</div>four", "one\ntwo\nthree\nfour"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        (
            '<a href="https://x.example/a">see</a> <a href="https://x.example">https://x.example</a>',
            "see (https://x.example/a) https://x.example",
        ),
        ("<style>p {color: red}</style><script>alert(1)</script><p>x</p>", "x"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a | b\nc"),
        ("Yes.<blockquote>Shall I?<blockquote>Do it.</blockquote></blockquote>", "Yes.\n\n> Shall I?\n>\n>> Do it."),
        ("<pre>a  b\n  c</pre>", "a  b\n  c"),
        ('<a href="javascript:alert(1)">x</a><img alt="a lamp" src="cid:1">', "x[a lamp]"),
        ("</p></blockquote></pre>x<b", "x<b"),
        ("a<!-- <p>b</p> -->c<!DOCTYPE x>d<?xml?>e<!-- f", "acde"),
        ("1 < 2 &lt; 3", "1 < 2 < 3"),
    ],
)
def test_html_is_read_as_text(html: str, text: str) -> None:
    assert text_of_html(html) == text


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 50_000 + "x",
        "<blockquote>" * 20_000 + "x",
        "<" * 100_000,
        "<a href=" * 30_000,
        "<a href='" * 30_000,
        "<!--" * 100_000,
        "<style>" * 50_000,
        "a<i>" * 240_000,
    ],
)
def test_no_html_takes_long(html: str) -> None:
    begun = time.process_time()
    text_of_html(html)
    assert time.process_time() - begun < 3


@pytest.mark.parametrize(
    ("text", "asked", "chosen"),
    [
        (f"approve {CODE}", "", (CODE, Choice.APPROVE, "")),
        (f"  Approve {CODE}.\n\nBest,\nAda", "", (CODE, Choice.APPROVE, "")),
        ("approve", CODE, (CODE, Choice.APPROVE, "")),
        ("Deny: too risky", CODE, (CODE, Choice.DENY, "too risky")),
        (f"deny {CODE}: too risky\nreally", "", (CODE, Choice.DENY, "too risky\nreally")),
        (f"`first {CODE}`", "", (CODE, Choice.FIRST, "")),
        ("approve", "", None),
        ("approve it if you must", CODE, None),
        ("I approve", CODE, None),
        ("approve 123", CODE, None),
        (f"maybe\napprove {CODE}", "", None),
        (f"approve {CODE} {CODE}", "", None),
        ("", CODE, None),
    ],
)
def test_a_choice_is_the_first_line_and_nothing_else(
    text: str, asked: str, chosen: tuple[str, Choice, str] | None
) -> None:
    found = chosen_in(text, ApprovalId(asked) if asked else None)
    assert found == (Chosen(ApprovalId(chosen[0]), *chosen[1:], by_code=not asked) if chosen else None)


def test_a_fault_of_the_mail_server_is_not_taken_for_a_missing_folder() -> None:
    what, fix = closed("INBOX", "[SERVERBUG] Internal error occurred. Refer to server log for more information.")
    assert what.startswith("the server can't open the folder INBOX right now: [SERVERBUG]")
    assert "set inbox" not in fix
    assert closed("Inbx", "[NONEXISTENT] Mailbox doesn't exist")[1] == "set inbox to a folder of the mailbox"
