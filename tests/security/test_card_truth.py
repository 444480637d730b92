"""What a surface shows of a call, decoded, is what runs: nothing is hidden, and nothing looks like something else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from html import unescape
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
from bot.operator import views
from bot.terminal import output
from runtime.chat import cards
from runtime.chat.inbox import in_code
from runtime.contract import Delivery, DeliveryId, Kind, Working
from runtime.domain.approvals import Approval, ApprovalState
from runtime.markup import parse
from runtime.markup.mentions import NOTHING_WIDE
from runtime.markup.tree import CodeBlock
from runtime.text.glyphs import in_a_line, meant
from tests.security import hidden
from tests.security.tally import Tally
from tests.unit.chat.test_cards import ASKED, PENDING

Surface = Callable[[Approval], str]
LONG: Final = 60_000


def _content(row: Approval) -> Delivery:
    card = cards.question(row.id, row.kind, row.tool, row.arguments, row.caution)
    if row.state is not ApprovalState.PENDING:
        card = cards.settled(row)
    return Delivery(DeliveryId("d1"), "approval:a1", 0, Kind.APPROVAL, row.address, card)


def _settled(surface: Surface) -> Surface:
    return lambda row: surface(replace(row, state=ApprovalState.APPROVED, decided_name="Ada", decided_at=ASKED))


def _fenced(markdown: str) -> str:
    """What stands in the code blocks. What our renderers put in against mentions and fences was no part of the call."""
    blocks = parse(markdown.replace(NOTHING_WIDE, "")).blocks
    return "\n".join(block.text for block in blocks if isinstance(block, CodeBlock))


def _on_slack(row: Approval) -> str:
    bodies = [json.loads(wire.body) for wire in slack.render(_content(row))]
    written = [block["text"] for body in bodies for block in body["blocks"] if block["type"] == "markdown"]
    return "\n".join(map(_fenced, written))


def _on_slack_plainly(row: Approval) -> str:
    bodies = [json.loads(wire.fallback or "{}") for wire in slack.render(_content(row))]
    texts = [
        "".join(one["text"]["text"] for one in body.get("blocks", ()) if one["type"] == "section")
        or unescape(body["text"])
        for body in bodies
    ]
    return _indented("\n".join(texts))


def _on_telegram(row: Approval) -> str:
    return "\n".join(_preformatted(json.loads(wire.body)) for wire in telegram.render(_content(row)))


def _preformatted(body: Mapping[str, Any]) -> str:
    units = body["text"].encode("utf-16-le", "surrogatepass")
    some = [one for one in body["entities"] if one["type"] == "pre"]
    return "\n".join(
        units[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le", "surrogatepass")
        for one in some
    )


def _on_telegram_plainly(row: Approval) -> str:
    first, *more = (json.loads(wire.fallback or "{}")["text"] for wire in telegram.render(_content(row)))
    return _indented("\n".join([first, *(f"    {text}" for text in more)]))  # the blanks at its beginning are cut off


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
    return _pre(json.loads(web.render(_content(row)).body)["html"])


def _in_the_console(row: Approval) -> str:
    return _pre(str(pieces.question(views.approval(row, str, str))))


def _in_the_consoles_list(row: Approval) -> str:
    _, what, *_ = pieces.settled(views.approval(row, str, str))
    return _pre(str(what))


def _pre(html: str) -> str:
    text = html.partition("<pre")[2].partition(">")[2].rpartition("</pre>")[0]
    return unescape(text.removeprefix("<code>").removesuffix("</code>"))


def _in_a_table(row: Approval) -> str:
    view = {**views.approval(row, str, str), "call": in_a_line(row.arguments)}
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


def _asks(arguments: dict[str, Any]) -> Approval:
    return replace(PENDING, arguments=json.dumps(arguments))


def test_what_is_shown_decodes_to_what_runs(tallied: Callable[[str, int], Tally]) -> None:
    """Scenario 44."""
    tally = tallied("card truth", 300)
    for name, text in hidden.commands():
        for surface, look in SURFACES.items():
            _look(tally, f"{name} on {surface}", look(_asks({"command": text})), lambda shown: meant(shown), text)
        both = {"path": text, "content": "x"}
        for surface, look in SURFACES.items() if name.endswith("inside") else ():
            _look(tally, f"{name} in two on {surface}", look(_asks(both)), lambda shown: json.loads(meant(shown)), both)
    tally.close()


def _look(tally: Tally, case: str, shown: str, read: Callable[[str], Any], runs: object) -> None:
    try:
        same = read(shown) == runs
    except ValueError:
        same = False
    tally.case(
        same and not hidden.hides(shown), f"{case}: {hidden.hides(shown)} {shown[:200]!r} for {str(runs)[:200]!r}"
    )


@pytest.mark.parametrize("surface", SURFACES)
def test_of_a_long_call_nothing_is_left_out(surface: str) -> None:
    """Scenario 44: 60,000 characters, in as many messages as it takes; the end stands above the buttons."""
    text = "echo " + "x" * LONG + " && rm -rf ~/important"
    shown = SURFACES[surface](_asks({"command": text}))
    assert "".join(meant(shown).split()) == "".join(text.split())


def test_what_must_be_short_shows_both_ends_and_how_much_is_between(tallied: Callable[[str, int], Tally]) -> None:
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
        row = views.approval(_asks({"command": text}), str, str)
        chat._how_it_ended({"approvals": [row], "run": None})
        told = capsys.readouterr().err.partition(f"{row['question']} ")[2].partition("\nAnswer it:")[0]
        assert (meant(told), hidden.hides(told)) == (text, "")


def test_a_table_cuts_nothing_off(capsys: pytest.CaptureFixture[str]) -> None:
    row = {**views.approval(_asks({"command": "echo " + "x" * 900 + "&& rm"}), str, str)}
    output.show_rows([{**row, "call": in_a_line(row["arguments"])}], APPROVAL_COLUMNS, empty="")
    told = capsys.readouterr().out
    assert (told.count("x"), "&& rm" in told, "…" in told) == (900 + APPROVAL_COLUMNS["call"].count("x"), True, False)
