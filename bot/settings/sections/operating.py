"""Tables of operating Signalbox: the outbox, nodes, what is kept for how long, and what is told of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from runtime.contract import Address
from runtime.settings.types import Number, Proof, Secret, Section, Switch, Text, Whole, is_http_address

CLOSING_SECONDS: Final = 3.5
"""Time of a shutdown for all that follows the drain: to give back what the process holds, and to close."""
DRAIN_SHARE: Final = 0.6


def _room(address: str) -> str:
    if address:
        Address.parse(address)
    return address


def _collector(url: str) -> str:
    if url and not is_http_address(url):
        raise ValueError('an address such as "http://127.0.0.1:4318"')
    return url


class Outbox(Section):
    """Delivery of messages."""

    unknown: Literal["repeat", "hold"] = Field(
        default="repeat",
        description='What to do when nobody can tell whether a message was shown: "repeat" it with a mark, or '
        '"hold" it for a person.',
    )
    long_replies: Literal["parts", "file"] = Field(
        default="parts",
        description='How chat platforms show a long answer: in as many messages as it takes ("parts"), or its '
        'beginning and a file with all of it ("file"). The web page always shows all of it.',
    )
    long_reply_characters: Whole = Field(
        default=12_000, ge=1_000, le=10_000_000, description="An answer with more characters than this is long."
    )
    settle_first_seconds: Number = Field(
        default=10,
        gt=0,
        le=3600,
        description="How late an interrupted request may still arrive. The second check comes this long after the first; on Telegram, where checking costs more, the first check comes this long after the interruption.",
    )
    settle_second_seconds: Number = Field(
        default=25,
        gt=0,
        le=3600,
        description="When the second check comes on Telegram, also counted from the interruption.",
    )
    backoff_first_seconds: Number = Field(
        default=1, gt=0, le=3600, description="Wait before the first retry; it doubles each time."
    )
    backoff_most_seconds: Number = Field(default=60, gt=0, le=86_400, description="Longest wait between two retries.")
    send_timeout_seconds: Number = Field(default=30, gt=0, le=3600, description="Longest wait for a platform's reply.")
    previews: Switch = Field(
        default=True,
        description="After two seconds, show an answer as it grows, in a message that the whole answer then replaces. A platform with its own way of showing growing text uses that way, whatever this says.",
    )

    @property
    def settle_first(self) -> timedelta:
        return timedelta(seconds=self.settle_first_seconds)

    @property
    def settle_second(self) -> timedelta:
        return timedelta(seconds=self.settle_second_seconds)

    @property
    def backoff_first(self) -> timedelta:
        return timedelta(seconds=self.backoff_first_seconds)

    @property
    def backoff_most(self) -> timedelta:
        return timedelta(seconds=self.backoff_most_seconds)

    @property
    def send_timeout(self) -> timedelta:
        return timedelta(seconds=self.send_timeout_seconds)


class Operators(Section):
    """The people who keep it running, and the room where they get news."""

    room: Annotated[str, AfterValidator(_room)] = Field(
        default="",
        description="Where to report that an account cannot work, and that it works again, such as "
        '"slack:work/C1". Empty: only in the log.',
    )
    after_seconds: Number = Field(
        default=60, gt=0, le=86_400, description="How long an account must be refused or deaf before that is reported."
    )

    @property
    def after(self) -> timedelta:
        return timedelta(seconds=self.after_seconds)


class Nodes(Section):
    """Processes that share one database."""

    lease_seconds: Number = Field(
        default=5, ge=0.2, le=300, description="A process that gives no sign for this long counts as dead."
    )
    shutdown_seconds: Number = Field(
        default=9.5,
        ge=1,
        le=3600,
        description="Longest time from a signal to stop to the end of the process. All but its last 3.5 seconds is for runs and messages to come to a good place.",
    )

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def shutdown(self) -> timedelta:
        return timedelta(seconds=self.shutdown_seconds)

    @property
    def drain(self) -> timedelta:
        """Time for runs and couriers within `shutdown`; of a short one its share."""
        usual = self.shutdown_seconds - CLOSING_SECONDS
        return timedelta(seconds=max(usual, self.shutdown_seconds * DRAIN_SHARE))

    @property
    def patience(self) -> timedelta:
        """Longest time for a write: half the lease, but 2 to 10 seconds, since a slower one would lose the lease."""
        return timedelta(seconds=min(max(self.lease_seconds / 2, 2), 10))


class Retention(Section):
    """Retention of each kind of thing, in days; 0 keeps them for good. Open work is never removed."""

    messages_days: Number = Field(
        default=365,
        ge=0,
        le=36500,
        description="What people wrote and what was shown to them; also the names of rooms where nothing was ever asked.",
    )
    transcripts_days: Number = Field(
        default=365,
        ge=0,
        le=36500,
        description="What the agent remembers of a conversation, counted from its last message.",
    )
    runs_days: Number = Field(
        default=90,
        ge=0,
        le=36500,
        description="Pieces of work with their steps, including the output of tools; also past runs of schedules, though each schedule keeps its last.",
    )
    approvals_days: Number = Field(
        default=365,
        ge=0,
        le=36500,
        description="Questions, and how they were answered and by whom; also accepted definitions of MCP tools that are no longer offered.",
    )
    usage_days: Number = Field(default=400, ge=0, le=36500, description="Tokens and cost of each model call.")
    audit_days: Number = Field(
        default=0, ge=0, le=36500, description="The audit. A signed checkpoint replaces what is removed."
    )
    nodes_days: Number = Field(default=30, ge=0, le=36500, description="Records of processes that are gone.")
    workspaces_days: Number = Field(
        default=0, ge=0, le=36500, description="Files of a conversation, counted from its last message."
    )
    tombstones_days: Number = Field(
        default=30,
        ge=7,
        le=36500,
        description="How much longer an event's key is kept, so that a repeat is recognised.",
    )


class Metrics(Section):
    """Numbers for Prometheus at `/metrics`."""

    enabled: Switch = Field(default=True, description="Count and show them.")
    port: Whole = Field(default=0, ge=0, le=65535, description="A separate port; 0 serves them on the web page's port.")
    host: Text = Field(default="127.0.0.1", description="Address to listen on, if they have a separate port.")
    token: Proof = Field(
        default=None,
        description="Token needed to read them: at least 16 characters. Without one they are only served on a port that only this machine can reach.",
    )
    token_env: str = Field(default="", description="Name of the variable that holds `token`.")


class Telemetry(Section):
    """Traces for an OpenTelemetry collector. They need an extra: `pip install "signalbox-bot[otel]"`."""

    endpoint: Annotated[str, AfterValidator(_collector)] = Field(
        default="",
        description='Where to send traces, as OTLP over HTTP, such as "http://127.0.0.1:4318"; empty: nowhere. '
        "Default: OTEL_EXPORTER_OTLP_ENDPOINT, if the extra is installed.",
    )
    token: Secret = Field(default=None, description='Sent to the collector as "Authorization: Bearer".')
    token_env: str = Field(default="", description="Name of the variable that holds `token`.")
    service_name: Text = Field(default="signalbox", description="Service name in the traces.")
    sample: Number = Field(default=1, gt=0, le=1, description="Share of messages to trace.")


class Log(Section):
    """The program's log, on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Lowest level to log.")
    format: Literal["auto", "human", "json"] = Field(
        default="auto", description='"auto": for people on a terminal, otherwise JSON.'
    )
