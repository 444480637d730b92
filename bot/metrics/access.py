"""Access to the metrics: they hold no text and no person, yet what a team does and spends is its own business."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from bot.metrics.place import LOOPBACK
from runtime.http.guard import bears


@dataclass(frozen=True, slots=True)
class Objection:
    status: int
    sentence: str


SHOW_IT: Final = Objection(401, "Signalbox's metrics need a token. Send metrics.token as Authorization: Bearer.")
OPEN: Final = Objection(
    403,
    "Other machines can reach this port, and no token protects the metrics of Signalbox. Set metrics.token and have Prometheus send it (Authorization: Bearer), or use metrics.port to serve them to this machine alone.",
)
STRANGE: Final = Objection(403, "Open Signalbox's metrics at 127.0.0.1 or localhost, or set metrics.token.")


class MetricsAccess:
    """With a token: whoever shows it. Without: anybody, as long as only this machine can ask.

    `is_open`: other machines can reach the port.
    """

    def __init__(self, token: str | None, *, is_open: bool) -> None:
        self._token = token
        self._is_open = is_open

    def objection(self, request: web.Request) -> Objection | None:
        if self._token:
            return None if bears(request, self._token) else SHOW_IT
        if self._is_open:
            return OPEN
        # A page elsewhere may point its own name at our address; then the name is not one of ours.
        return None if _name(request.headers.get("Host", "")) in LOOPBACK else STRANGE


def _name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None
