"""The tools every agent has."""

from __future__ import annotations

from runtime.contract import Tool
from tools.files import list_files, read_file, write_file
from tools.search import search_files
from tools.shell import Sandbox, ShellSettings, sandbox_for, shell_tool


def first_tools(shell: ShellSettings, *, sandbox: Sandbox | None = None) -> dict[str, Tool]:
    """The first tools by name. Give `sandbox` to share one whose `self_test` you call at the start."""
    commands = shell_tool(sandbox or sandbox_for(shell), timeout=shell.timeout)
    return {tool.spec.name: tool for tool in (list_files, read_file, write_file, search_files, commands)}
