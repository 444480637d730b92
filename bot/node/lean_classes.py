"""Dataclasses that share the methods hardly anybody calls, instead of having each written for them: 4 MB in 700 classes.

The two that hold a frozen class would also keep alive what a class with slots was made from: a second class, for nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from reprlib import recursive_repr
from typing import Any

Decorator = Callable[..., Any]


def share_methods() -> None:
    """From now on `dataclasses.dataclass` makes such classes, for whoever imports it later."""
    if dataclasses.dataclass.__module__ == "dataclasses":
        dataclasses.dataclass = sharing(dataclasses.dataclass)


def sharing(dataclass: Decorator) -> Decorator:
    """Decorates classes as `dataclass` does; they behave the same."""

    def decorated(cls: type | None = None, /, *, repr: bool = True, frozen: bool = False, **named: Any) -> Any:
        def made_of(cls: type) -> Any:
            is_shown = repr and "__repr__" not in cls.__dict__
            made = dataclass(cls, repr=False, frozen=frozen, **named)
            made.__dataclass_params__.repr = repr
            if is_shown:
                made.__repr__ = shown
            if frozen:
                made.__setattr__, made.__delattr__ = _held(made)
            return made

        return made_of if cls is None else made_of(cls)

    return decorated


@recursive_repr()
def shown(self: Any) -> str:
    """`Class(field=value, ...)`, with the fields of the class that was given this."""
    cls = next(base for base in type(self).__mro__ if base.__dict__.get("__repr__") is shown)
    told = [f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(cls) if field.repr]
    return f"{type(self).__qualname__}({', '.join(told)})"


def _held(cls: Any) -> tuple[Callable[[Any, str, Any], None], Callable[[Any, str], None]]:
    """Both methods that refuse a change."""

    def set_held(self: Any, name: str, value: Any) -> None:
        _refuse(self, name, cls, "assign to")
        super(cls, self).__setattr__(name, value)

    def delete_held(self: Any, name: str) -> None:
        _refuse(self, name, cls, "delete")
        super(cls, self).__delattr__(name)

    return set_held, delete_held


def _refuse(self: object, name: str, cls: Any, what: str) -> None:
    """Of `cls` itself each attribute is held, of a class below it those that are its fields."""
    if type(self) is cls or name in [field.name for field in dataclasses.fields(cls)]:
        raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
