"""What a surface shows of a call, decoded, is what runs: nothing is hidden, and nothing looks like something else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import unescape
from itertools import product
from random import Random
from typing import Any, Final

import pytest

from adapters.discord.outgoing import render as discord
from adapters.slack.outgoing import render as slack
from adapters.telegram.outgoing import render as telegram
from adapters.web import render as web
from adapters.web.events import _told
from bot.cli import chat
from bot.cli.approvals import APPROVAL_COLUMNS
from bot.console import pieces
from bot.operator.approvals.questions import approval_view
from bot.terminal import output
from runtime.chat.cards import card_facts, listing, open_cards, settled_cards
from runtime.chat.cards.calls import shown_call
from runtime.chat.inbox import in_code
from runtime.contract import ApprovalId, CardText, CardValue, Delivery, DeliveryId, Kind, Working
from runtime.domain.approvals import Approval, ApprovalState
from runtime.domain.ids import digest
from runtime.markup import parse
from runtime.markup.mentions import NOTHING_WIDE
from runtime.markup.tree import CodeBlock
from runtime.text.glyphs import in_a_line, meant
from tests.cards import Line, Piece, arguments_in, as_discord, as_html, as_markdown, as_telegram, same_call
from tests.security import hidden
from tests.security.sampling import tenth
from tests.security.tally import Tallied, Tally
from tests.unit.chat.test_cards import ASKED, PENDING

Surface = Callable[[Approval], str]
LONG: Final = 60_000
SEED: Final = 14
LETTERS: Final = (
    *(
        " ",
        "\t",
        "\n",
        "x",
        "-",
        "`",
        "*",
        "_",
        "\\",
        "⟨",
        "⟩",
        "<",
        "&",
        "@everyone",
        "</pre>",
        "```",
        "||",
        "# ",
        "> ",
    ),
    *(
        "\u202e",
        "\u200b",
        "\u200d",
        "\ufe0f",
        "\U000e0041",
        "\u3164",
        "\u2800",
        "\x1b",
        "\r",
        "\u00a0",
        "\u0435",
        "می\u200cخ",
    ),
    *("👨\u200d👩\u200d👧", "é", "\u0301", "漢", "\ud83d", "…", "1", "{", '"', "null", "- a: ", "content:"),
)
JOINED: Final = ("👨\u200d👩\u200d👧", "می\u200cخ")
SETTLED: Final[Mapping[str, Any]] = {"state": ApprovalState.APPROVED, "decided_name": "Ada", "decided_at": ASKED}


def _content(row: Approval) -> Delivery:
    card = open_cards.pending(row, ASKED) if row.state is ApprovalState.PENDING else settled_cards.settled(row)
    return Delivery(DeliveryId("d1"), "approval:a1", 0, Kind.APPROVAL, row.address, card)


def _settled(surface: Surface) -> Surface:
    return lambda row: surface(replace(row, **SETTLED))


def _fenced(markdown: str) -> str:
    """What stands in the code blocks. What our renderers put in against mentions and fences was no part of the call."""
    blocks = parse(markdown.replace(NOTHING_WIDE, "")).blocks
    return "\n".join(block.text for block in blocks if isinstance(block, CodeBlock))


def _on_slack(row: Approval) -> str:
    bodies = [json.loads(slack.render(_content(row))[0].body)]
    written = [block["text"] for body in bodies for block in body["blocks"] if block["type"] == "markdown"]
    return "\n".join(map(_fenced, written))


def _on_slack_plainly(row: Approval) -> str:
    bodies = [json.loads(slack.render(_content(row))[0].fallback or "{}")]
    texts = [
        "".join(one["text"]["text"] for one in body.get("blocks", ()) if one["type"] == "section")
        or unescape(body["text"])
        for body in bodies
    ]
    return _indented("\n".join(texts))


def _on_telegram(row: Approval) -> str:
    return _preformatted(json.loads(telegram.render(_content(row))[0].body))


def _preformatted(body: Mapping[str, Any]) -> str:
    units = body["text"].encode("utf-16-le", "surrogatepass")
    some = [one for one in body["entities"] if one["type"] == "pre"]
    return "\n".join(
        units[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le", "surrogatepass")
        for one in some
    )


def _on_telegram_plainly(row: Approval) -> str:
    return _indented(json.loads(telegram.render(_content(row))[0].fallback or "{}")["text"])


def _on_discord(row: Approval) -> str:
    return "\n".join(_discord_blocks(json.loads(wire.body)["content"]) for wire in discord.render(_content(row)))


def _discord_blocks(content: str) -> str:
    """As Discord reads it: from one fence of three to the next, whatever is between."""
    inside = content.split("```")[1::2]
    return "\n".join(one.partition("\n")[2].removesuffix("\n").replace(NOTHING_WIDE, "") for one in inside)


def _on_discord_plainly(row: Approval) -> str:
    texts = [json.loads(wire.fallback or "{}")["content"] for wire in discord.render(_content(row))]
    return _indented("\n".join(texts).replace(NOTHING_WIDE, ""))


def _indented(plain: str) -> str:
    """The code block of a plain twin: its lines are set in by four."""
    lines = plain.split("\n")
    begins = next(number for number, line in enumerate(lines) if line.startswith("    "))
    ends = max(number for number, line in enumerate(lines) if line.startswith("    "))
    return "\n".join(line[4:] for line in lines[begins : ends + 1])


def _on_the_page(row: Approval) -> str:
    return _pre(_unfolded(json.loads(web.render(_content(row)).body)["html"]))


def _in_the_console(row: Approval) -> str:
    return _pre(_unfolded(str(pieces.question(approval_view(row, str, str)))))


def _unfolded(html: str) -> str:
    return html.partition("<details")[0]


def _in_the_consoles_list(row: Approval) -> str:
    _, what, *_ = pieces.settled(approval_view(row, str, str))
    return _pre(str(what))


def _pre(html: str) -> str:
    text = html.partition("<pre")[2].partition(">")[2].rpartition("</pre>")[0]
    return unescape(text.removeprefix("<code>").removesuffix("</code>"))


def _in_a_table(row: Approval) -> str:
    view = {**approval_view(row, str, str), "call": in_a_line(row.arguments)}
    assert "call" in APPROVAL_COLUMNS
    return output.word(view["call"])


def _in_a_list_in_chat(row: Approval) -> str:
    line = in_code(row.arguments)
    inner = line.strip("`")
    return inner[1:-1] if inner.startswith(" ") and inner.endswith(" ") else inner


SURFACES: Final[Mapping[str, Surface]] = {
    "Slack": _on_slack,
    "Slack, settled": _settled(_on_slack),
    "Slack, plainly": _on_slack_plainly,
    "Telegram": _on_telegram,
    "Telegram, settled": _settled(_on_telegram),
    "Telegram, plainly": _on_telegram_plainly,
    "Discord": _on_discord,
    "Discord, settled": _settled(_on_discord),
    "Discord, plainly": _on_discord_plainly,
    "page": _on_the_page,
    "page, settled": _settled(_on_the_page),
    "console": _in_the_console,
    "console, settled": _in_the_consoles_list,
    "approvals list": _in_a_table,
}


def _slack_pieces(row: Approval) -> list[Piece]:
    [wire, *_] = slack.render(_content(row))
    written = [one["text"] for one in json.loads(wire.body)["blocks"] if one["type"] == "markdown"]
    return as_markdown("\n\n".join(written).replace(NOTHING_WIDE, ""))


PIECES: Final[Mapping[str, Callable[[Approval], list[Piece]]]] = {
    "Slack": _slack_pieces,
    "Telegram": lambda row: as_telegram(json.loads(telegram.render(_content(row))[0].body)),
    "Discord": lambda row: as_discord(json.loads(discord.render(_content(row))[0].body)["content"]),
    "page": lambda row: as_html(json.loads(web.render(_content(row)).body)["html"]),
    "console": lambda row: as_html(str(pieces.question(approval_view(row, str, str)))),
}
"""Surfaces that people decide by, each read back from what it draws."""


def _asks(arguments: dict[str, Any]) -> Approval:
    return replace(PENDING, arguments=json.dumps(arguments))


Case = tuple[str, str, Approval, dict[str, Any]]
"""What it is about, a surface, and a question there with what runs."""


def commands() -> list[Case]:
    """Each hidden thing in a command, on each surface."""
    listed = product(hidden.commands(), SURFACES)
    return [(name, surface, _asks({"command": text}), {"command": text}) for (name, text), surface in listed]


def calls() -> list[Case]:
    """Each hidden thing in each place of a call of several arguments, on each surface that people decide by, open and settled."""
    listed = product(hidden.commands(), ({}, SETTLED), PIECES)
    return [
        (name, surface, replace(_asks(arguments), **settled), arguments)
        for (name, text), settled, surface in listed
        for arguments in _shapes(text)
    ]


def _each_command(cases: Sequence[Case], tally: Tally) -> None:
    for name, surface, row, runs in cases:
        _look(tally, f"{name} on {surface}", SURFACES[surface](row), meant, runs["command"])
    tally.close()


def _each_call(cases: Sequence[Case], tally: Tally) -> None:
    for name, surface, row, runs in cases:
        _read(tally, f"{name} on {surface}", PIECES[surface](row), runs)
    tally.close()


def test_a_tenth_of_what_is_shown_decodes_to_what_runs(tallied: Tallied) -> None:
    """Scenario 44."""
    _each_command(tenth(commands()), tallied("card truth, a tenth", 300))
    _each_call(tenth(calls()), tallied("card truth, several arguments, a tenth", 400))


@pytest.mark.soak
def test_what_is_shown_decodes_to_what_runs(tallied: Tallied) -> None:
    """Scenario 44."""
    _each_command(commands(), tallied("card truth", 3_000))


@pytest.mark.soak
def test_a_call_of_several_arguments_decodes_to_what_runs(tallied: Tallied) -> None:
    """Scenario 44."""
    _each_call(calls(), tallied("card truth, several arguments", 4_000))


def test_random_texts_decode_to_what_runs(tallied: Tallied) -> None:
    """Scenario 44: texts made of what hides, turns, joins and looks like markup; and files, as their tool shows them."""
    chance, tally = Random(SEED), tallied("card truth, random", 60 * len(PIECES))
    for number in range(60):
        text = "".join(chance.choice(LETTERS) * chance.choice((1, 1, 1, 2, 12)) for _ in range(chance.randint(1, 25)))
        shapes = list(_shapes(text))
        arguments = shapes[number % len(shapes)]
        for surface, look in PIECES.items():
            _read(tally, f"random {number} on {surface}", look(_asks(arguments)), arguments)
        file = {"path": "notes.md", "content": text}
        for surface, look in PIECES.items():
            _read(tally, f"random file {number} on {surface}", look(_shown_as_file(file)), file)
    tally.close()


def _shapes(text: str) -> Iterator[dict[str, Any]]:
    yield {"path": text, "content": "x"}
    yield {"to": "ops", "options": {"deep": [text, 1, None]}, "text": f"first\n{text}\nlast"}


def _shown_as_file(arguments: dict[str, Any]) -> Approval:
    text = json.dumps(arguments)
    call = shown_call(text, [CardValue("path", "new"), CardText("content", 60)])
    assert call.is_whole
    return replace(PENDING, arguments=text, card=card_facts.frozen("", call, PENDING.arguments_hash))


def _read(tally: Tally, case: str, shown: Sequence[Piece], runs: Mapping[str, Any]) -> None:
    """Nothing is hidden in any piece, and the pieces are the call."""
    hides = [found for piece in shown for found in [hidden.hides(_text(piece))] if found]
    try:
        same = same_call(arguments_in(shown), runs)
    except (ValueError, AssertionError):
        same = False
    tally.case(same and not hides, f"{case}: {hides} {str(shown)[:300]!r} for {str(runs)[:200]!r}")


def _text(piece: Piece) -> str:
    """What stands there, but for what is joined as it should be."""
    text = piece.value if isinstance(piece, Line) else piece.text
    return re.sub("|".join(JOINED), "", text)


def _look(tally: Tally, case: str, shown: str, read: Callable[[str], Any], runs: object) -> None:
    try:
        same = read(shown) == runs
    except ValueError:
        same = False
    tally.case(
        same and not hidden.hides(shown), f"{case}: {hidden.hides(shown)} {shown[:200]!r} for {str(runs)[:200]!r}"
    )


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("length", [3_000, LONG])
def test_of_a_long_call_both_ends_are_shown_and_how_much_is_between(surface: str, length: int) -> None:
    """Scenario 44: one message with its buttons, never the harmless begin or the dangerous end alone."""
    command = "echo " + "x" * length + " && rm -rf ~/important"
    shown = SURFACES[surface](_asks({"command": command})).removesuffix("\n")
    found = re.fullmatch(r"(.+)\n… ([\d,]+) characters …\n(.+)", shown.partition("\n\nsha256")[0], re.DOTALL)
    if found is None:
        assert meant(shown) == command
        assert length == 3_000 or surface in ("approvals list", "console, settled")
        return
    first, last = found[1], found[3]
    assert (first[:9], last[-17:]) == ("echo xxxx", "rm -rf ~/important"[1:])
    assert len(first) + int(found[2].replace(",", "")) + len(last) == len(command)


def _slack_files(row: Approval) -> tuple[str, str, list[str]]:
    first, *more = (json.loads(wire.body) for wire in slack.render(_content(row)))
    words = "\n".join(one["text"] for one in first["blocks"] if one["type"] == "markdown")
    labels = [e["text"]["text"] for one in first["blocks"] if one["type"] == "actions" for e in one["elements"]]
    return words, labels[0], [one["file"]["text"] for one in more]


def _telegram_files(row: Approval) -> tuple[str, str, list[str]]:
    first, *more = (json.loads(wire.body) for wire in telegram.render(_content(row)))
    return first["text"], first["buttons"][0][0], [one["holds"] for one in more]


def _discord_files(row: Approval) -> tuple[str, str, list[str]]:
    [only] = (json.loads(wire.body) for wire in discord.render(_content(row)))
    label = only["components"][0]["components"][0]["label"]
    return only["content"], label, [one["text"] for one in only["files"]]


WHOLE: Final[Mapping[str, Callable[[Approval], tuple[str, str, list[str]]]]] = {
    "Slack": _slack_files,
    "Telegram": _telegram_files,
    "Discord": _discord_files,
}
"""Words of the one message, words of its first button, and what the files beside it hold."""


@pytest.mark.parametrize("platform", WHOLE)
def test_the_whole_of_a_long_call_is_a_file_beside_its_one_message(platform: str) -> None:
    command = "echo " + "x\u202e" * LONG + " && rm -rf ~/important"
    row = replace(_asks({"command": command}), arguments_hash="1a2b3c4d" * 8)
    words, label, files = WHOLE[platform](row)
    assert "sha256 1a2b3c4d · Read the attached file before you approve." in words
    assert (label, [meant(one) for one in files]) == ("Approve", [command])


@pytest.mark.parametrize("platform", WHOLE)
@pytest.mark.parametrize("number", [30, 120])
def test_a_list_of_many_calls_is_one_message_with_its_buttons(platform: str, number: int) -> None:
    """Its first and its last calls, how many are between, and a file with all of them where not all stand there."""
    commands = [f"echo {place} {'x' * 60} ;{place}" for place in range(number)]
    words, label, files = WHOLE[platform](_listing(commands))
    shown = [place for place, command in enumerate(commands) if command in words]
    assert (label, shown[0], shown[-1]) == ("Approve", 0, number - 1)
    left = number - len(shown)
    assert not left or f"… {left} more, only in the file …" in words
    assert not left or "Read the attached file before you approve." in words
    assert not left or all(command in files[0] for command in commands)


def _listing(commands: Sequence[str]) -> Approval:
    texts = [json.dumps({"command": command}) for command in commands]
    calls = [
        replace(PENDING, id=ApprovalId(f"q{step}"), step=step, arguments=text, arguments_hash=digest(text))
        for step, text in enumerate(texts)
    ]
    shown = {one.id: shown_call(one.arguments) for one in calls}
    return next(one for one in listing.frozen(calls, "", shown) if one.lead == one.id)


def test_the_page_and_the_console_fold_the_whole_call_under_both_ends() -> None:
    row = _asks({"command": "echo " + "x" * LONG + " && rm -rf ~/important"})
    for html in (
        json.loads(web.render(_content(row)).body)["html"],
        str(pieces.question(approval_view(row, str, str))),
    ):
        folded = html.partition("<details")[2].partition("</details>")[0]
        assert "<summary>Show all 60,027 characters</summary>" in folded
        assert _pre(folded) == json.loads(row.arguments)["command"]


def test_what_must_be_short_shows_both_ends_and_how_much_is_between(tallied: Tallied) -> None:
    tally = tallied("card truth, shortened", 100)
    for name, text in hidden.commands():
        long = f"echo first {text}{'x' * LONG} && echo last"
        for shown in _short(json.dumps({"command": long})):
            held = not hidden.hides(shown) and shown.startswith("echo first") and shown.endswith("echo last")
            tally.case(held and "characters left out⟩" in shown, f"{name}: {shown[:300]!r}")
    tally.close()


def _short(arguments: str) -> Iterator[str]:
    yield _in_a_list_in_chat(replace(PENDING, arguments=arguments))
    yield _told(Working("shell", arguments))["arguments"]


def test_the_terminal_shows_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    for _, text in hidden.commands():
        row = approval_view(_asks({"command": text}), str, str)
        chat._how_it_ended({"approvals": [row], "run": None})
        told = capsys.readouterr().err.partition(f"{row['question']} ")[2].partition("\nAnswer it:")[0]
        assert (meant(told), hidden.hides(told)) == (text, "")


def test_a_table_cuts_nothing_off(capsys: pytest.CaptureFixture[str]) -> None:
    row = {**approval_view(_asks({"command": "echo " + "x" * 900 + "&& rm"}), str, str)}
    output.show_rows([{**row, "call": in_a_line(row["arguments"])}], APPROVAL_COLUMNS, empty="")
    told = capsys.readouterr().out
    assert (told.count("x"), "&& rm" in told, "…" in told) == (900 + APPROVAL_COLUMNS["call"].count("x"), True, False)
