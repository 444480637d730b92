"""Finds what is said to people, and keeps the catalogues of other languages up to date with it.

`python -m tests.catalogue` writes each `signalbox.po` anew, with what translators wrote kept and new texts empty; compiles
it to `signalbox.mo`; and writes the texts of the page's and the console's scripts as `words.<language>.json` beside them,
since a browser reads no catalogue. Babel does the reading and writing; what is found where is told here.

Texts are found in: `say`, `say_many`, `several` and `marked` in Python; `t` and `many` in the scripts; and all that stands
between tags, or in attributes that are read out, in the page's HTML.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from adapters.web.translated import texts_in
from runtime.text.words import others

ROOT: Final = Path(__file__).parents[1]
REPORTS: Final = ROOT / "config" / "reports"
LOCALES: Final = ROOT / "runtime" / "text" / "locale"
SPOKEN: Final = ("adapters", "bot", "runtime", "tools")
SCRIPTS: Final = (ROOT / "adapters" / "web" / "page", ROOT / "bot" / "console" / "static")
"""Folders of scripts, each with a file of its texts for every language."""
MEASURES: Final = re.compile(
    r"from runtime\.text\.words import (?:\([^)]*|[^\n]*)\bseveral\b|^def several", re.MULTILINE
)
"""`several` that speaks; the one of `markup.moments` is for models and logs."""
UNITS: Final = ("day", "hour", "minute", "second")
"""Nouns of `several` that are no literals."""
NO_DATE: Final = datetime(2026, 1, 1, tzinfo=UTC)
PLACES: Final = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")
JS_STRING: Final = r'"((?:[^"\\\n]|\\.)*)"'
JS_T: Final = re.compile(rf"\bt\(\s*{JS_STRING}")
JS_MANY: Final = re.compile(rf"\bmany\(\s*{JS_STRING},\s*{JS_STRING}")


class Said(NamedTuple):
    """A text in the sources; `many` where it has a plural."""

    text: str
    many: str = ""


Found = Mapping[Said, Sequence[tuple[str, int]]]


@cache
def found() -> Found:
    """Every text with the places where it is said."""
    places: dict[Said, list[tuple[str, int]]] = defaultdict(list)
    for path, texts in _in_files():
        for said in texts:
            places[said].append((str(path.relative_to(ROOT)), 0))
    return places


def _in_files() -> Iterator[tuple[Path, Iterable[Said]]]:
    for path in sorted(path for top in SPOKEN for path in (ROOT / top).rglob("*.py")):
        yield path, in_python(path.read_text(encoding="utf-8"))
    for path, name in TABLES:
        yield path, in_table(path, name)
    for path in sorted(REPORTS.glob("*.j2")):
        yield path, map(Said, in_report(path.read_text(encoding="utf-8")))
    for path in sorted(path for folder in SCRIPTS for path in folder.glob("*.js")):
        yield path, in_script(path.read_text(encoding="utf-8"))
    for path in (SCRIPTS[0] / "index.html", SCRIPTS[0] / "offline.html"):
        yield path, map(Said, texts_in(path.read_text(encoding="utf-8")))


TABLES: Final = (
    (ROOT / "bot" / "console" / "layout.py", "PLACES"),
    (ROOT / "bot" / "console" / "layout.py", "HEADINGS"),
    (ROOT / "bot" / "console" / "layout.py", "TONES"),
    (ROOT / "runtime" / "contract" / "signals.py", "COMMANDS"),
)
"""Tables whose words are said where they are shown: names of pages and of states, and what commands are for. Of a table by
states the keys are shown, else the values."""


def in_table(path: Path, name: str) -> Iterator[Said]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            table = node.value
            told: Iterable[ast.AST | None] = ast.walk(node)
            if isinstance(table, ast.Dict):
                told = table.keys if name == "TONES" else table.values
            texts = (one.value for one in told if isinstance(one, ast.Constant) and isinstance(one.value, str))
            yield from (Said(text) for text in texts if not text.startswith("/"))


def in_python(source: str) -> Iterator[Said]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if name in ("say", "marked") and texts:
            yield Said(texts[0])
        elif name == "say_many" and len(texts) > 1:
            yield Said(texts[0], texts[1])
        elif name == "several" and texts and MEASURES.search(source):
            yield Said(f"{{number}} {texts[0]}", f"{{number}} {texts[0]}s")
    if "def several" in source and "TIME_UNITS" in source:
        yield from (Said(f"{{number}} {unit}", f"{{number}} {unit}s") for unit in UNITS)


def in_report(source: str) -> Iterator[str]:
    """What a report tells, and its options as a form names them; its text is for a room."""
    head = tomllib.loads(source.split("+++")[1])
    yield head["about"]
    yield from (name.replace("_", " ").capitalize() for name in head.get("options", {}))


def in_script(source: str) -> Iterator[Said]:
    for one in JS_T.finditer(source):
        yield Said(json.loads(f'"{one[1]}"'))
    for one in JS_MANY.finditer(source):
        yield Said(json.loads(f'"{one[1]}"'), json.loads(f'"{one[2]}"'))


def po_of(language: str) -> Path:
    return LOCALES / language / "LC_MESSAGES" / "signalbox.po"


def read(language: str) -> Catalog:
    with po_of(language).open("rb") as file:
        return read_po(file, locale=language)


def renewed(language: str, texts: Found) -> Catalog:
    """The catalogue with just what is said now, and what was translated of it."""
    old = read(language) if po_of(language).is_file() else Catalog(language)
    new = Catalog(language, project="Signalbox", version="", copyright_holder="", fuzzy=False)
    for said in sorted(texts):
        known = old.get(said.text)
        places = sorted(set(texts[said]))
        ours = isinstance(known.id, tuple) == bool(said.many) if known else False
        string: Any = known.string if known and ours else ("", "") if said.many else ""
        new.add((said.text, said.many) if said.many else said.text, string, locations=places)
    return new


def written(catalogue: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalogue, omit_header=False, width=0, include_lineno=False)
    text = re.sub(r'"(?:POT-Creation|PO-Revision)-Date:[^\n]*\n', "", out.getvalue().decode())
    return re.sub(r"\A(?:#[^\n]*\n)+", "# Texts of Signalbox. Written by `python -m tests.catalogue`.\n", text).encode()


def compiled(catalogue: Catalog) -> bytes:
    catalogue.creation_date = catalogue.revision_date = NO_DATE  # the same text is the same file
    out = io.BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()


def of_scripts(catalogue: Catalog, folder: Path) -> str:
    """The texts of a folder's scripts as JSON: a text, or the forms of one that counts."""
    texts: dict[str, Any] = {}
    for path in sorted(folder.glob("*.js")):
        for said in in_script(path.read_text(encoding="utf-8")):
            known = catalogue.get(said.text)
            if known and known.string:
                texts[said.text] = list(known.string) if said.many else known.string
    return json.dumps(dict(sorted(texts.items())), ensure_ascii=False, indent=1) + "\n"


def main() -> None:
    texts = found()
    for language in others():
        catalogue = renewed(language, texts)
        po_of(language).parent.mkdir(parents=True, exist_ok=True)
        po_of(language).write_bytes(written(catalogue))
        catalogue = read(language)
        po_of(language).with_suffix(".mo").write_bytes(compiled(catalogue))
        for folder in SCRIPTS:
            (folder / f"words.{language}.json").write_text(of_scripts(catalogue, folder), encoding="utf-8")
        missing = [one for one in catalogue if one.id and not _is_whole(one.string)]
        sys.stdout.write(f"{language}: {len(texts)} texts, {len(missing)} without a translation\n")


def _is_whole(string: Any) -> bool:
    return all(string) if isinstance(string, tuple) else bool(string)


if __name__ == "__main__":
    main()
