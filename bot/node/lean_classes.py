"""Dataclasses that share the methods hardly anybody calls, instead of having each written for them: 4 MB in 700 classes,
and a seventh of the time of a start. What makes an object is written for the first one, and what compares two with the first
comparison: of most classes a process makes none.

The two that hold a frozen class would also keep alive what a class with slots was made from: a second class, for nothing.
"""

from __future__ import annotations

import dataclasses
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType
from typing import Any, Final, Generic, Protocol, cast

Decorator = Callable[..., Any]

LIBRARY: Final[Decorator] = dataclasses.dataclass
UNMINDFUL: Final = (object, Generic, Protocol)
"""Classes that have their own word for subclasses, to which one more is nothing."""


def share_methods() -> None:
    """From now on `dataclasses.dataclass` makes such classes, for whoever imports it later."""
    if dataclasses.dataclass.__module__ == "dataclasses":
        dataclasses.dataclass = sharing(dataclasses.dataclass)


def sharing(dataclass: Decorator) -> Decorator:
    """Decorates classes as `dataclass` does; they behave the same."""

    def decorated(cls: type | None = None, /, **named: Any) -> Any:
        def made_of(cls: type) -> Any:
            wanted = _Wanted(cls, **named)
            if cls.__doc__ is None:
                cls.__doc__ = cls.__name__  # the library would write an object's making, for its signature alone
            left_out = {
                "init": wanted.init and not wanted.is_made_late,
                "repr": False,
                "eq": wanted.eq and not wanted.is_compared,
            }
            with _unwritten(wanted.is_held):
                made = dataclass(cls, **named | left_out)
            for name, method in wanted.methods(made):
                setattr(made, name, method)
            params = made.__dataclass_params__
            params.init, params.repr, params.eq = wanted.init, wanted.repr, wanted.eq
            return made

        return made_of if cls is None else made_of(cls)

    return decorated


class _Wanted:
    """The methods that a class is to have: read before it is made, since it has the library's behind that."""

    def __init__(
        self, cls: type, *, init: bool = True, repr: bool = True, eq: bool = True, frozen: bool = False, **named: Any
    ) -> None:
        has, its_hash = cls.__dict__, cls.__dict__.get("__hash__", cls)
        self.init, self.repr, self.eq, self.frozen = init, repr, eq, frozen
        self.is_made_late = init and "__init__" not in has and not _minds_subclasses(cls)
        self.is_held = frozen and not has.keys() & {"__setattr__", "__delattr__"}
        self.is_shown = repr and "__repr__" not in has
        # An order is made of what the library's comparison compares, and a hash that is asked for of its own.
        self.is_compared = eq and not named.get("order") and not named.get("unsafe_hash")
        self.has_own_eq = "__eq__" in has
        self.has_own_hash = its_hash is not cls and not (its_hash is None and self.has_own_eq)

    def methods(self, made: Any) -> Iterator[tuple[str, Any]]:
        if self.is_made_late:
            yield from (("__init__", _late_init(made)), ("__signature__", SIGNATURE))
        if self.is_shown:
            yield "__repr__", shown
        if self.frozen:
            yield from zip(("__setattr__", "__delattr__"), _held(made), strict=True)
        if self.is_compared and not self.has_own_eq:
            yield "__eq__", compared
        if self.is_compared and not self.has_own_hash:
            yield "__hash__", hashed if self.frozen else None


def _minds_subclasses(cls: type) -> bool:
    """True where one class more below `cls` would be noticed."""
    return any("__init_subclass__" in base.__dict__ for base in cls.__mro__ if base not in UNMINDFUL)


def _late_init(made: Any) -> Callable[..., None]:
    """Makes objects of `made`: with the first one it has the library's method written, which takes its place."""

    def init(self: Any, /, *given: Any, **named: Any) -> None:
        _write_init(made)(self, *given, **named)

    return init


LATE_INIT: Final = _late_init(object).__code__


def _write_init(made: Any) -> Callable[..., None]:
    """The library writes it for a class that has the fields of `made` and no others, which nobody keeps."""
    names = {"__module__": made.__module__, "__qualname__": made.__qualname__, "__doc__": made.__doc__}
    below = type(made)(made.__name__, (made,), names)
    with _unwritten(is_held=True):
        below = LIBRARY(
            below,
            repr=False,
            eq=False,
            match_args=False,
            frozen=made.__dataclass_params__.frozen,
            slots="__slots__" in made.__dict__,
        )
    made.__init__ = below.__init__
    return cast("Callable[..., None]", below.__init__)


def write_ahead(classes: Iterable[type]) -> None:
    """Have written what makes objects of these, before anybody waits for the first one. For any thread."""
    for cls in classes:
        if getattr(cls.__dict__.get("__init__"), "__code__", None) is LATE_INIT:
            _write_init(cls)


class _Signature:
    """Signature of a class, for whoever inspects it."""

    def __get__(self, one: object, cls: type) -> inspect.Signature:
        """Of the class alone: an object is not called. Errors: AttributeError."""
        if one is not None:
            raise AttributeError("__signature__")
        owner = next(base for base in cls.__mro__ if "__init__" in base.__dict__)
        init: Any = owner.__dict__["__init__"]
        signature = inspect.signature(_write_init(owner) if getattr(init, "__code__", None) is LATE_INIT else init)
        return signature.replace(parameters=[*signature.parameters.values()][1:])


SIGNATURE: Final = _Signature()


class _Making(threading.local):
    """A frozen class that this thread makes is given both methods that refuse a change afterwards (`is_held`)."""

    is_held = False


_making: Final = _Making()
_written: Final = getattr(dataclasses, "_frozen_get_del_attr", None)
"""Writes those two; a Python that has it no more writes them as ever."""


def _frozen_get_del_attr(*given: Any) -> Iterable[Any]:
    return () if _making.is_held or _written is None else _written(*given)


@contextmanager
def _unwritten(is_held: bool) -> Iterator[None]:
    """Within it the library doesn't write what it is given by `_held`."""
    if _written is not None:
        dataclasses._frozen_get_del_attr = _frozen_get_del_attr  # type: ignore[attr-defined]
    before, _making.is_held = _making.is_held, is_held
    try:
        yield
    finally:
        _making.is_held = before


def _values(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Gives an object's values under those names."""
    all_names = tuple(names)
    if len(all_names) > 1:
        return attrgetter(*all_names)
    return lambda self: tuple(getattr(self, name) for name in all_names)


def compared(self: Any, other: object) -> Any:
    """Equal with equal fields: what all classes share until their first comparison, which has it written for its class."""
    cls = _owner(self, "__eq__", compared, EQUAL)
    cls.__eq__ = equal = _equal(_values(one.name for one in dataclasses.fields(cls) if one.compare))
    return equal(self, other)


def hashed(self: Any) -> int:
    """The same for a hash."""
    cls = _owner(self, "__hash__", hashed, HASHED)
    counting = [one.name for one in dataclasses.fields(cls) if (one.compare if one.hash is None else one.hash)]
    cls.__hash__ = made = _hash(_values(counting))
    return made(self)


def _equal(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], Any]:
    def equal(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return equal


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


EQUAL: Final = _equal(_values(())).__code__
HASHED: Final = _hash(_values(())).__code__


def _owner(one: object, name: str, shared: Any, written: CodeType) -> Any:
    """The class that has the method of that name from here: also where another thread has just written it."""
    ours = shared.__code__, written
    return next(base for base in type(one).__mro__ if getattr(base.__dict__.get(name), "__code__", None) in ours)


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
