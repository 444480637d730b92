"""The tool that runs a command in a container, of the images that the settings list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final

from runtime.contract import (
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Effect,
    Flow,
    Json,
    Reads,
    Space,
    Tool,
    ToolContext,
)
from runtime.errors import ToolRetry
from tools.containers.boxes import Containers, ImageSandbox
from tools.kit.declare import tool
from tools.sandbox.shell import BOUND, MARGIN, OUTPUT_MAX_CHARS, check_text, told
from tools.sandbox.spaced import SpacedSandbox

COMMAND_MAX_CHARS: Final = 100_000
"""Linux takes 131,072 bytes in one argument (MAX_ARG_STRLEN)."""
BOXED: Final = Flow(Reads.FILES, "a command's output", writes="*")


def container_tool(containers: Containers, space: Space) -> Tool:
    """The tool `container_exec`. It exists also where no container can be run; each call then says why."""
    images = containers.terms.images

    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        notes = ("mounts this room's workspace at /workspace, and nothing else", "no network")
        return [CardValue("image"), CardText("command"), *map(CardNote, notes)]

    @tool(
        effect=Effect.DANGER,
        timeout=containers.terms.timeout + 3 * MARGIN,
        output_bound=BOUND,
        card=card,
        seldom=True,
        flow=BOXED,
    )
    async def container_exec(
        image: Annotated[str, "One of the images."],
        command: Annotated[str, "Command line for its /bin/sh; there is no network."],
        context: ToolContext,
    ) -> str:
        """Run a shell command in a container, with the workspace as /workspace; returns output and exit code."""
        if image not in images:
            raise ToolRetry(f"There is no such image here. There are: {', '.join(images)}. Nothing was run.")
        check_text(command)
        if len(command.encode()) > COMMAND_MAX_CHARS:
            raise ToolRetry("The command is too long; write it to a file with write_file and run that.")
        sandbox = SpacedSandbox(ImageSandbox(containers, image), space)
        ended = await sandbox.run(command, context.workspace, limit=OUTPUT_MAX_CHARS)
        return told(ended, containers.terms.timeout)

    said = f"{container_exec.spec.description} Images: {', '.join(images)}."
    return replace(container_exec, spec=replace(container_exec.spec, description=said))
