"""The sandbox of the shell tool: does it work here, and what does it bound."""

from __future__ import annotations

from collections.abc import Sequence

from bot.doctor.subject import Subject, fault, fine, warning
from bot.parts import shell_of
from runtime.contract import Finding
from tools.shell import sandbox_for

WHY = "The agent's shell commands must not reach your files or the network."


async def check_sandbox(subject: Subject) -> Sequence[Finding]:
    settings = shell_of(subject.settings)
    sandbox = sandbox_for(settings)
    trouble = await sandbox.self_test()
    if trouble is not None:
        make = fault if settings.required else warning
        return [make("sandbox.works", trouble, WHY, "follow the sentence, then look again: signalbox doctor")]
    bounds = (
        f"a process gets {settings.memory_mib} MiB of memory and {settings.cpu_seconds} s; a command "
        f"{settings.processes} processes and {settings.timeout_seconds:g} s. There is no bound for the sum"
    )
    if sandbox.caution:
        fix = 'set [tools.shell] sandbox = "auto" where there is no container around Signalbox'
        return [
            warning("sandbox.works", "external: the container is the boundary", WHY, fix),
            fine("sandbox.bounds", bounds),
        ]
    return [fine("sandbox.works", "shell commands run in bubblewrap, without network"), fine("sandbox.bounds", bounds)]
