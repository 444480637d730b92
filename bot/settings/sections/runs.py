"""Tables of runs: the loop guard, their bounds, built-in tools, and files."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from bot.settings.agents.executors import CannedFile
from bot.settings.sections.prompts import PROMPTS, PromptFile
from bot.settings.tools.browser import BrowserSection
from bot.settings.tools.builds import BuildsSection
from bot.settings.tools.containers import ContainersSection
from bot.settings.tools.processes import ProcessesSection
from bot.settings.tools.search import Search
from bot.settings.tools.wasm import WasmSection
from runtime.settings.types import Number, Place, Section, Switch, Text, Whole


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
    containers: ContainersSection = Field(
        default_factory=ContainersSection, description="Commands in containers of docker or podman."
    )
    wasm: WasmSection = Field(default_factory=WasmSection, description="WebAssembly modules.")
    of_programs: tuple[Text, ...] = Field(
        default=(),
        description='Tools that [programs of your own](sdk.md#tools) bring, such as ["soil"]: workflows may name them. A program '
        "that opens an agent adds its own.",
    )
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
    mock: CannedFile | None = Field(
        default=None,
        description="File of canned results: tools give these and do nothing, to try a policy or a workflow. See [executors.md](executors.md#canned-results).",
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
    lent: tuple[Place, ...] = Field(
        default=(),
        description="Folders below which `signalbox ask --workspace` may work. Default: the home folder of the user that runs Signalbox. Never in hidden folders, nor where Signalbox keeps its own.",
    )
    free_mib: Whole = Field(
        default=256,
        ge=0,
        le=1 << 30,
        description="Disk space to keep free. With less, uploads and commands are refused everywhere. 0: no minimum.",
    )

    @property
    def lendable(self) -> tuple[Path, ...]:
        """Folders below which conversations may work in a folder of somebody's own."""
        if self.lent:
            return self.lent
        try:
            return (Path.home(),)
        except RuntimeError:  # this user has none
            return ()
