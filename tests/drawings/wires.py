"""A message of each platform as HTML, from the JSON that its adapter sends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

from adapters.discord.outgoing.render import render as to_discord
from adapters.slack.outgoing.render import render as to_slack
from adapters.telegram.outgoing.render import key_rows
from adapters.telegram.outgoing.render import render as to_telegram
from runtime.contract import Address, Content, Delivery, DeliveryId, Kind
from tests.drawings.markdown import html_of, in_words, with_tokens

Json = Mapping[str, Any]
TAGS: Final = {
    "bold": "b",
    "italic": "i",
    "underline": "u",
    "strikethrough": "s",
    "code": "code",
    "pre": "pre",
    "text_link": "u",
    "blockquote": "blockquote",
    "expandable_blockquote": "blockquote",
}
COLOURS: Final = {"primary": "go", "danger": "no", 3: "go", 4: "no"}
SLACK_DATE: Final = re.compile(r"&lt;!date\^(\d+)\^[^|]*\|[^&]*&gt;")
SLACK_LINK: Final = re.compile(r"&lt;(https?://[^|&]+)\|([^&]*)&gt;")
SLACK_BOLD: Final = re.compile(r"\*([^*\n]+)\*")
SLACK_CODE: Final = re.compile(r"`([^`\n]+)`")


def slack(content: Content) -> str:
    bodies = [json.loads(wire.body) for wire in to_slack(_delivery("slack", content))]
    return "".join(
        _bubble(map(_block, body["blocks"])) if "blocks" in body else _attached(body["file"]) for body in bodies
    )


def discord(content: Content) -> str:
    bodies = [json.loads(wire.body) for wire in to_discord(_delivery("discord", content))]
    return "".join(map(_discord_message, bodies))


def telegram(content: Content) -> str:
    bodies = [json.loads(wire.body) for wire in to_telegram(_delivery("telegram", content))]
    return "".join(map(_telegram_message, bodies))


WIRES: Final[Mapping[str, Callable[[Content], str]]] = {"Slack": slack, "Telegram": telegram, "Discord": discord}


def _delivery(channel: str, content: Content) -> Delivery:
    room = {"slack": "C1", "telegram": "-100", "discord": "1"}[channel]
    return Delivery(DeliveryId("d1"), "approval:a1", 0, Kind.APPROVAL, Address(channel, "main", room), content)


def _bubble(parts: Iterable[str]) -> str:
    return f"<div class=message>{''.join(parts)}</div>"


def _attached(file: Json) -> str:
    return _bubble([f"<p>📎 {escape(file['name'])}</p>"])


def _row(buttons: Iterable[tuple[str, str]]) -> str:
    drawn = [f'<span class="button {colour}">{escape(label)}</span>' for label, colour in buttons]
    return f"<p class=row>{''.join(drawn)}</p>"


def _block(block: Json) -> str:
    match block["type"]:
        case "markdown":
            return html_of(block["text"])
        case "section":
            return f"<p>{_mrkdwn(block['text'])}</p>"
        case "context":
            return "".join(f"<p class=small>{_mrkdwn(one)}</p>" for one in block["elements"])
        case "actions":
            return _row((one["text"]["text"], COLOURS.get(one.get("style"), "")) for one in block["elements"])
        case kind:
            return f"<p class=unknown>{escape(kind)}: {escape(json.dumps(block))}</p>"


def _mrkdwn(text: Json) -> str:
    html = (
        escape(text["text"], quote=False)
        .replace("&amp;lt;", "&lt;")
        .replace("&amp;gt;", "&gt;")
        .replace("&amp;amp;", "&amp;")
    )
    if text["type"] == "plain_text":
        return html
    html = SLACK_DATE.sub(lambda found: f"<span class=token>{in_words(int(found[1]))}</span>", html)
    html = SLACK_LINK.sub(r"<u>\2</u>", html)
    html = SLACK_BOLD.sub(r"<b>\1</b>", SLACK_CODE.sub(r"<code>\1</code>", html))
    return with_tokens(html).replace("\n", "<br>")


def _discord_message(body: Json) -> str:
    rows = [
        _row((one["label"], COLOURS.get(one["style"], "")) for one in row["components"])
        for row in body.get("components", ())
    ]
    files = [f"<p>📎 {escape(file['name'])}</p>" for file in body.get("files", ())]
    return _bubble([html_of(body["content"]), *files, *rows])


def _telegram_message(body: Json) -> str:
    file = f"<p>📎 {escape(body['name'])}</p>" if body.get("file") else ""
    rows = "".join(_row([(label, "") for label, _ in row]) for row in key_rows(body["buttons"]))
    return _bubble([file, f"<div class=pre>{_with_entities(body['text'], body['entities'])}</div>", rows])


def _with_entities(text: str, entities: Sequence[Json]) -> str:
    """Offsets are UTF-16 units, so the text is cut as such. Entities nest and never cross."""
    units = text.encode("utf-16-le")
    marks: list[tuple[int, int, int, str]] = []
    for entity in entities:
        tag, start, end = TAGS.get(entity["type"], "span"), entity["offset"], entity["offset"] + entity["length"]
        marks += [(start, 1, -end, f"<{tag}>"), (end, 0, -start, f"</{tag}>")]
    made, at = [], 0
    for position, _, _, mark in sorted(marks):
        made += [escape(units[2 * at : 2 * position].decode("utf-16-le")), mark]
        at = position
    return "".join([*made, escape(units[2 * at :].decode("utf-16-le"))])
