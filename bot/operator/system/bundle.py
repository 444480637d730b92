"""Contents of a support bundle: facts that help, without what people wrote, who and where they are, or a secret.

It is an open list: a value is told because a rule here says so. Words of the program are told with every name that is
known here taken out, and with what they quote.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import IO, Any, Final

from bot.secrets import model_keys
from bot.settings.editing.fields import all_fields
from bot.settings.editing.values import path_of
from bot.telemetry.ring import LogLine
from runtime.contract import Role
from runtime.guard.masks import HIDDEN, hide

BUNDLE_NOTE: Final = """A support bundle of Signalbox.

It holds: version and system (about), settings with their sources and without secrets, nodes, numbers of rows by table,
accounts by number, the doctor's findings, the last lines of the log, and metrics.

It holds no messages, no names, no addresses of people, and no secrets. Texts of settings are told by their length; names
that this installation knows, and what log lines quote, are taken out. Read it before you send it.
"""
NAME_HIDDEN: Final = "(name)"
VALUE_HIDDEN: Final = "(value)"
QUOTED: Final = "“…”"
PATH_SHOWN: Final = "(path)"
WORD_LEAST_CHARS: Final = 2
OUR_WORDS: Final = frozenset({*(role.word for role in Role), "main", "demo", "default", "auto"})
"""Names that say nothing of anybody."""
WORDS_MOST_CHARS: Final = 300
PLAIN_SETTINGS: Final = re.compile(
    r"(?:model|embeddings|images|transcription|speech)\.name|models\[\d+\]\.model"
    r"|model\.(?:reasoning|images)|models\[\d+\]\.(?:reasoning|images)"
    r"|accounts\[\d+\]\.channel|access\.(?:default|rooms)|rooms\[\d+\]\.(?:attention|busy)"
    r"|sessions\.(?:busy|restore)|budgets\.(?:over|unpriced)|guard\.(?:secrets|random|personal)"
    r"|log\.(?:level|format)|planning\.zone|tools\.shell\.sandbox|tools\.trusted|outbox\.unknown"
    r"|policy\[\d+\]\.(?:result|effect|tool)|approvals\.to\[\d+\]"
)
"""Settings whose words are those of a vendor or of a closed set."""
ADDRESS_SHAPE: Final = re.compile(
    r"\b(?:slack|telegram|discord|web|webhook|email|oidc|program|person|room|api|console)[:|][^\s\"'`,;)\]}]+"
)
MAIL_SHAPE: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
QUOTED_SHAPE: Final = re.compile(
    r""""(?:\\.|[^"\\\n])*(?:"|\\?$)|“[^”\n]*(?:”|$)|(?<!\w)'(?:\\.|[^'\\\n]|'(?=\w))*(?:'|\\?$)|`(?!signalbox )[^`\n]*(?:`|$)""",
    re.MULTILINE,
)
"""Quotations, with marks in them; one that a cut left open goes to the end of its line."""
PATH_SHAPE: Final = re.compile(r"(?<![\w.:/])(?:/[\w.@+-]+){2,}/?")
ID_SHAPE: Final = re.compile(r"[0-9A-Za-z]{20,26}")
ID_FIELDS: Final = frozenset({"trace", "run", "delivery", "node", "task", "child"})
LETTERS: Final = re.compile(r"\w+")
FRAME: Final = re.compile(r'^\s*File ".*?([\w-]+/[\w.-]+)", line (\d+), in (\S+)')
FAULT: Final = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Timeout|Away|Lost))\b")


class Scrubber:
    """Takes the words that it is given, and all that looks like an address, a path or a quotation, out of a text.

    There may be many thousands of them: each is only tried where the letters stand with which it begins.
    """

    def __init__(self, words: Iterable[str]) -> None:
        known = {one for one in words if len(one) >= WORD_LEAST_CHARS and one not in OUR_WORDS}
        self._by_first: dict[str, list[str]] = {}
        self._begun: dict[str, re.Pattern[str]] = {}
        signs = []
        for one in sorted(known, key=len, reverse=True):
            if first := LETTERS.match(one):
                self._by_first.setdefault(first[0].lower(), []).append(one)
            else:
                signs.append(one)
        self._signs = re.compile(rf"(?<!\w){_any_of(signs)}", re.IGNORECASE) if signs else None

    def __call__(self, text: str) -> str:
        shown = QUOTED_SHAPE.sub(QUOTED, hide(text))
        if self._signs is not None:
            shown = self._signs.sub(NAME_HIDDEN, shown)
        shown = self._unnamed(shown)
        for shape in (MAIL_SHAPE, ADDRESS_SHAPE):
            shown = shape.sub(NAME_HIDDEN, shown)
        return PATH_SHAPE.sub(PATH_SHOWN, shown)

    def _unnamed(self, text: str) -> str:
        kept: list[str] = []
        end = 0
        for first in LETTERS.finditer(text):
            found = self._at(first[0].lower(), text, first.start())
            if found and found.start() >= end:
                kept += [text[end : found.start()], NAME_HIDDEN]
                end = found.end()
        return "".join([*kept, text[end:]])

    def _at(self, first: str, text: str, start: int) -> re.Match[str] | None:
        """The longest word that begins with the letters `first` and stands there."""
        if first not in self._by_first:
            return None
        if first not in self._begun:
            self._begun[first] = re.compile(_any_of(self._by_first[first]), re.IGNORECASE)
        return self._begun[first].match(text, start)


def _any_of(words: Sequence[str]) -> str:
    return rf"(?:{'|'.join(map(re.escape, words))})(?!\w)"


def leaves(values: object, above: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of nested settings, by its dotted name."""
    match values:
        case Mapping():
            for name, value in values.items():
                yield from leaves(value, f"{above}.{name}" if above else str(name))
        case list() | tuple():
            for number, value in enumerate(values, 1):
                yield from leaves(value, f"{above}[{number}]")
        case _:
            yield above, values


def words_of_settings(shown: Mapping[str, Any], sources: Mapping[str, str]) -> list[str]:
    """Texts that somebody wrote into the settings, which could name anybody; none of them may stand anywhere."""
    texts = [(name, value) for name, value in leaves(shown) if isinstance(value, str) and _is_own(name, sources)]
    return [value for name, value in texts if value and not _is_plain(name, value)]


def settings_told(shown: Mapping[str, Any], sources: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """Each setting with its source. Of a text that isn't a closed word only how long it is; of a secret nothing."""
    return {
        _plain_name(name): {"value": _value(name, value, is_own=_is_own(name, sources)), "from": _source(name, sources)}
        for name, value in leaves(shown)
    }


def _is_own(name: str, sources: Mapping[str, str]) -> bool:
    """True for a setting that somebody wrote; with a table, all that is below it."""
    return any(name == one or name.startswith((f"{one}.", f"{one}[")) or one.startswith(f"{name}.") for one in sources)


def _source(name: str, sources: Mapping[str, str]) -> str:
    source = next((sources[one] for one in sources if name == one or name.startswith((f"{one}.", f"{one}["))), "")
    return "default" if not source else "file" if "/" in source or ".toml" in source else "variable or flag"


def _plain_name(name: str) -> str:
    """The name as the reference has it: keys that somebody chose are left out."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        known = ".".join(parts[:end])
        if _path_of(known) in _known_paths():
            return known if end == len(parts) else f"{known}.{NAME_HIDDEN}"
    return NAME_HIDDEN


def _path_of(name: str) -> str:
    """A setting in a list, or an item of a setting that is one, as the path of them all."""
    path = path_of(name)
    return path if path in _known_paths() else path.removesuffix("[]")


@cache
def _known_paths() -> frozenset[str]:
    """Paths of all settings, and of the tables that they stand in."""
    paths = (path.split(".") for path in all_fields())
    return frozenset(".".join(steps[:end]) for steps in paths for end in range(1, len(steps) + 1))


def _is_plain(name: str, value: str) -> bool:
    """True for a word of a vendor or of a closed set, and none that stands in such a place beside them: a room, an address, an alias."""
    is_address = "://" in value or ADDRESS_SHAPE.search(value)
    is_alias = (
        name.endswith((".name", ".model"))
        and "/" not in value
        and not model_keys.vendor(value)
        and value not in OUR_WORDS
    )
    return bool(PLAIN_SETTINGS.fullmatch(name)) and not is_address and not is_alias


def _value(name: str, value: object, *, is_own: bool) -> object:
    if value in (None, "", [], {}):
        return value
    if not isinstance(value, str):
        return value if _plain_name(name) == name else VALUE_HIDDEN
    if value == HIDDEN:
        return "(secret)"
    if name in ("database_url", "database_listen_url"):
        return f"{value.partition(':')[0]}:…"
    is_own = is_own or _plain_name(name) != name
    if _is_plain(name, value) or (not is_own and "/" not in value):
        return value
    return PATH_SHOWN if value.startswith(("/", "~")) else f"(text of {len(value)} characters)"


def findings_told(findings: Sequence[Mapping[str, Any]], scrub: Scrubber) -> list[dict[str, str]]:
    """Ids may end in a name: of an account, a room, a schedule."""
    return [{name: scrub(str(one.get(name, ""))) for name in ("level", "id", "what", "why", "fix")} for one in findings]


def lines_told(lines: Sequence[LogLine], scrub: Scrubber) -> list[dict[str, str]]:
    """Lines of the log: when, how bad, the program's own words, ids of work, and where an error came from."""
    return [
        {"at": one.at, "level": one.level, "event": scrub(one.event)[:WORDS_MOST_CHARS], **_fields(one.fields)}
        for one in lines
    ]


def _fields(fields: Mapping[str, str]) -> dict[str, str]:
    told: dict[str, str] = {}
    for name, value in fields.items():
        if name == "exception":
            told[name] = frames_of(value)
        elif (name in ID_FIELDS and ID_SHAPE.fullmatch(value)) or re.fullmatch(
            r"-?\d+(?:\.\d+)?|true|false|null", value
        ):
            told[name] = value
        elif name.isidentifier():
            told[name] = f"({len(value)} characters)"
    return told


def frames_of(traceback: str) -> str:
    """Modules, lines and functions of a traceback, and the kinds of errors; nothing of what they say."""
    found = []
    for line in traceback.splitlines():
        if frame := FRAME.match(line):
            found.append(f"{frame[1]}:{frame[2]} {frame[3]}")
        elif fault := FAULT.match(line):
            found.append(fault[1])
    return "\n".join(found)


def nodes_told(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Nodes by number. What they are called says whose machine they run on."""
    times = ("joined_at", "expires_at")
    return [
        {
            "node": f"node {number}",
            "id": row["id"] if ID_SHAPE.fullmatch(row["id"]) else NAME_HIDDEN,
            "state": row["state"] if row["state"].isalpha() else NAME_HIDDEN,
            **{name: row[name] for name in times},
        }
        for number, row in enumerate(rows, 1)
    ]


def metrics_told(page: str, scrub: Scrubber) -> str:
    """Figures: values of labels are names of accounts, tools and models, and go through the same sieve."""
    return "\n".join(re.sub(r'="([^"]*)"', lambda found: f'="{scrub(found[1])}"', line) for line in page.splitlines())


def write_bundle(file: IO[bytes], parts: Mapping[str, Any]) -> None:
    """A zip file with one file for each part, and a note that says what it is."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", BUNDLE_NOTE)
        for name, part in parts.items():
            if name == "log":
                archive.writestr("log.jsonl", "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in part))
            elif isinstance(part, str):
                archive.writestr(f"{name}.txt", part)
            else:
                archive.writestr(f"{name}.json", json.dumps(part, ensure_ascii=False, indent=2))
