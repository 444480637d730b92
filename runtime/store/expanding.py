"""A static look at migrations: outside of `contract` they only add, so that programs of the version before work on.

What they do is read, not run. A statement in SQL is searched for words; what hides from both is for the test of two versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Final

from runtime.store.schema import CONTRACTS
from runtime.store.window import VERSIONS

WINDOW_BEGINS: Final = "0051"
"""The newest revision from before the window: those up to it could take away."""
TAKES_AWAY: Final = frozenset(
    {"drop_table", "drop_column", "drop_constraint", "drop_index", "rename_table", "bulk_delete"}
)
BOUNDS_ROWS: Final = frozenset({"create_unique_constraint", "create_check_constraint", "create_foreign_key"})
HARMLESS_CHANGES: Final = frozenset(
    {"server_default", "existing_type", "existing_nullable", "existing_server_default", "comment", "existing_comment"}
)
SQL_TAKES_AWAY: Final = re.compile(
    r"\b(DROP|RENAME|TRUNCATE)\b|\bSET\s+NOT\s+NULL\b|\bALTER\s+COLUMN\b.*\bTYPE\b", re.I | re.S
)
CONTRACT_FIX: Final = (
    "put it into a function `contract` of the revision, and name the revision in CONTRACTS of runtime/store/schema.py"
)


def faults_of_revisions() -> list[str]:
    """Faults of all revisions of the window, and of the list of contracts."""
    told, contracts = [], []
    for file in sorted(VERSIONS.glob("[0-9]*.py")):
        revision = file.name.partition("_")[0]
        if revision > WINDOW_BEGINS:
            tree = ast.parse(file.read_text())
            told += [f"{file.name}:{line}: {what}. {CONTRACT_FIX}." for line, what in faults(tree)]
            contracts += [revision] if _has_contract(tree) else []
    if tuple(contracts) != CONTRACTS:
        told.append(
            f"CONTRACTS of runtime/store/schema.py is {CONTRACTS}; revisions with a contract are {tuple(contracts)}"
        )
    return told


def faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Acts of a revision outside of `contract` that an older program could not work with, each with its line."""
    made = {_word(call, 0) for call in _calls(tree) if _name(call) == "create_table"}
    for call in _calls(tree, but=("contract", "downgrade")):
        if what := _fault(call, made):
            yield call.lineno, what


def _has_contract(tree: ast.Module) -> bool:
    return any(isinstance(one, ast.FunctionDef) and one.name == "contract" for one in tree.body)


def _calls(tree: ast.Module, but: Collection[str] = ()) -> Iterator[ast.Call]:
    for part in tree.body:
        if not isinstance(part, ast.FunctionDef) or part.name not in but:
            yield from (node for node in ast.walk(part) if isinstance(node, ast.Call))


def _fault(call: ast.Call, made: set[str]) -> str:
    name = _name(call)
    match name:
        case _ if name in TAKES_AWAY:
            return f"{name} takes away what an older program may need"
        case "alter_column" if not _only_loosens(call):
            return "alter_column changes what an older program reads or writes"
        case _ if name in BOUNDS_ROWS and _word(call, 1) not in made:
            return f"{name} refuses rows that an older program may write"
        case "create_index" if _is(call, "unique", True) and _word(call, 1) not in made:
            return "a unique index refuses rows that an older program may write"
        case "add_column" if any(map(_is_demanded, _calls_in(call))):
            return "add_column without a server_default: an older program writes rows without it"
        case "execute" | "text" if any(SQL_TAKES_AWAY.search(words) for words in _texts(call)):
            return "the statement takes away what an older program may need"
    return ""


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _word(call: ast.Call, place: int) -> str:
    """The literal word at a place; what is none is nobody's name."""
    given = call.args[place] if len(call.args) > place else None
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""


def _is(call: ast.Call, name: str, value: bool) -> bool:
    return any(
        one.arg == name and isinstance(one.value, ast.Constant) and one.value.value is value for one in call.keywords
    )


def _only_loosens(call: ast.Call) -> bool:
    return all(
        one.arg in HARMLESS_CHANGES or (one.arg == "nullable" and _is(call, "nullable", True)) for one in call.keywords
    )


def _calls_in(call: ast.Call) -> Iterator[ast.Call]:
    return (node for part in call.args for node in ast.walk(part) if isinstance(node, ast.Call))


def _is_demanded(column: ast.Call) -> bool:
    """A column that no row may be without, or that must differ in each, and that the database can't fill in."""
    demands = _is(column, "nullable", False) or _is(column, "primary_key", True)
    return _is(column, "unique", True) or (demands and all(one.arg != "server_default" for one in column.keywords))


def _texts(call: ast.Call) -> Iterator[str]:
    for node in (inner for part in call.args for inner in ast.walk(part)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
