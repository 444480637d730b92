"""Places of LiteLLM that Signalbox patches, as the source of the installed release has them: nothing of it is imported."""

from __future__ import annotations

import ast
import inspect
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from runtime.models import litellm_loading

SITE: Final = Path(sysconfig.get_path("purelib"))

FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    "litellm.litellm_core_utils.get_model_cost_map": {
        "git_blob_id": "(body: bytes) -> str",
        "GetModelCostMap.read_local_model_cost_map_bytes": "@staticmethod () -> bytes",
        "GetModelCostMap.load_local_model_cost_map": "@staticmethod () -> dict",
        "GetModelCostMap.load_local_model_cost_map_with_revision": "@staticmethod () -> 'ModelCostMapReloaded'",
        "GetModelCostMap._snapshot_loaded_catalog": "@classmethod (cls, model_cost: Mapping[str, object]) -> None",
        "GetModelCostMap._loaded_catalog": "Mapping[str, Mapping[str, object]]",
        "ModelCostMapReloaded.model_cost_map": "dict",
        "ModelCostMapReloaded.revision": "str | None",
    },
    "litellm.utils": {
        "json_data": "a value",
        "claude_json_str": "a value",
        "__getattr__": "(name: str) -> Any",
        "update_response_metadata": "an import",
    },
    "litellm.main": {"_encoding_cache": "Tokenizer | None", "_load_default_encoding": "() -> Tokenizer"},
    "litellm._internal_context": {"is_internal_call": "Final[ContextVar[bool]]"},
    "litellm.llms.openai.chat.gpt_transformation": {"drop_non_python_regex_patterns": "an import"},
}
"""By module: names that `runtime.models` replaces or goes by, each in the form that it was tried with."""

FILES: Final = (
    "litellm/model_prices_and_context_window_backup.json",
    "litellm/litellm_core_utils/tokenizers/anthropic_tokenizer.json",
)
"""Read from the disk in place of what LiteLLM would parse as a whole."""


def source(module: str) -> Path | None:
    """File of a module of the installed packages."""
    place = SITE.joinpath(*module.split("."))
    return next((one for one in (place / "__init__.py", place.with_suffix(".py")) if one.is_file()), None)


def is_there(module: str) -> bool:
    """True also for a package without a file of its own."""
    return source(module) is not None or any(SITE.joinpath(*module.split(".")).glob("*.py"))


@cache
def forms(module: str) -> Mapping[str, str]:
    """Names of a module and of the classes in it, with their forms; empty for a module that is not there."""
    place = source(module)
    return dict(_named(ast.parse(place.read_text(encoding="utf-8")).body)) if place else {}


def _named(body: list[ast.stmt], inside: str = "") -> Iterator[tuple[str, str]]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield inside + node.name, _signature(node)
            case ast.ClassDef():
                yield inside + node.name, "a class"
                yield from _named(node.body, f"{inside}{node.name}.")
            case ast.AnnAssign(target=ast.Name(name)):
                yield inside + name, ast.unparse(node.annotation)
            case ast.Assign():
                yield from ((inside + one.id, "a value") for one in node.targets if isinstance(one, ast.Name))
            case ast.Import() | ast.ImportFrom():
                yield from ((inside + (one.asname or one.name), "an import") for one in node.names)
            case ast.If() | ast.Try() | ast.With():
                yield from _named([one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)], inside)
            case _:
                pass


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    decorators = "".join(f"@{ast.unparse(one)} " for one in node.decorator_list)
    return f"{decorators}({ast.unparse(node.args)}){returned}"


def settings() -> tuple[tuple[str, str], ...]:
    """Module and name of each thing that `set_up` sets in LiteLLM, from its source."""
    (function,) = ast.parse(inspect.getsource(litellm_loading.set_up)).body
    assert isinstance(function, ast.FunctionDef)
    known = {"litellm": "litellm"}
    for node in ast.walk(function):
        if isinstance(node, ast.ImportFrom):
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    targets = [one for node in function.body if isinstance(node, ast.Assign) for one in node.targets]
    return tuple(_place(ast.unparse(target), known) for target in targets if isinstance(target, ast.Attribute))


def _place(target: str, known: Mapping[str, str]) -> tuple[str, str]:
    first, _, rest = target.partition(".")
    parts = f"{known[first]}.{rest}".split(".")
    end = next(end for end in range(len(parts) - 1, 0, -1) if source(".".join(parts[:end])))
    return ".".join(parts[:end]), ".".join(parts[end:])
