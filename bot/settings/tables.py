"""The tables of the settings file: each setting with its type, bounds, default and meaning."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from bot.settings.approvals import AskedAt, Hours
from runtime.contract import Address, Busy, Effect
from runtime.domain.routing import Attention
from runtime.policy.matchers import words_of
from runtime.policy.terms import Changes
from runtime.settings.types import (
    IdentityName,
    Number,
    Place,
    Proof,
    PublicUrl,
    Secret,
    Section,
    Switch,
    Text,
    TextFile,
    Whole,
    is_http_address,
)

DEMO: Final = "demo"
PROMPTS: Final = Path(__file__).parents[2] / "config" / "prompts"


def _later(value: object) -> object:
    if value:
        raise ValueError("nothing: this comes with a later release, take it out")
    return value


def _room(address: str) -> str:
    if address:
        Address.parse(address)
    return address


def _collector(url: str) -> str:
    if url and not is_http_address(url):
        raise ValueError('an address such as "http://127.0.0.1:4318"')
    return url


class Web(Section):
    """The web page, console, API and health checks."""

    host: Text = Field(default="127.0.0.1", description="Address to listen on. The default is this machine alone.")
    port: Whole = Field(
        default=8080, ge=0, le=65535, description="Port to listen on; 0 picks a free one and prints it."
    )
    token: Proof = Field(
        default=None,
        description="The owner's token in the link: at least 16 characters. Without one it is made, and printed once as "
        "a link.",
    )
    token_env: str = Field(default="", description="Name of the variable that holds `token`.")
    hosts: tuple[Text, ...] = Field(
        default=(), description='Further names under which browsers reach the page, such as "bot.example.org".'
    )
    public_url: PublicUrl = Field(
        default="",
        description='Where people reach the page, such as "https://bot.example.org": links that they get begin with it, '
        "and its name counts as one of `hosts`. Empty: where it listens.",
    )
    upload_mib: Number = Field(default=20, gt=0, le=2048, description="Largest file a person may upload, in MiB.")

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which browsers reach the page, beside those of this machine."""
        return (*self.hosts, urlsplit(self.public_url).netloc) if self.public_url else self.hosts


class Model(Section):
    """The language model."""

    name: Text = Field(
        default=DEMO,
        description='"demo" (built in, needs nothing) or any LiteLLM name: "openai/…", "anthropic/…", "ollama/…".',
    )
    api_base: str = Field(
        default="", description="Address of an OpenAI-compatible or local server; empty: the vendor's own."
    )
    api_key: Secret = Field(
        default=None,
        description="The vendor's key. Without one it is looked for under its usual name (OPENAI_API_KEY, …).",
    )
    api_key_env: str = Field(default="", description="Name of the variable that holds `api_key`.")
    stream: Switch = Field(default=True, description="Show the reply while the model writes it.")
    images: Literal["auto", "on", "off"] = Field(
        default="auto",
        description='Whether the model is shown images that people send: "auto" if it is known to look at them, "on" for '
        "a model that does and is in no list.",
    )
    context_tokens: Whole | None = Field(
        default=None,
        ge=1000,
        le=100_000_000,
        description="How much the model reads at once, in tokens. Without it LiteLLM's list is asked, and what is not in "
        "there counts as 128,000. Longer conversations are condensed.",
    )
    timeout_seconds: Number = Field(default=120, gt=0, le=3600, description="Longest wait for one reply of the model.")
    preload: Switch = Field(
        default=False, description="Load the model client at start: more memory, a faster first reply."
    )
    fallbacks: Annotated[tuple[object, ...], BeforeValidator(_later)] = Field(
        default=(), description="Reserved; empty."
    )

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)

    @property
    def is_demo(self) -> bool:
        return self.name == DEMO


class Access(Section):
    """People who may talk to the agent, and people who may approve."""

    default: Literal["pair", "deny", "allow"] = Field(
        default="pair",
        description='What an unknown person meets: "deny", "allow" (becomes a user), or "pair" (whoever writes to the '
        "agent alone is sent a code, with which an owner makes them known).",
    )
    owners: tuple[IdentityName, ...] = Field(
        default=(),
        description='Identities of owners, such as "telegram:1001" or "slack:T1/U1"; the name of an account may stand for its '
        'workspace: "slack:work/U1".',
    )
    approvers: tuple[IdentityName, ...] = Field(
        default=(),
        description='Identities of those who may approve, such as "slack:work/U1". Empty: operators and owners.',
    )
    self_approval: Switch = Field(default=True, description="Operators and owners may approve what they asked for.")
    rooms: Attention = Field(
        default=Attention.MENTION,
        description='What reaches the agent in a room of several people. "mention": what names it, and what follows in a '
        'thread that this made it part of; "thread": the same, in threads that last too, such as the topics of a forum; '
        '"strict": what names it, each time; "open": everything; "observe": what names it, and the rest is context for '
        'later; "off": nothing.',
    )
    blocked: tuple[Text, ...] = Field(
        default=(), description="Identities, or names of people, who are not answered anywhere."
    )
    bots: tuple[IdentityName, ...] = Field(
        default=(), description="Identities of other programs that may speak to the agent, as a user may."
    )
    bots_in_a_row: Whole = Field(
        default=5,
        ge=1,
        le=1000,
        description="Messages of such programs that are answered in one conversation without a person's in between.",
    )


class RoomTable(Section):
    """Rules for some rooms; the first table that fits decides. Anything left out is as everywhere."""

    address: Text = Field(
        description='Address of the room, or a glob such as "slack:work/*". One of a room holds in its threads too.'
    )
    attention: Attention | None = Field(default=None, description="In place of `access.rooms`.")
    people: tuple[Text, ...] = Field(
        default=(), description="Identities, or names of people, who alone are answered there. Empty: whoever is known."
    )
    blocked: tuple[Text, ...] = Field(default=(), description="Identities, or names of people, who are not.")
    busy: Busy | None = Field(default=None, description="In place of `sessions.busy`.")


def _command(command: str) -> str:
    words_of(command)
    return command


class Where(Section):
    """Conditions on one argument of a call."""

    commands: tuple[Annotated[str, AfterValidator(_command)], ...] = Field(
        min_length=1, description='Commands of a shell line by their first words, such as ["git status", "ls"].'
    )


class PolicyRule(Section):
    """One rule about tool calls; the first that matches wins. Texts are globs; what is left out matches anything."""

    tool: Text = Field(default="*", description="Name of the tool.")
    effect: Effect | None = Field(default=None, description='What the tool may do: "read", "write" or "danger".')
    agent: Text = Field(default="*", description="Name of the agent.")
    room: Text = Field(default="*", description="Address of the room.")
    person: Text = Field(
        default="*",
        description="Identity of the one who asked, or their name. In an allow a glob fits identities alone.",
    )
    arguments: dict[str, str] = Field(default={}, description="A glob for each argument that matters, by its name.")
    where: dict[str, Where] = Field(
        default={},
        description='For the argument of a shell, `{command = {commands = ["git status", "ls"]}}`: an allow matches if each '
        "command of the line begins with one of these, an ask or deny if any may.",
    )
    result: Literal["allow", "ask", "deny"] = Field(description="What happens with the call.")
    name: str = Field(default="", max_length=60, description="Name of the rule, which cards and denials quote.")
    to: tuple[AskedAt, ...] | None = Field(
        default=None, min_length=1, description='In place of `approvals.to`; `["room"]` keeps the call in its room.'
    )
    approvers: tuple[Text, ...] = Field(
        default=(),
        description='Who alone of those who may decide does: identities, names of people, or roles such as "owner".',
    )
    quorum: Whole = Field(default=1, ge=1, le=20, description="People who have to approve; one denial settles it.")
    four_eyes: Switch = Field(default=False, description="Never count the person who asked.")
    expires_hours: Hours | None = Field(default=None, description="In place of `approvals.expires_hours`.")
    remind_hours: tuple[Hours, ...] | None = Field(default=None, description="In place of `approvals.remind_hours`.")
    reason_required: Switch = Field(default=False, description="Take no denial without a reason.")
    edit: Switch = Field(default=True, description="An approver may change the call before it runs.")
    grants: Switch = Field(default=True, description="Let a yes hold for later calls too, where somebody says so.")

    @property
    def asking(self) -> Changes:
        """Terms of its questions, as far as they are not those of all."""
        remind, expires = self.remind_hours, self.expires_hours
        return Changes(
            to=self.to,
            approvers=self.approvers or None,
            quorum=self.quorum,
            four_eyes=self.four_eyes,
            reason_required=self.reason_required,
            editable=self.edit,
            expires=None if expires is None else timedelta(hours=expires),
            remind=None if remind is None else tuple(timedelta(hours=hours) for hours in remind),
            grants=None if self.grants else False,
        )


class Sessions(Section):
    """Conversations."""

    busy: Busy = Field(
        default=Busy.STEER,
        description='A message that comes while the agent works: "steer" joins the work, "followup" is answered on '
        'its own, "collect" shares the next answer with others that wait. Nobody joins the work of somebody who may do '
        "more, and what a program says joins no other's: it waits for its turn.",
    )
    freshness_hours: Number = Field(
        default=24,
        gt=0,
        le=8760,
        description="A message that comes later than this, after the bot was away, is not acted on; its sender is told.",
    )
    file_mib: Number = Field(
        default=20, gt=0, le=2_000, description="Largest file, in MiB, that is taken from a message on a chat platform."
    )
    message_files_mib: Number = Field(
        default=100, gt=0, le=20_000, description="Most, in MiB, that is taken of all files of one message together."
    )
    file_seconds: Number = Field(
        default=60,
        gt=0,
        le=3600,
        description="Longest wait for a file from a chat platform, before the model is asked.",
    )
    rest_hours: Number = Field(
        default=24, gt=0, le=8760, description="Silence in a conversation after which `restore` counts."
    )
    restore: Literal["transcript", "window", "summary", "none"] = Field(
        default="transcript",
        description='What the agent knows of a conversation from before such a rest: "transcript" all of it, "window" its '
        'last ten messages, "summary" a summary, "none" nothing. What it did and what waits it knows always.',
    )

    @property
    def freshness(self) -> timedelta:
        return timedelta(hours=self.freshness_hours)

    @property
    def rest(self) -> timedelta:
        return timedelta(hours=self.rest_hours)


class Guard(Section):
    """A model that repeats itself: the same call with the same arguments, in one piece of work."""

    warn: Whole = Field(default=3, ge=2, le=1000, description="From this repetition on the model is told so.")
    refuse: Whole = Field(default=5, ge=2, le=1000, description="From this one on the call isn't made.")
    outcome: Whole = Field(
        default=4, ge=2, le=1000, description="The same where each time the result was the same: it isn't made again."
    )
    breaker: Whole = Field(
        default=30,
        ge=1,
        le=10_000,
        description="After so many warned or refused calls the work ends, and the person is told.",
    )


class Run(Section):
    """One piece of agent work."""

    max_iterations: Whole = Field(default=25, ge=1, le=1000, description="Model calls in one piece of work.")
    max_crashes: Whole = Field(
        default=3,
        ge=2,
        le=1000,
        description="Sudden ends of the process under one piece of work, with no step of it recorded in between, after "
        "which it is set aside and the person is told.",
    )
    prompt_file: TextFile | None = Field(
        default=None, description="Text file with the system prompt, instead of our own."
    )
    approval_hours: Number | None = Field(
        default=None,
        gt=0,
        le=8760,
        description="Old name of `approvals.expires_hours`, read until the next minor version.",
    )
    guard: Guard = Guard()

    @property
    def prompt(self) -> str:
        """The system prompt."""
        return (self.prompt_file or PROMPTS / "main.md").read_text(encoding="utf-8").strip()


class ShellTool(Section):
    """The shell tool and its sandbox."""

    sandbox: Literal["auto", "bwrap", "external"] = Field(
        default="auto",
        description='"auto": in bubblewrap, or not at all; "bwrap": the same, and Signalbox does not start without it; '
        '"external": bare, since the container around Signalbox is the boundary.',
    )
    uid: Whole = Field(
        default=65534, ge=1, le=2**31 - 1, description="User as whom commands run when Signalbox runs as root."
    )
    memory_mib: Whole = Field(default=1024, ge=16, le=1 << 20, description="Memory of one process.")
    processes: Whole = Field(default=128, ge=1, le=100_000, description="Processes at once.")
    file_mib: Whole = Field(default=256, ge=1, le=1 << 20, description="Largest file a command may write.")
    cpu_seconds: Whole = Field(default=60, ge=1, le=86_400, description="Processor time of one process.")
    timeout_seconds: Number = Field(default=60, gt=0, le=86_400, description="Longest time one command may take.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


class Transcribe(Section):
    """Voice notes to words."""

    command: tuple[Text, ...] = Field(
        default=(),
        description='Program and arguments that print the words of a recording, such as ["whisper-cli", "-nt", "-f", '
        '"{file}"]; no shell reads them. `{file}` is the recording, which otherwise comes last. Empty: voice notes are '
        "kept as files, and not heard.",
    )
    timeout_seconds: Number = Field(default=120, gt=0, le=3600, description="Longest time one recording may take.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


class Tools(Section):
    """Tools of the agent, and what serves them."""

    shell: ShellTool = Field(default_factory=ShellTool, description="The shell tool.")
    transcribe: Transcribe = Field(default_factory=Transcribe, description="Voice notes to words.")
    installed: tuple[Text, ...] = Field(
        default=(),
        description='Tools that installed packages bring, such as ["count_lines"]: see [extend.md](extend.md). Only those '
        "named here are offered.",
    )


class Files(Section):
    """Room on the disk for what people send and what tools write."""

    room_mib: Whole = Field(
        default=2048,
        ge=1,
        le=1 << 30,
        description="Most that the files of one room may take. A command that goes beyond it is stopped; then nothing more "
        "is taken in or written until files are removed.",
    )
    person_mib: Whole = Field(
        default=4096,
        ge=1,
        le=1 << 30,
        description="Most that the files one person sends may take, in all rooms together: uploads on the page, and files "
        "from chat platforms.",
    )
    free_mib: Whole = Field(
        default=256,
        ge=0,
        le=1 << 30,
        description="Disk that stays free: with less, uploads and commands are refused everywhere. 0: no floor.",
    )


class Outbox(Section):
    """Delivery of messages."""

    unknown: Literal["repeat", "hold"] = Field(
        default="repeat",
        description='When nobody can tell whether a message was shown: "repeat" it with a mark, or "hold" it for a '
        "person.",
    )
    long_replies: Literal["parts", "file"] = Field(
        default="parts",
        description='A long answer on a chat platform: in as many messages as it takes ("parts"), or how it begins and a '
        'file with all of it ("file"). The web page shows all of it anyway.',
    )
    long_reply_characters: Whole = Field(
        default=12_000, ge=1_000, le=10_000_000, description="Characters above which an answer is long."
    )
    settle_first_seconds: Number = Field(
        default=10,
        gt=0,
        le=3600,
        description="How late a request that was cut may still arrive. So long after the first look for "
        "it comes the second, or on Telegram, where looking costs more, after the cut the first.",
    )
    settle_second_seconds: Number = Field(
        default=25, gt=0, le=3600, description="The second look on Telegram, counted from the cut too."
    )
    backoff_first_seconds: Number = Field(
        default=1, gt=0, le=3600, description="Wait before the first retry; it doubles."
    )
    backoff_most_seconds: Number = Field(default=60, gt=0, le=86_400, description="Longest wait between two retries.")
    send_timeout_seconds: Number = Field(default=30, gt=0, le=3600, description="Longest wait for a platform's answer.")
    previews: Switch = Field(
        default=True,
        description="After two seconds show an answer while it grows, as a message that the whole answer then replaces. "
        "Where a platform shows growing texts by other means, those are used whatever this says.",
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
    """People who keep it running, and the room where they are told."""

    room: Annotated[str, AfterValidator(_room)] = Field(
        default="",
        description='Where it is told that an account cannot work, and that it works again, such as "slack:work/C1"; '
        "empty: only in the log.",
    )
    after_seconds: Number = Field(
        default=60, gt=0, le=86_400, description="How long an account must be refused or deaf before that is told."
    )

    @property
    def after(self) -> timedelta:
        return timedelta(seconds=self.after_seconds)


class Nodes(Section):
    """Processes that share one database."""

    lease_seconds: Number = Field(
        default=5, ge=0.2, le=300, description="A process that gave no sign for so long is taken for dead."
    )

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def patience(self) -> timedelta:
        """The longest a write may take: 2 to 10 seconds, half the lease, since a slower one would lose the lease."""
        return timedelta(seconds=min(max(self.lease_seconds / 2, 2), 10))


class Retention(Section):
    """Time that things are kept, in days; 0 keeps them for good. Open work is never removed."""

    messages_days: Number = Field(
        default=365,
        ge=0,
        le=36500,
        description="What people wrote, and what was shown to them; and names of rooms where nothing was ever asked.",
    )
    transcripts_days: Number = Field(
        default=365, ge=0, le=36500, description="What the agent remembers of a conversation, from its last word on."
    )
    runs_days: Number = Field(
        default=90,
        ge=0,
        le=36500,
        description="Pieces of work with their steps, which hold the output of tools; and what became of the instants of "
        "schedules, of which each keeps its last.",
    )
    approvals_days: Number = Field(
        default=365,
        ge=0,
        le=36500,
        description="Questions, and who answered them how; and the accepted form of an MCP tool that nobody offers any more.",
    )
    usage_days: Number = Field(default=400, ge=0, le=36500, description="Tokens and money of each model call.")
    audit_days: Number = Field(
        default=0, ge=0, le=36500, description="The audit. What is removed is replaced by a signed checkpoint."
    )
    nodes_days: Number = Field(default=30, ge=0, le=36500, description="Processes that are gone.")
    workspaces_days: Number = Field(
        default=0, ge=0, le=36500, description="Files of a conversation, from its last word on."
    )
    tombstones_days: Number = Field(
        default=30,
        ge=7,
        le=36500,
        description="How much longer an event is known by its key, so that it is not taken in again.",
    )


class Metrics(Section):
    """Numbers for Prometheus at `/metrics`."""

    enabled: Switch = Field(default=True, description="Count and show them.")
    port: Whole = Field(
        default=0, ge=0, le=65535, description="A port of their own; 0 shows them on the port of the web page."
    )
    host: Text = Field(default="127.0.0.1", description="Address to listen on, where they have a port of their own.")
    token: Proof = Field(
        default=None,
        description="Whoever reads them must show it: at least 16 characters. Without one they are shown only where this machine alone can "
        "reach the port.",
    )
    token_env: str = Field(default="", description="Name of the variable that holds `token`.")


class Telemetry(Section):
    """Traces for an OpenTelemetry collector. They need the extra: `pip install "signalbox-bot[otel]"`."""

    endpoint: Annotated[str, AfterValidator(_collector)] = Field(
        default="",
        description='Where traces go, as OTLP over HTTP, such as "http://127.0.0.1:4318"; empty: nowhere. Without it '
        "OTEL_EXPORTER_OTLP_ENDPOINT counts, if the extra is installed.",
    )
    token: Secret = Field(default=None, description='Shown to the collector as "Authorization: Bearer".')
    token_env: str = Field(default="", description="Name of the variable that holds `token`.")
    service_name: Text = Field(default="signalbox", description="The name under which traces are found.")
    sample: Number = Field(default=1, gt=0, le=1, description="Share of the messages that are traced.")


class Secrets(Section):
    """Places for the secrets of `…_env` settings that no variable holds: a folder, then what `signalbox secrets` has sealed."""

    folder: Place | None = Field(
        default=None,
        description="Folder of plain files, each called as the variable it stands for, as container engines and systemd "
        "hand secrets over: /run/secrets.",
    )

    file: Place | None = Field(
        default=None,
        description="Sealed file to look into first. Named here, it must be readable. Without it: `secrets.sealed` in "
        "`data_dir`, then in the user's config folder.",
    )
    passphrase_file: Place | None = Field(
        default=None,
        description="File whose first line opens sealed files, for services; or set SIGNALBOX_SECRETS_PASSPHRASE.",
    )


class Log(Section):
    """The program's log, on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="The least that is told.")
    format: Literal["auto", "human", "json"] = Field(
        default="auto", description='"auto": for people on a terminal, else JSON.'
    )
