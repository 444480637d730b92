"""Files of `tools.d`: each is tried as a process would, and what is wrong with one is told."""

from __future__ import annotations

from collections.abc import Sequence

from bot.doctor.subject import Subject, fine, warning
from runtime.contract import Finding


async def check_plugins(subject: Subject) -> Sequence[Finding]:
    """Tools of files that can't be used."""
    from bot.plugins.packages import broken_tools
    from bot.wiring.tools.folder import checked

    found = []
    tools = subject.settings.tools
    where = "inside Signalbox: tools.trusted is true" if tools.trusted else "in a sandbox without network"
    for one in await checked(subject.settings):
        ident = f"tools.{one.file.name}"
        if one.fault:
            fix = f"mend {one.file.path}, then: signalbox tools check"
            found.append(warning(ident, one.fault, "The agent lacks its tools; everything else works.", fix))
        else:
            found.append(fine(ident, f"{', '.join(sorted(one.specs))}, {where}"))
    for name, why in broken_tools(tools.installed, tools.settings).items():
        fix = "mend or remove the package, or its name in tools.installed"
        found.append(warning(f"tools.{name}", why, "The agent lacks this tool; everything else works.", fix))
    return found
