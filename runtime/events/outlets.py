"""Places that take events: an address on the web, and a file."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from glob import escape
from pathlib import Path
from typing import Any, Final

from runtime.contract import Now
from runtime.egress import Egress, NoAnswer, Refused, Result, Rule
from runtime.egress.places import Place
from runtime.events.sinks import SINK_ANSWER_MAX_BYTES, SINK_TIMEOUT, SinkFailed, body_of, signature

EVENT_SINK_TOOL: Final = "event_sink"
"""Name by which rules of the way out know the requests of sinks."""
TIMESTAMP_HEADER: Final = "X-Signalbox-Timestamp"
"""Header with the second, since 1970, at which a request was signed."""


def rule_for(url: str) -> Rule:
    """The rule that a sink's own address is: whoever wrote it into the settings allows that request and no other.

    It comes behind the rules of the settings, so that one of those may deny it; private networks still need `egress.allow`.
    """
    place = Place.parse(url)
    return Rule(Result.ALLOW, EVENT_SINK_TOOL, escape(place.host), "*", "POST", frozenset({place.port}))


class WebOutlet:
    """Posts a batch as JSON, signed where there is a secret. Only an answer from 200 to 299 takes it.

    Redirects are not followed: events go to the address of the settings and nowhere else.
    """

    def __init__(self, url: str, *, egress: Egress, header: str, now: Now, secret: str = "") -> None:
        self._url = url
        self._egress = egress
        self._header = header
        self._now = now
        self._secret = secret

    async def take(self, sink: str, events: Sequence[Mapping[str, Any]]) -> None:
        body = body_of(sink, events)
        stamp = str(int(self._now().timestamp()))
        headers = {
            "Content-Type": "application/json",
            "X-Signalbox-Sink": sink,
            "X-Signalbox-Last": str(events[-1]["number"]),
            TIMESTAMP_HEADER: stamp,
        }
        if self._secret:
            headers[self._header] = signature(self._secret, stamp, body)
        try:
            answer = await self._egress.request(
                "POST",
                self._url,
                tool=EVENT_SINK_TOOL,
                headers=headers,
                body=body,
                most=SINK_ANSWER_MAX_BYTES,
                timeout=SINK_TIMEOUT,
            )
        except (Refused, NoAnswer) as error:
            raise SinkFailed(str(error)) from error
        if not 200 <= answer.status < 300:
            raise SinkFailed(f"It answered {answer.status}.")


class FileOutlet:
    """Appends a line of JSON for each event. On the disk before it counts as taken."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def take(self, sink: str, events: Sequence[Mapping[str, Any]]) -> None:
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in events)
        try:
            await asyncio.to_thread(self._append, lines.encode())
        except OSError as error:
            raise SinkFailed(f"{self._path} can't be written: {error.strerror or error}.") from error

    def _append(self, data: bytes) -> None:
        """Whole lines only: what a kill left of a line is ended first, and comes again as a whole."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                data = b"\n" + data
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
            os.fsync(file.fileno())
