"""Stand-ins: each stands for something in a module that was not executed yet, and loads it when it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Final, Protocol, Union

from runtime.models.lean.bodies import is_in_a_body, one_thread

UNSET: Final = object()
ASKED_OF_TYPES: Final = frozenset(
    {
        *("__origin__", "__parameters__", "__args__", "__metadata__", "__unpacked__", "__supertype__", "__value__"),
        *("__typing_subst__", "__typing_prepare_subst__", "__typing_unpacked_tuple_args__", "__type_params__"),
        *("__typing_is_unpacked_typevartuple__", "__get_validators__", "__pydantic_core_schema__"),
        *("__pydantic_serializer__", "__pydantic_validator__"),
    }
)
"""Questions of `typing` and pydantic to an annotation, which a stand-in answers as a plain class does."""


class Source(Protocol):
    """Gives the real things of a late module."""

    is_executed: bool
    owners: frozenset[str]

    def real(self, module: ModuleType, name: str) -> Any: ...


def is_late(value: object) -> bool:
    return type(value) is Late or type(value) is LateCall


def settled(value: Any) -> Any:
    """`value`; for a stand-in the thing that it stands for."""
    while is_late(value):
        value = value.late_value()
    return value


class Late:
    """Stands for something in a module that was not executed yet."""

    __slots__ = ("__weakref__", "_late_loader", "_late_module", "_late_name", "_late_thing")

    def __init__(self, loader: Source, module: ModuleType, name: str) -> None:
        self._late_loader = loader
        self._late_module = module
        self._late_name = name
        self._late_thing: Any = UNSET

    def late_value(self) -> Any:
        if self._late_thing is UNSET:
            self._late_thing = self._late_loader.real(self._late_module, self._late_name)
        return self._late_thing

    def late_is_there(self) -> bool:
        return self._late_loader.is_executed

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """An object of a class, made while a module is executed, is made later too."""
        if is_in_a_body() and self._late_name.lstrip("_")[:1].isupper():
            return LateCall(self, arguments, named)
        return self.late_value()(*map(settled, arguments), **{name: settled(value) for name, value in named.items()})

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.late_value(),)

    def __getattr__(self, name: str) -> Any:
        is_early = is_in_a_body() and not self.late_is_there()
        if name.startswith("__") and (is_early or name in ASKED_OF_TYPES):
            raise AttributeError(name)
        return getattr(self.late_value(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_late_"):
            object.__setattr__(self, name, value)
        else:
            setattr(self.late_value(), name, value)

    def __instancecheck__(self, thing: object) -> bool:
        return self.late_is_there() and isinstance(thing, self.late_value())

    def __subclasscheck__(self, kind: type) -> bool:
        return self.late_is_there() and issubclass(kind, self.late_value())

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007 - of values

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007

    def __getitem__(self, key: Any) -> Any:
        return self.late_value()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.late_value())

    def __len__(self) -> int:
        return len(self.late_value())

    def __contains__(self, thing: object) -> bool:
        return thing in self.late_value()

    def __bool__(self) -> bool:
        return bool(self.late_value())

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self.late_value())


class LateCall(Late):
    """Stands for the object that a class of a module makes which was not executed yet."""

    __slots__ = ("_late_arguments", "_late_class", "_late_named")

    def __init__(self, kind: Late, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        super().__init__(kind._late_loader, kind._late_module, "object")
        self._late_class = kind
        self._late_arguments = arguments
        self._late_named = named

    def late_value(self) -> Any:
        with one_thread(self._late_module.__name__):
            if self._late_thing is UNSET:
                named = {name: settled(value) for name, value in self._late_named.items()}
                self._late_thing = settled(self._late_class)(*map(settled, self._late_arguments), **named)
        return self._late_thing
