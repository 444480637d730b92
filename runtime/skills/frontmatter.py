"""The head of a SKILL.md, which is YAML of the plain kind: texts, lists and tables of texts, and nothing that stands for another.

The specification's own reader takes as little. Anchors, tags, flow style and repeated names are refused, so that no two
programs read one file in two ways, and none is made to build something large.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

HEAD_FENCE: Final = "---"
HEAD_MAX_CHARS: Final = 32_000
DEPTH_MAX: Final = 4


class NotASkill(ValueError):
    """A SKILL.md that can't be read, in words for people."""


def parsed(text: str) -> tuple[Mapping[str, object], str]:
    """The head and the body of a SKILL.md. Errors: NotASkill."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != HEAD_FENCE:
        raise NotASkill("SKILL.md must begin with a line ---, with its name and description below")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == HEAD_FENCE), 0)
    if not end:
        raise NotASkill("SKILL.md: its head isn't closed; put a line --- behind it")
    head = "\n".join(lines[1:end])
    if len(head) > HEAD_MAX_CHARS:
        raise NotASkill(f"SKILL.md: its head has {len(head):,} characters; at most {HEAD_MAX_CHARS:,}")
    if HEAD_FENCE in head:
        raise NotASkill("SKILL.md: its head holds ---, where other programs would end it")
    return _table(head), "\n".join(lines[end + 1 :])


def _table(head: str) -> Mapping[str, object]:
    import yaml

    try:
        _check(head)
        found = _value(yaml.compose(head, Loader=yaml.SafeLoader), 0)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 2}" if mark else ""
        raise NotASkill(f"SKILL.md: its head isn't YAML{place}: {getattr(error, 'problem', None) or error}") from None
    except RecursionError:
        raise NotASkill("SKILL.md: its head is nested too deep") from None
    if not isinstance(found, dict):
        raise NotASkill("SKILL.md: its head must be names and values, such as name: release-notes")
    return found


def _check(head: str) -> None:
    """Errors: NotASkill for YAML that stands for something else than it says."""
    import yaml

    for event in yaml.parse(head, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 2
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise NotASkill(f"SKILL.md line {line}: anchors and aliases aren't read")
        if getattr(event, "tag", None):
            raise NotASkill(f"SKILL.md line {line}: tags aren't read")
        if getattr(event, "flow_style", None) and isinstance(event, yaml.CollectionStartEvent):
            raise NotASkill(f"SKILL.md line {line}: write lists and tables over several lines, without brackets")


def _value(node: object, depth: int) -> object:
    """A node as texts, whatever YAML would take them for: `1.0` is a text, and so is `no`."""
    import yaml

    if depth > DEPTH_MAX:
        raise NotASkill("SKILL.md: its head is nested too deep")
    match node:
        case yaml.ScalarNode():
            return str(node.value)
        case yaml.SequenceNode():
            return [_value(one, depth + 1) for one in node.value]
        case yaml.MappingNode():
            names = [str(key.value) for key, _ in node.value]
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise NotASkill(f'SKILL.md: "{twice}" is given twice')
            return {str(key.value): _value(value, depth + 1) for key, value in node.value}
        case _:
            return ""
