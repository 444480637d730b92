"""Values that people of a room named in their own messages: hosts, recipients, things and amounts. Pure.

A value that somebody wrote cannot have been chosen by a text from outside. So names are compared strictly: an address by
every letter of it, a name or a title word by word, whatever its case. A message that quotes a stranger names what is in
the quote. And whoever is called like a common word is named by that word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

from runtime.contract import Json

WORD: Final = re.compile(r"[^\W_]+")
AUTHORITY: Final = re.compile(r"[a-z][a-z0-9+.-]{0,20}://([^\s/?#\\\"'<>]{1,300})", re.IGNORECASE)
"""Of an address with its scheme."""
BARE_HOST: Final = re.compile(r"(?<![\w@.-])(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?![\w@-]|\.\w)")
"""A host as people write it: `example.org`."""
PERHAPS_HOST: Final = re.compile(r"(?:[^\W_](?:[\w-]{0,62})\.){1,8}(?:xn--[\w-]{2,59}|[^\W\d_]{2,24})", re.IGNORECASE)
"""The same within anything, such as `_example.org_`: a platform may make a link of it."""
DOTS: Final = str.maketrans(dict.fromkeys("\u3002\uff0e\uff61\u2024", "."))
"""Letters that are read as the dot of a host. Source: RFC 3490, 3.1; and the leader that looks like one."""
IP_FORM: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
NO_HOSTS: Final = frozenset(
    ("csv", "docx", "gif", "html", "jpeg", "jpg", "js", "json", "odt", "pdf", "png", "pptx", "txt", "xlsx", "xml")
)
"""Endings of files under which no host can be: they are no top-level domains."""
MOSTLY_FILES: Final = frozenset(
    ("cab", "cc", "java", "md", "mov", "pl", "pm", "ps", "py", "rs", "sh", "so", "tf", "zip")
)
"""Endings of files that are top-level domains too: `README.md` names a file, and `https://README.md` alone a host."""
HOST_FORM: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
MAIL_ADDRESS: Final = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[\w-]{2,24}")
ACCOUNT_FORM: Final = re.compile(
    r"(?<![^\W_])(?:[A-Z]{2}\d{2}[A-Z0-9]{8,30}|[A-Z]{2}\d{2}(?: [A-Z0-9]{1,4}){1,7} [A-Z]{0,3}\d[A-Z0-9]{0,3}"
    r"|\+?\d(?:[ .()/-]{0,2}\d){7,20})(?![^\W_])",
    re.IGNORECASE,
)
"""Bank accounts (IBAN and their like), cards and telephone numbers: eight digits and more."""
DATE_FORM: Final = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
NUMBER_FORM: Final = re.compile(r"(?<![\w.,])(\d{1,3}(?:[,' ]\d{3})+|\d+)(?:[.,](\d+))?(?!\w)")
ENDING: Final = re.compile(r"\.\w{1,5}$")
LEAST_LETTERS: Final = 3
"""Of a name: less would be in any message."""
PLAIN_NAME: Final = re.compile(r"[^\W_](?:[\w-]{0,28}[^\W_])?")
"""One word of at most 30 characters without a dot: it leads nowhere, and no more can be said with it than a name."""


@dataclass(frozen=True)
class Named:
    """Words of people of the room, as far as the calls of a run are compared with them.

    `hosts` are globs of those that a rule lists, beside all that people named.
    """

    texts: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @cached_property
    def _words(self) -> str:
        """All words, each text for itself, so that no name is made of the end of one and the beginning of the next."""
        return "\n".join(f" {' '.join(WORD.findall(text.casefold()))} " for text in self.texts)

    @cached_property
    def _hosts(self) -> frozenset[str]:
        return frozenset(host for text in self.texts for host in hosts_in(text))

    @cached_property
    def _amounts(self) -> frozenset[Decimal]:
        return frozenset(amount for text in self.texts for amount in _amounts_in(text))

    def host(self, host: str) -> bool:
        """True for a host that somebody named, with or without its `www`."""
        return bool(host) and not {host, host.removeprefix("www."), f"www.{host}"}.isdisjoint(self._hosts)

    def exactly(self, value: str) -> bool:
        """True if `value` stands in a message letter by letter, as a whole, whatever its case."""
        whole = rf"(?<![\w@.+/-]){re.escape(value)}(?![\w@/+-]|\.\w)"
        return bool(value.strip()) and any(re.search(whole, text, re.IGNORECASE) for text in self.texts)

    def recipient(self, value: str) -> bool:
        """True for an address that stands there exactly, and for a name whose words do."""
        name = value.strip().lstrip("#@")
        if re.fullmatch(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*", name):
            return self.thing(name)
        return len(name) >= LEAST_LETTERS and self.exactly(name)

    def thing(self, value: str) -> bool:
        """True for a title, a name or a path whose words somebody wrote in a row; a file's ending may be left out.

        A number alone names no thing: it may stand there for anything.
        """
        return any(self._says(one) for one in {value, ENDING.sub("", value)})

    def amount(self, value: Json) -> bool:
        """True if the number stands in a message, as a number of its own."""
        try:
            number = Decimal(str(value))
        except InvalidOperation:
            return False
        return not isinstance(value, bool) and number.is_finite() and number in self._amounts

    def leads(self, text: str) -> Iterator[str]:
        """Ways out of a text that nobody named: hosts, mail addresses, accounts and telephone numbers."""
        found = [*MAIL_ADDRESS.findall(text), *ACCOUNT_FORM.findall(DATE_FORM.sub(" ", text))]
        yield from (one for one in dict.fromkeys(found) if not self.exactly(one))
        yield from (host for host in sorted(hosts_perhaps_in(text)) if not (self.host(host) or self.exactly(host)))

    def _says(self, value: str) -> bool:
        words = WORD.findall(value.casefold())
        if sum(letter.isalpha() for word in words for letter in word) < LEAST_LETTERS:
            return False
        return f" {' '.join(words)} " in self._words


def host_of(url: Json) -> str:
    """The host of an address in ASCII; empty for anything that could be read in two ways.

    >>> host_of("www.example.org/page"), host_of("https://example.org@evil.test/")
    ('www.example.org', '')
    """
    if not isinstance(url, str) or re.search(r"[\s\\]", url.strip()):
        return ""
    try:
        parts = urlsplit(url.strip() if "://" in url else f"//{url.strip()}")
        host = "" if "@" in parts.netloc else parts.hostname or ""
    except ValueError:
        return ""
    return _in_ascii(host)


def hosts_in(text: str) -> frozenset[str]:
    """Hosts that a text names, by whole addresses or as people write them.

    >>> sorted(hosts_in("See https://docs.example.org/a and www.example.com. Not report.pdf or ann@example.net"))
    ['docs.example.org', 'www.example.com']
    """
    rest = AUTHORITY.sub(" ", text)
    bare = [one for one in _that_may_be(BARE_HOST, rest) if _is_meant(one)]
    return _of_addresses(text) | _in_form([*bare, *IP_FORM.findall(rest)])


def hosts_perhaps_in(text: str) -> frozenset[str]:
    """Hosts to which a text may lead whoever reads it; more than people would name by it, and none of mail addresses.

    >>> sorted(hosts_perhaps_in("_www.example.org_ and report.pdf, ann@example.net"))
    ['www.example.org']
    """
    rest = MAIL_ADDRESS.sub(" ", AUTHORITY.sub(" ", text).translate(DOTS))
    return _of_addresses(text) | _in_form([*_that_may_be(PERHAPS_HOST, rest), *IP_FORM.findall(rest)])


def _of_addresses(text: str) -> frozenset[str]:
    return _in_form(found.rpartition("@")[2] for found in AUTHORITY.findall(text.translate(DOTS)))


def _that_may_be(form: re.Pattern[str], text: str) -> Iterator[str]:
    yield from (one for one in form.findall(text) if one.rpartition(".")[2].lower() not in NO_HOSTS)


def _is_meant(bare: str) -> bool:
    """False for what is as likely a file, or the end of a sentence and the begin of the next: `done.So`."""
    ending = bare.rpartition(".")[2]
    return ending.lower() not in MOSTLY_FILES and (bare.isupper() or not ending[0].isupper())


def _in_form(hosts: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, (_in_ascii(re.sub(r":\d*$", "", one.strip(".,;:!)]"))) for one in hosts)))


def is_plain_name(value: str) -> bool:
    """True for one short word, as rooms and people are called on a chat platform: no text fits into it."""
    return PLAIN_NAME.fullmatch(value) is not None


def _in_ascii(host: str) -> str:
    try:
        small = host.lower() if host.isascii() else host.encode("idna").decode().lower()
    except UnicodeError:
        return ""
    return small if HOST_FORM.fullmatch(small) else ""


def _amounts_in(text: str) -> Iterable[Decimal]:
    for whole, part in NUMBER_FORM.findall(text):
        yield Decimal(f"{re.sub(r'[^0-9]', '', whole)}.{part or 0}")
