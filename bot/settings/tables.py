"""The tables of the settings file: each setting with its type, bounds, default and meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from bot.settings.tools.browser import BrowserSection
from bot.settings.tools.builds import BuildsSection
from bot.settings.tools.processes import ProcessesSection
from bot.settings.tools.search import Search
from runtime.contract import Address, Busy
from runtime.domain.routing import Attention
from runtime.guard.findings import Detector, Strictness
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
from runtime.templating.prompts import PromptFault, prompt_of

PROMPTS: Final = Path(__file__).parents[2] / "config" / "prompts"


def _room(address: str) -> str:
    if address:
        Address.parse(address)
    return address


def _prompt(text: str, where: str = "") -> str:
    """The same. Errors: ValueError says what is wrong in it."""
    try:
        prompt_of(text)
    except PromptFault as fault:
        raise ValueError(f"a prompt that can be filled in; {where}{fault}") from None
    return text


def _prompt_file(path: Path) -> Path:
    _prompt(path.read_text(encoding="utf-8"), f"{path}, ")
    return path


def _host(name: str) -> str:
    if not SECRET_HOST.fullmatch(name):
        raise ValueError('a host, such as "api.example.com", or "*.example.com" for all below it')
    return name


SECRET_HOST: Final = re.compile(r"(\*\.)?[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+|localhost|127\.0\.0\.1")
"""A host to which a secret may be sent."""
SecretHost = Annotated[str, AfterValidator(_host)]
PromptFile = Annotated[TextFile, AfterValidator(_prompt_file)]
PromptText = Annotated[str, AfterValidator(_prompt)]


def _collector(url: str) -> str:
    if url and not is_http_address(url):
        raise ValueError('an address such as "http://127.0.0.1:4318"')
    return url


class Web(Section):
    """The web page, console, API and health checks."""

    host: Text = Field(
        default="127.0.0.1", description="Address to listen on. By default only this machine can connect."
    )
    port: Whole = Field(
        default=8080, ge=0, le=65535, description="Port to listen on; 0 picks a free one and prints it."
    )
    token: Proof = Field(
        default=None,
        description="The token in the owner's link: at least 16 characters. Without one, Signalbox makes one and prints the link once.",
    )
    token_env: str = Field(default="", description="Name of the variable that holds `token`.")
    hosts: tuple[Text, ...] = Field(
        default=(), description='More host names under which browsers reach the page, such as "bot.example.org".'
    )
    public_url: PublicUrl = Field(
        default="",
        description='Public address of the page, such as "https://bot.example.org". Links begin with it, and its '
        "name counts as one of `hosts`. Empty: the address it listens on.",
    )
    upload_mib: Number = Field(default=20, gt=0, le=2048, description="Largest file a person may upload, in MiB.")

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which browsers reach the page, beside those of this machine."""
        return (*self.hosts, urlsplit(self.public_url).netloc) if self.public_url else self.hosts


class Access(Section):
    """People who may talk to the agent, and people who may approve."""

    default: Literal["pair", "deny", "allow"] = Field(
        default="pair",
        description='What happens to strangers: "deny", "allow" (they become users), or "pair" (when they write '
        "to the agent in private, they get a code with which an owner lets them in).",
    )
    owners: tuple[IdentityName, ...] = Field(
        default=(),
        description='Identities of owners, such as "telegram:1001" or "slack:T1/U1"; the name of an account can '
        'stand for its workspace: "slack:work/U1".',
    )
    approvers: tuple[IdentityName, ...] = Field(
        default=(),
        description='Identities of the approvers, such as "slack:work/U1". Empty: operators and owners.',
    )
    self_approval: Switch = Field(default=True, description="Operators and owners may approve their own requests.")
    rooms: Attention = Field(
        default=Attention.MENTION,
        description='What reaches the agent in a room with several people. "mention": messages that mention it, '
        'and what follows in a thread it joined that way; "thread": the same, also in lasting '
        'threads such as forum topics; "strict": only messages that mention it; "open": everything; '
        '"observe": messages that mention it, with the rest as context for later; "off": nothing.',
    )
    blocked: tuple[Text, ...] = Field(default=(), description="Identities or names of people who are never answered.")
    bots: tuple[IdentityName, ...] = Field(
        default=(), description="Identities of other programs that may talk to the agent as users."
    )
    bots_in_a_row: Whole = Field(
        default=5,
        ge=1,
        le=1000,
        description="How many messages from such programs are answered in one conversation before a person has to write.",
    )


class RoomTable(Section):
    """Rules for particular rooms; the first table that matches decides. Settings left out are as everywhere else."""

    address: Text = Field(
        description='Address of the room, or a glob such as "slack:work/*". It covers threads of the room too.'
    )
    attention: Attention | None = Field(default=None, description="Instead of `access.rooms`.")
    people: tuple[Text, ...] = Field(
        default=(), description="Identities or names of the only people answered there. Empty: everybody known."
    )
    blocked: tuple[Text, ...] = Field(default=(), description="Identities or names of people not answered there.")
    busy: Busy | None = Field(default=None, description="Instead of `sessions.busy`.")
    prompt: PromptText = Field(
        default="", description="What the agent is told there beside its own prompt; it may name the same values."
    )
    prompt_file: PromptFile | None = Field(default=None, description="The same as a text file, in place of `prompt`.")

    tools: tuple[Text, ...] = Field(
        default=(),
        description="Globs of the only tools that agents have there. Each table that matches narrows. Empty: as everywhere else.",
    )
    secrets: Strictness | None = Field(default=None, description="Stricter than `guard.secrets` there.")
    personal: Strictness | None = Field(default=None, description="Stricter than `guard.personal` there.")

    @property
    def guarded(self) -> Mapping[Detector, Strictness]:
        """Strictness of the leak guard there, as far as the table says so."""
        given = {Detector.HELD: self.secrets, Detector.SHAPE: self.secrets, Detector.PERSONAL: self.personal}
        return {detector: strictness for detector, strictness in given.items() if strictness}

    @model_validator(mode="after")
    def _one_prompt(self) -> Self:
        if self.prompt and self.prompt_file:
            raise ValueError("has a prompt and a prompt_file; take one of them out")
        return self

    @property
    def prompt_key(self) -> str:
        """The text that is added to the agent's prompt, or the file that holds it."""
        return str(self.prompt_file) if self.prompt_file else self.prompt

    @property
    def added(self) -> str:
        """Words that are added to the agent's prompt."""
        return self.prompt_file.read_text(encoding="utf-8").strip() if self.prompt_file else self.prompt


class Sessions(Section):
    """Conversations."""

    busy: Busy = Field(
        default=Busy.STEER,
        description='A message that comes while the agent works: "steer" joins the work, "followup" is answered '
        'separately, "collect" shares the next answer with others that are waiting. Nobody can join '
        "the work of somebody who may do more, and a message from a program never joins work of "
        "others: it waits for its turn.",
    )
    freshness_hours: Number = Field(
        default=24,
        gt=0,
        le=8760,
        description="After an outage, messages older than this are not acted on; their senders are told.",
    )
    file_mib: Number = Field(
        default=20, gt=0, le=2_000, description="Largest file accepted from a chat platform, in MiB."
    )
    message_files_mib: Number = Field(
        default=100, gt=0, le=20_000, description="Most that all files of one message may take together, in MiB."
    )
    file_seconds: Number = Field(
        default=60,
        gt=0,
        le=3600,
        description="Longest wait for a file from a chat platform before the model is called.",
    )
    rest_hours: Number = Field(
        default=24, gt=0, le=8760, description="Hours of silence in a conversation after which `restore` applies."
    )
    restore: Literal["transcript", "window", "summary", "none"] = Field(
        default="transcript",
        description='What the agent still knows of a conversation after such a silence: "transcript": all of it; "window": the '
        'last ten messages; "summary": a summary; "none": nothing. It always knows what it did and what is waiting.',
    )

    @property
    def freshness(self) -> timedelta:
        return timedelta(hours=self.freshness_hours)

    @property
    def rest(self) -> timedelta:
        return timedelta(hours=self.rest_hours)


class Guard(Section):
    """Limits for a model that repeats the same call with the same arguments in one piece of work."""

    warn: Whole = Field(default=3, ge=2, le=1000, description="From this repetition on, the model is warned.")
    refuse: Whole = Field(default=5, ge=2, le=1000, description="From this repetition on, the call isn't made.")
    outcome: Whole = Field(
        default=4, ge=2, le=1000, description="The same, for calls that returned the same result each time."
    )
    breaker: Whole = Field(
        default=30,
        ge=1,
        le=10_000,
        description="After this many warned or refused calls the work ends, and the person is told.",
    )


class Run(Section):
    """One piece of agent work."""

    max_iterations: Whole = Field(default=25, ge=1, le=1000, description="Most model calls in one piece of work.")
    max_crashes: Whole = Field(
        default=3,
        ge=2,
        le=1000,
        description="After this many crashes during one piece of work, with no step recorded in between, it is set aside and the person is told.",
    )
    hand_overs: Whole = Field(
        default=4,
        ge=0,
        le=100,
        description="Times that agents hand a conversation on to each other before a person is asked: [hand-overs](delegation.md#hand-a-conversation-over).",
    )
    prompt_file: PromptFile | None = Field(
        default=None,
        description="Text file with the system prompt, to use instead of the built-in one. It may name values: "
        "[prompts](conversations.md#what-the-agent-is-told).",
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
        description='"auto": in bubblewrap, or not at all; "bwrap": the same, and Signalbox does not start '
        'without it; "external": without a sandbox, because the container around Signalbox is the '
        "boundary.",
    )
    uid: Whole = Field(
        default=65534, ge=1, le=2**31 - 1, description="User that commands run as when Signalbox runs as root."
    )
    memory_mib: Whole = Field(default=1024, ge=16, le=1 << 20, description="Memory one process may use, in MiB.")
    processes: Whole = Field(default=128, ge=1, le=100_000, description="Most processes at once.")
    file_mib: Whole = Field(default=256, ge=1, le=1 << 20, description="Largest file a command may write.")
    cpu_seconds: Whole = Field(default=60, ge=1, le=86_400, description="Processor time one process may use.")
    timeout_seconds: Number = Field(default=60, gt=0, le=86_400, description="Longest time one command may take.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


class Transcribe(Section):
    """Transcription of voice notes."""

    command: tuple[Text, ...] = Field(
        default=(),
        description='Program and arguments that print the words of a recording, such as ["whisper-cli", "-nt", '
        '"-f", "{file}"]; no shell is involved. `{file}` stands for the recording; without it, the '
        "recording comes last. Empty: voice notes are only kept as files.",
    )
    timeout_seconds: Number = Field(default=120, gt=0, le=3600, description="Longest time one recording may take.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


class Tools(Section):
    """Tools of the agent and their services."""

    shell: ShellTool = Field(default_factory=ShellTool, description="The shell tool.")
    transcribe: Transcribe = Field(default_factory=Transcribe, description="Transcription of voice notes.")
    processes: ProcessesSection = Field(
        default_factory=ProcessesSection, description="Programs that run on between calls."
    )
    builds: BuildsSection = Field(default_factory=BuildsSection, description="Testing and compiling projects.")
    search: Search = Field(default_factory=Search, description="Searching the web.")
    browser: BrowserSection = Field(default_factory=BrowserSection, description="A real browser.")
    installed: tuple[Text, ...] = Field(
        default=(),
        description='Tools from installed packages, such as ["count_lines"]: see [extend.md](extend.md). Only '
        "tools named here are offered.",
    )
    settings: dict[Text, dict[str, Any]] = Field(
        default={}, description="Settings of such tools, one table for each: `[tools.settings.count_lines]`."
    )
    folder: Place | None = Field(
        default=None,
        description="Folder with files of your own tools: see [plugins.md](plugins.md). Default: `tools.d` beside the settings file, "
        "if it's there at the start.",
    )
    folder_uid: Whole | None = Field(
        default=None,
        ge=0,
        description="User as whom those files run when Signalbox runs as root; 0: root. Default: `uid` of `[tools.shell]`.",
    )
    trusted: Switch = Field(
        default=False,
        description="true: the files of `folder` run inside Signalbox, with all that it may do. Default: each runs in a sandbox, "
        "without network.",
    )


class Files(Section):
    """Disk space for files that people send and tools write."""

    room_mib: Whole = Field(
        default=2048,
        ge=1,
        le=1 << 30,
        description="Most space for the files of one room. A command that exceeds it is stopped, and nothing more is accepted or written until files are removed.",
    )
    person_mib: Whole = Field(
        default=4096,
        ge=1,
        le=1 << 30,
        description="Most space for the files one person sends, in all rooms together: uploads on the page and files from chat platforms.",
    )
    free_mib: Whole = Field(
        default=256,
        ge=0,
        le=1 << 30,
        description="Disk space to keep free. With less, uploads and commands are refused everywhere. 0: no minimum.",
    )


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

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

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


class Secrets(Section):
    """Sources for the secrets of `…_env` settings that no variable holds: first a folder, then the secrets sealed with
    `signalbox secrets`."""

    folder: Place | None = Field(
        default=None,
        description="Folder of plain files, each named like the variable it stands for, as container engines and systemd provide secrets: /run/secrets.",
    )

    file: Place | None = Field(
        default=None,
        description="Sealed file to look in first. If named here, it must be readable. Default: `secrets.sealed` in `data_dir`, then in the user's config folder.",
    )
    passphrase_file: Place | None = Field(
        default=None,
        description="File whose first line opens sealed files, for services; or set SIGNALBOX_SECRETS_PASSPHRASE.",
    )
    hosts: dict[str, tuple[SecretHost, ...]] = Field(
        default={},
        description="Hosts to which calls may send a secret of a variable or of `folder`, by its name: "
        '`{GITHUB_TOKEN = ["api.github.com"]}`. Those of sealed secrets are set with `signalbox secrets set NAME --hosts`.',
    )
    shared_key: Proof = Field(
        default=None,
        description="Key with which nodes seal the sign-ins that they share: random text of 32 characters or more. Default: "
        "`guard.key` in `data_dir`, which then has to be the same on all nodes.",
    )
    shared_key_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `shared_key`."
    )


class Log(Section):
    """The program's log, on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Lowest level to log.")
    format: Literal["auto", "human", "json"] = Field(
        default="auto", description='"auto": for people on a terminal, otherwise JSON.'
    )
