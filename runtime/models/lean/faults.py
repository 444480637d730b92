"""Errors behind a failed call that are those of a program, and not of a vendor: LiteLLM's lean form may be the reason."""

from __future__ import annotations

from collections.abc import Iterator
from traceback import walk_tb
from typing import Final

PROGRAM_ERRORS: Final = (ImportError, AttributeError, TypeError, NameError, RecursionError)
"""Kinds of errors where something is missing in a program, or is not what it looks like."""

LOADING: Final = ("runtime.models.lean.late", "runtime.models.lean.bodies", "runtime.models.lean.prices")
"""Modules that load what is late, and through which no call goes."""

THROUGH: Final = ("litellm", "openai", "pydantic", "runtime.models.lean")
"""Packages where a stand-in may be taken for the real thing."""


def fault_in(error: BaseException) -> BaseException | None:
    """The error of a program behind `error`, the first that happened; None where there is none."""
    return next((one for one in reversed([*chain(error)]) if is_fault(one)), None)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """`error`, and each one in whose handling or because of which the one before was raised."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def is_fault(error: BaseException) -> bool:
    """True if something could not be loaded late, or `error` is of one of `PROGRAM_ERRORS` and went through a library."""
    modules = [str(frame.f_globals.get("__name__", "")) for frame, _ in walk_tb(error.__traceback__)]
    if any(module in LOADING for module in modules):
        return True
    packages = tuple(f"{package}." for package in THROUGH)
    return is_of_a_program(error) and any(f"{module}.".startswith(packages) for module in modules)


def is_of_a_program(error: BaseException) -> bool:
    """True also for pydantic's error of a type that is not complete."""
    return isinstance(error, PROGRAM_ERRORS) or type(error).__name__ == "PydanticUserError"
