"""RSS and Atom as a small HTML page, which is then read as any page is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Final
from xml.parsers import expat

ENTRIES: Final = frozenset({"item", "entry"})
ROOTS: Final = frozenset({"rss", "feed", "RDF"})
DATES: Final = frozenset({"pubDate", "published", "updated", "date"})
SUMMARIES: Final = frozenset({"description", "summary", "content", "encoded"})
SEPARATOR: Final = " "  # between namespace and name: in no XML name
MOST_ENTRIES: Final = 200


class NoFeed(Exception):
    """It is other XML, broken, or brings declarations of its own, which can stand for more than any memory holds."""


@dataclass(slots=True)
class Entry:
    """Shown parts of an entry, or of the feed itself. `title` and `summary` are HTML."""

    title: str = ""
    link: str = ""
    date: str = ""
    summary: str = ""


@dataclass(slots=True)
class Reading:
    """State of the parser. It compares local names only, since feeds disagree about namespaces."""

    feed: Entry = field(default_factory=Entry)
    entries: list[Entry] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    type: str = ""
    current: Entry | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        local = name.rpartition(SEPARATOR)[2]
        if not self.path and local not in ROOTS:
            raise NoFeed(local)
        self.path.append(local)
        if local in ENTRIES:
            self.current = Entry()
            self.entries.append(self.current)
        if self._owner() is not None:
            self.text.clear()
            self.type = attributes.get("type", "")
            if local == "link" and attributes.get("rel", "alternate") == "alternate":
                self._take("link", attributes.get("href", ""))

    def end(self, name: str) -> None:
        local, owner = self.path[-1], self._owner()
        if owner is not None:
            said = "".join(self.text).strip()
            if local == "title":
                self._take("title", said if self.type == "html" else escape(said))
            elif local == "link":
                self._take("link", said)
            elif local in DATES:
                self._take("date", said)
            elif local in SUMMARIES:
                # RSS knows no types and means HTML, Atom says so where it is.
                is_html = self.type == "html" or self.path[0] != "feed"
                self._take("summary", said if is_html else escape(said))
        self.path.pop()
        if local in ENTRIES:
            self.current = None

    def _owner(self) -> Entry | None:
        """The feed or entry that the current element is a direct child of; None for any deeper one."""
        above = self.path[-2] if len(self.path) > 1 else ""
        if self.current is not None:
            return self.current if above in ENTRIES else None
        return self.feed if above in ("channel", "feed") else None

    def _take(self, what: str, said: str) -> None:
        """The first that says something counts."""
        owner = self._owner()
        if owner is not None and said and not getattr(owner, what):
            setattr(owner, what, said)


def page_of(xml: str) -> str:
    """The feed as HTML, newest as the feed has them. Errors: NoFeed."""
    reading = Reading()
    parser = expat.ParserCreate("utf-8", SEPARATOR)
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text.append
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(xml.encode(errors="replace"), True)
    except expat.ExpatError as error:
        if not reading.entries:  # a feed that was cut is read as far as it goes
            raise NoFeed("broken") from error
    return "\n".join([_told(reading.feed, "h1"), *(_told(entry, "h2") for entry in reading.entries[:MOST_ENTRIES])])


def _refuse(*_: object) -> None:
    raise NoFeed("it has a document type")


def _told(entry: Entry, heading: str) -> str:
    title = entry.title or escape(entry.link) or "Untitled"
    linked = f'<a href="{escape(entry.link)}">{title}</a>' if entry.link else title
    date = f"<p>{escape(entry.date)}</p>" if entry.date else ""
    return f"<{heading}>{linked}</{heading}>{date}<div>{entry.summary}</div>"
