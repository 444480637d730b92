"""A heartbeat: a tool is asked at each beat, and its room hears of it only when the answer is another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.contract import DataCall, Json, Task, TaskKind

RESULT: Final = "result"
TEMPLATE: Final = """\
+++
about = "Calls a tool, and reports when its answer has changed or it starts to fail."
[options]
every_failure = false
+++
{% if data.result.failed %}
{% if changed("result") or options.every_failure %}
**{{ name }}** is failing: {{ data.result.error }}
{% endif %}
{% elif changed("result") %}
**{{ name }}**{{ " works again" if data.result.had_failed }}:
{%- if data.result.text | length < 200 and "\n" not in data.result.text %}
 {{ data.result.text }}
{% else %}
{{ data.result.text | block }}
{% endif %}
{% endif %}
"""
"""Blank where there is no news: its schedule is quiet, so that nobody is shown that."""


def heartbeat(tool: str, arguments: Mapping[str, Json], *, every_failure: bool = False) -> Task:
    """The task of a heartbeat; its schedule has to be quiet. `every_failure`: each beat that fails is news."""
    call = DataCall(RESULT, tool, dict(arguments))
    return Task(TaskKind.TEMPLATE, TEMPLATE, (call,), {"every_failure": every_failure})
