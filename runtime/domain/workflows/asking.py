"""Reads what people write to start a workflow: its name and its inputs, as in `weekly-report since="7 days" loud=yes`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from difflib import get_close_matches

from runtime.contract import Json
from runtime.domain.workflows.definition import Workflow
from runtime.domain.workflows.reading import WorkflowError, inputs_of
from runtime.text.words import marked

Flows = Mapping[str, Workflow]
"""Workflows by name."""


def asked(text: str, flows: Flows) -> tuple[Workflow, dict[str, Json]]:
    """The workflow that is named, and its inputs. Errors: WorkflowError says what is wrong, and what there is."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise WorkflowError(marked('a quotation mark is missing. Write it as `NAME key="two words"`.')) from None
    if not words:
        raise WorkflowError(marked("name a workflow. There are: {flows}.").format(flows=_known(flows)))
    name, *given = words
    values = dict(_pair(one) for one in given)
    flow = found(name, flows)
    return flow, inputs_of(flow, values)


def _pair(text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if not mark or not key:
        raise WorkflowError(marked("{text} is no input. Write each as key=value.").format(text=repr(text[:60])))
    return key, value


def found(name: str, flows: Flows) -> Workflow:
    """Errors: WorkflowError names the nearest one, or lists those that there are."""
    if name in flows:
        return flows[name]
    near = get_close_matches(name, flows, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are: {_known(flows)}."
    raise WorkflowError(marked("there is no workflow {name}. {hint}").format(name=repr(name[:40]), hint=hint))


def _known(flows: Flows) -> str:
    return ", ".join(sorted(flows)) or "none yet"
