"""Pages of packs, fetched through the guarded client."""

from __future__ import annotations

from typing import Final

from runtime.egress import Egress, NoAnswer
from runtime.knowledge.packs import most_of
from runtime.knowledge.reading import PAGE_TIMEOUT, Fetched

PAGES_TOOL: Final = "knowledge"
"""Name under which rules of `[egress]` see these requests."""
NOT_MODIFIED: Final = 304
OK: Final = 200


class PackPages:
    """Implements `Pages`."""

    def __init__(self, egress: Egress) -> None:
        self._egress = egress

    async def fetch(self, url: str, tag: str) -> Fetched:
        """A page, or that it is the one with this tag. Errors: Refused, NoAnswer; also for an answer that is none."""
        answer = await self._egress.request(
            "GET", url, tool=PAGES_TOOL, headers=_asked_about(tag), most=most_of(url), timeout=PAGE_TIMEOUT
        )
        if answer.status == NOT_MODIFIED and tag:
            return Fetched(tag, "", None)
        if answer.status != OK:
            raise NoAnswer(f"It answered with status {answer.status}.", sent=True)
        if answer.truncated:
            raise NoAnswer(
                f"It has more than {most_of(url) // 1_000_000} MB, which is the limit for one page.", sent=True
            )
        fresh = answer.headers.get("etag") or answer.headers.get("last-modified", "")
        return Fetched(fresh, answer.headers.get("content-type", ""), answer.body)


def _asked_about(tag: str) -> dict[str, str]:
    """Headers that ask for a page only where it is another one: a tag is quoted, and a time is not."""
    if not tag:
        return {}
    return {"If-None-Match": tag} if tag.startswith(('"', "W/")) else {"If-Modified-Since": tag}
