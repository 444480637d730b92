"""What is sent, within every limit; the payloads are files that a person can read (golden/)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.interactions import commands, form_answer, is_registered
from adapters.discord.outgoing.dialect import to_discord
from adapters.discord.outgoing.render import EMPTY_TEXT, FILES, LIMIT, REASON_LABEL, REPEAT_MARK, render
from adapters.discord.outgoing.send import multipart, nonce_of, text_of
from runtime.chat.cards.calls import shown_call
from runtime.chat.cards.open_cards import pending, question
from runtime.chat.cards.settled_cards import settled
from runtime.chat.forms import denial
from runtime.contract import (
    ApprovalId,
    ApprovalKind,
    Button,
    Choice,
    DeliveryId,
    FileRef,
    Kind,
    Part,
    Wire,
)
from runtime.markup import parse, to_plain
from tests.fakes.discord_rules import CONTENT, NONCE, check_commands, check_message, check_response
from tests.golden import SAMPLE, same_as
from tests.unit.chat.test_cards import ASKED, ASKED_BY_BOB, DONE, PENDING
from tests.wire.discord.stage import ADA, APPROVAL, BUTTONS, CHANNEL, delivery

HERE: Final = Path(__file__).parent / "golden"
ARGUMENTS: Final = json.dumps({"path": "notes/today.md", "content": "# Today\n\n- call Bob\n- `make test`\n"})
CARD: Final = question(APPROVAL, ApprovalKind.CALL, "write_file", ARGUMENTS, "It runs with no sandbox.")


def body(text: str | None) -> dict[str, Any]:
    assert text is not None
    made: dict[str, Any] = json.loads(text)
    return made


def golden(name: str, *wires: Wire) -> None:
    """The wires, each with what goes instead of it."""
    told = [
        {
            "body": body(wire.body),
            "fallback": wire.fallback and body(wire.fallback),
            "more": [json.loads(one) for one in wire.more],
        }
        for wire in wires
    ]
    same_as(HERE / f"{name}.json", json.dumps(told, indent=2, ensure_ascii=False))


def allowed(wire: Wire) -> None:
    """Errors: what Discord would say."""
    for text in (wire.body, wire.fallback, *wire.more):
        if text is not None:
            check_message({**json.loads(text), "nonce": "n"}, files=len(json.loads(text).get("files", ())))


# --------------------------------------------------------------------------------------------------- golden files


def test_a_reply() -> None:
    text = "**Done.** See [the report](https://example.org/r?a=1&b=2) & `x < y`."
    golden("reply", *render(delivery(text, reply_to="1573932764682518528")))


def test_every_construct() -> None:
    wires = render(delivery(SAMPLE))
    golden("sample", *wires)
    same_as(HERE / "sample.md.txt", "\n\n".join(str(body(wire.body)["content"]) for wire in wires))


def test_a_card() -> None:
    golden("card", *render(delivery(CARD.text, *CARD.buttons, kind=Kind.APPROVAL)))


def test_a_question_about_an_outcome() -> None:
    asked = question(APPROVAL, ApprovalKind.OUTCOME, "shell", '{"command": "make deploy"}', "")
    golden("outcome", *render(delivery(asked.text, *asked.buttons, kind=Kind.APPROVAL)))


def test_a_card_that_says_who_asks() -> None:
    asked = pending(ASKED_BY_BOB, ASKED, voted=["Alice"])
    golden("asked", *render(delivery(asked.text, *asked.buttons, kind=Kind.APPROVAL)))


def test_a_card_that_says_what_came_of_it() -> None:
    golden("done", *render(delivery(settled(DONE).text, kind=Kind.APPROVAL)))


def test_a_settled_card() -> None:
    text = f"❌ **Denied** by Ada, 2026-11-22 12:00 UTC: `write_file`\n\n{shown_call(ARGUMENTS).text}\n\n> Not today."
    golden("settled", *render(delivery(text, kind=Kind.APPROVAL)))


def test_a_reply_with_files() -> None:
    files = (FileRef("chart.png", "out/chart.png", 2048), FileRef("data.csv", "out/data.csv", 512))
    golden("files", *render(delivery("Here they are.", files=files)))


def test_a_long_reply_as_a_file() -> None:
    text = "# Report\n\nIt went well.\n\n" + "\n\n".join(f"## Part {n}\n\n{'Words. ' * 40}" for n in range(1, 8))
    golden("text_file", *render(delivery(text, text_file=FileRef("reply.md", "replies/r.md", len(text)))))


def test_the_form_behind_deny_with_a_reason() -> None:
    form = form_answer(denial(replace(PENDING, id=APPROVAL)))
    check_response(form)
    same_as(HERE / "reason_form.json", json.dumps(form, indent=2, ensure_ascii=False))


def test_the_commands() -> None:
    check_commands(commands())
    same_as(HERE / "commands.json", json.dumps(commands(), indent=2, ensure_ascii=False))


def test_the_request_of_a_message_with_a_file() -> None:
    made = multipart({"content": "Here."}, [("a b.txt", b"one")])
    told = [{**one, "value": one["value"].read().decode()} if "filename" in one else one for one in made]
    same_as(HERE / "multipart.json", json.dumps(told, indent=2, ensure_ascii=False))


# ------------------------------------------------------------------------------------------------------- limits


def test_only_the_first_message_is_a_reply_and_the_last_has_the_buttons() -> None:
    wires = render(delivery("word " * 1000, *BUTTONS, reply_to="7"))
    assert len(wires) == 3
    assert [body(wire.body).get("reply_to") for wire in wires] == ["7", None, None]
    assert [len(body(wire.body)["components"]) for wire in wires] == [0, 0, 1]


def test_the_message_that_began_the_thread_is_not_replied_to_in_it() -> None:
    """It stands in another channel."""
    [wire] = render(delivery("hi", address=replace(CHANNEL, thread="7"), reply_to="7"))
    assert "reply_to" not in body(wire.body)


def test_a_reason_can_be_given_wherever_something_can_be_denied() -> None:
    rows = body(render(delivery("May I?", *BUTTONS))[0].body)["components"]
    assert [button["label"] for row in rows for button in row["components"]] == ["Approve", "Deny", REASON_LABEL]
    done = Button(APPROVAL, Choice.DONE, "It was done")
    [row] = body(render(delivery("Was it?", done))[0].body)["components"]
    assert [button["label"] for button in row["components"]] == ["It was done"]


def test_more_buttons_than_a_row_holds_take_several_rows() -> None:
    many = [Button(ApprovalId(f"{n:022}"), Choice.DONE, f"choice {n}" * 20) for n in range(12)]
    [wire] = render(delivery("Which?", *many))
    allowed(wire)
    assert [len(row["components"]) for row in body(wire.body)["components"]] == [5, 5, 2]


def test_more_files_than_a_message_holds_take_several_messages() -> None:
    files = tuple(FileRef(f"{n}.txt", f"out/{n}.txt", 1) for n in range(FILES + 2))
    wires = render(delivery("Many.", files=files))
    assert [len(body(wire.body)["files"]) for wire in wires] == [FILES, 2]
    for wire in wires:
        allowed(wire)


def test_a_refused_file_is_named_instead() -> None:
    [wire] = render(delivery("Here it is.", files=(FileRef("@everyone.txt", "out/a.txt", 1),)))
    told = body(wire.fallback)
    assert "files" not in told
    assert told["content"].startswith("Here it is.\n\nNot accepted by Discord: ")
    assert "@everyone" not in told["content"]


@pytest.mark.parametrize("text", ["", " ", "\n", "\u200b", "\u200b \u200b"])
def test_a_text_that_draws_nothing_is_still_a_message(text: str) -> None:
    [wire] = render(delivery(text))
    assert body(wire.body)["content"] == EMPTY_TEXT


PIECES: Final = (
    *(
        "word ",
        "漢字",
        "👩\u200d👩\u200d👧",
        "\n\n",
        "\n",
        "# ",
        "- ",
        "1. ",
        "> ",
        "**",
        "*",
        "_",
        "`",
        "```\n",
        "~~",
        "|",
    ),
    *("| a | b |\n", "| --- | --- |\n", "[x](https://a.b/c)", "https://a.b/c_d_e", "<@1>", "@everyone", "\\", "    "),
    "x" * 150,
)
TEXTS: Final = st.lists(st.sampled_from(PIECES), max_size=400).map("".join)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_any_text_is_messages_that_discord_takes(text: str) -> None:
    wires = render(delivery(text, *BUTTONS))
    for wire in wires:
        allowed(wire)
        assert len(str(body(wire.body)["content"])) <= LIMIT
        assert "@everyone" not in str(body(wire.fallback)["content"])


def test_a_repeat_is_marked_and_still_fits() -> None:
    for wire in render(delivery("word " * 1000)):
        part = Part(DeliveryId("d"), 1, ADA, wire.body, marked_as_repeat=True)
        assert text_of(part).startswith(REPEAT_MARK)
        assert len(text_of(part)) <= CONTENT


@settings(max_examples=100, deadline=None)
@given(st.sets(st.tuples(st.text(min_size=1, max_size=40), st.integers(1, 200)), min_size=2, max_size=2))
def test_two_parts_never_have_one_nonce(parts: set[tuple[str, int]]) -> None:
    made = [Part(DeliveryId(number), ordinal, ADA, "") for number, ordinal in parts]
    nonces = {nonce_of(part) for part in made}
    assert len(nonces) == len({part.id for part in made})
    assert all(len(nonce) <= NONCE for nonce in nonces)


def test_an_id_of_ours_is_its_own_nonce() -> None:
    assert nonce_of(Part(DeliveryId("d" * 22), 12, ADA, "")) == "d" * 22 + ".12"


def test_commands_that_are_there_are_left_alone() -> None:
    there = [{**command, "id": "1", "version": "2", "default_member_permissions": None} for command in commands()]
    assert is_registered(commands(), there)
    assert not is_registered(commands(), there[1:])
    assert not is_registered(commands(), [{**there[0], "description": "else"}, *there[1:]])
    assert not is_registered(commands(), {"message": "no list"})


# ------------------------------------------------------------------------------------------------------- dialect


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("2 * 3 * 4", r"2 \* 3 \* 4"),
        ("snake_case_name and __init__", r"snake\_case\_name and **init**"),
        ("||spoiler|| a | b", r"\|\|spoiler\|\| a | b"),
        (r"\[not\](a link)", r"\[not](a link)"),
        ("https://example.org/a_b_c see_this", r"https://example.org/a_b_c see\_this"),
        ("1986\\. A year", r"1986\. A year"),
        ("\\# no heading\n\\- no item\n\\> no quote", "\\# no heading\n\\- no item\n\\> no quote"),
        ("-# no small print", "\\-# no small print"),
        ("***both*** *a **b** c*", "***both*** *a **b** c*"),
        ("**a *b* c**", "**a _b_ c**"),
        ("``` a``b ```", "`` a`\u200b`b ``"),
        ("`` a`b ``", "`` a`b ``"),
        ("[label](https://example.org/(x))", "[label](https://example.org/%28x%29)"),
        ("[https://a.example](https://b.example)", "https://a.example (https://b.example)"),
        ("[write](mailto:ada@example.com)", "write (ada@example.com)"),
        ("<https://example.org>", "https://example.org"),
        ("#### Deep **bold** `code`", "**Deep bold `code`**"),
        ("---", "\u2500" * 20),
        ("```c++\nx\n```", "```c++\nx\n```"),
        ("```python title=x\ny\n```", "python title=x:\n```\ny\n```"),
        ("````\n```\nx\n```\n````", "```\n`\u200b`\u200b`\nx\n`\u200b`\u200b`\n```"),
        ("- a\n\n  ```\n  b\n  ```", "- a\n\n```\nb\n```"),
        ("- ```\n  b\n  ```", "-\n```\nb\n```"),
        ("> > deep", "> > deep"),
        ("**a*b*c**", "**a\u200b_b_\u200bc**"),
        ("*a***b**", "*a*\u200b**b**"),
        ("####", ""),
        ("9. a\n   - b\n10. c\n    1. d", "9. a\n   - b\n10. c\n    1. d"),
    ],
)  # fmt: skip
def test_each_construct_in_discords_words(text: str, made: str) -> None:
    assert to_discord(parse(text)) == made


WORDS: Final = st.lists(st.sampled_from(["*", "_", "~", "`", "|", "[", "]", "(", ")", "\\", "#", "-", ">", "a", "b", " ", "1."]), min_size=1).map(lambda pieces: "a" + "".join(pieces))  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(WORDS)
def test_words_without_markup_are_drawn_as_they_are(text: str) -> None:
    """Discord reads nearly as CommonMark does, so our own reader is a judge of what is drawn."""
    made = to_discord(parse(text)).replace("\u200b", " ")  # for Discord a mark may stand next to anything
    assert drawn(to_plain(parse(made))) == drawn(to_plain(parse(text)))


def drawn(text: str) -> str:
    """Without white space, and with a line as everybody draws it."""
    return "".join(text.replace("\u2500", "-").split())
