"""Names of browsers, by what they send of themselves: enough to tell one's own apart, and nothing that tells two of a kind apart."""

from __future__ import annotations

from typing import Final

BROWSER_KINDS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
"""Marks in the header, the more special ones first: nearly all call themselves Chrome and Safari beside their own name."""
SYSTEM_KINDS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("Linux", "Linux"),
)


def browser_name(user_agent: str) -> str:
    """A name as people know it; empty for a program, or a browser that we don't know.

    >>> browser_name("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox · Linux'
    >>> browser_name(
    ...     "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    ...     "Version/18.5 Mobile/15E148 Safari/604.1"
    ... )
    'Safari · iPhone'
    >>> browser_name("curl/8.5.0")
    ''
    """
    found = (next((name for mark, name in marks if mark in user_agent), "") for marks in (BROWSER_KINDS, SYSTEM_KINDS))
    return " · ".join(filter(None, found))
