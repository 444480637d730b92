"""The tool that runs shell commands, in whichever sandbox the settings ask for."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import CardContext, CardNote, CardPart, CardText, Effect, Flow, Json, Reads, Tool, ToolContext
from runtime.errors import ToolFailed
from tools.kit.declare import tool
from tools.kit.process import Ended
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.external import External
from tools.sandbox.sandbox import Sandbox, ShellSettings

__all__ = ["Sandbox", "ShellSettings", "sandbox_for", "shell_tool"]

BOUND: Final = 50_000  # characters
OUTPUT_MAX_CHARS: Final = BOUND - 500  # leaves room for the line about the end
# Past our own limit, so that what a command said until its time was up is told and not lost.
MARGIN: Final = timedelta(seconds=15)

LIMITS_BY_SIGNAL: Final[Mapping[int, str]] = {
    signal.SIGXCPU: "the limit of processor time",
    signal.SIGXFSZ: "the limit of file size",
    signal.SIGKILL: "killed, perhaps by a limit",
}


def sandbox_for(settings: ShellSettings) -> Sandbox:
    """The sandbox that the settings ask for, not tested yet. `external` is never chosen by itself."""
    return External(settings) if settings.sandbox == "external" else Bubblewrap(settings)


def shell_tool(sandbox: Sandbox, *, timeout: timedelta) -> Tool:
    """The tool `shell`. It exists also where `sandbox` cannot work; each call then says why."""

    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        network = "the network is open" if sandbox.has_network else "no network"
        return [CardText("command"), CardNote("in this room's workspace"), CardNote(network)]

    flow = Flow(Reads.FILES, "a command's output", writes="*")

    @tool(
        effect=Effect.DANGER,
        timeout=timeout + MARGIN,
        output_bound=BOUND,
        caution=sandbox.caution,
        card=card,
        flow=flow,
    )
    async def shell(
        command: Annotated[str, "Command line; there is no network."],
        context: ToolContext,
    ) -> str:
        """Run a shell command in the workspace; returns output and exit code."""
        check_text(command)
        return told(await sandbox.run(command, context.workspace, limit=OUTPUT_MAX_CHARS), timeout)

    return shell


def check_text(command: str) -> None:
    """Errors: ToolFailed for a command that no shell can be given."""
    try:
        if b"\0" not in command.encode():
            return
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can express and UTF-8 cannot
        pass
    raise ToolFailed("The command is not valid text: it has a NUL or half a surrogate pair in it.")


def told(ended: Ended, timeout: timedelta) -> str:
    """Words for the model. A command that fails is a result; one that was stopped is ToolFailed."""
    output = ended.text.rstrip("\n")
    if ended.timed_out:
        said = f"Until then it printed:\n{output}" if output else "It had printed nothing."
        raise ToolFailed(f"The command was stopped after {timeout.total_seconds():g} s. {said}")
    limit = LIMITS_BY_SIGNAL.get(ended.code - 128)
    code = f"exit code {ended.code}" + (f" ({limit})" if limit else "")
    return f"{output}\n[{code}]" if output else f"[no output, {code}]"
