"""The tools every agent has."""

from __future__ import annotations

from runtime.contract import Tool
from runtime.egress import Egress
from tools.asking import ASK_PERSON
from tools.charting.chart import chart_tool
from tools.charting.renderer import ChartRenderer
from tools.documents.reader import DocumentReader
from tools.documents.tool import document_tool
from tools.files.files import list_files, read_file, write_file
from tools.files.handing import send_file
from tools.files.search import search_files
from tools.finding import find_tools
from tools.sandbox.shell import Sandbox, ShellSettings, sandbox_for, shell_tool
from tools.web.fetch import http_tool


def first_tools(
    shell: ShellSettings,
    *,
    sandbox: Sandbox | None = None,
    egress: Egress | None = None,
    renderer: ChartRenderer | None = None,
) -> dict[str, Tool]:
    """The first tools by name. Give `sandbox` to share one whose `self_test` you call at the start; without `egress` there
    is none that reaches the web, and without `renderer` none that draws."""
    commands = shell_tool(sandbox or sandbox_for(shell), timeout=shell.timeout)
    web = [http_tool(egress)] if egress else []
    documents = document_tool(DocumentReader(), egress)
    drawing = [chart_tool(renderer)] if renderer else []
    files: tuple[Tool, ...] = (list_files, read_file, write_file, search_files, send_file)
    every: tuple[Tool, ...] = (*files, documents, commands, ASK_PERSON, find_tools, *web, *drawing)
    return {tool.spec.name: tool for tool in every}
