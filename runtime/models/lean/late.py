"""Modules that are imported but not executed until somebody uses something in them.

`from vendor import Client` gives the importer a stand-in; whoever calls it, looks into it or derives from it loads the
vendor's module, and the importer's name is then the real thing. So nothing is missing: it comes when it is needed. That
holds for the modules that `Finder` is told, and only where one module imports from another: a function that imports
something uses it, and gets the real one.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType
from typing import Any, Final, Union

Adapt = Callable[[ModuleType], None]

LOCK: Final = threading.RLock()
BODIES: Final = threading.local()
"""How many bodies of modules this thread is executing, one inside of the other: `depth`."""

LONGEST_WAIT: Final = 20.0
"""Seconds for another thread to execute a module, which takes it some milliseconds."""

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


class LateModule(ModuleType):
    """A module whose body was not executed yet."""

    def __getattr__(self, name: str) -> Any:
        state: LateLoader = self.__dict__["__late__"]
        if name == "__all__" and state.is_whole and not state.is_running_here:
            return state.real(self, name)
        if name.startswith("__") or state.is_running_here:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        asked = importer(sys._getframe(1))  # noqa: SLF001 - the one way to know whose name it becomes
        if asked.f_code.co_name != "<module>" or name.lstrip("_").isupper():
            return state.real(self, name)
        return state.stand_in(self, name, asked.f_globals)


def importer(frame: FrameType) -> FrameType:
    """The frame that imports, outside of the machinery of imports."""
    while frame.f_back and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame


class LateLoader(Loader):
    """Loads a module later: what is known of it until then, and afterwards."""

    def __init__(self, loader: Loader, *, is_whole: bool, adapt: Adapt | None) -> None:
        """`is_whole`: an `import *` executes it."""
        self._loader = loader
        self._adapt = adapt
        self._given: dict[str, Any] = {}
        self._importers: list[dict[str, Any]] = []
        self.is_whole: Final = is_whole
        self.is_executed = False
        self._runner = 0

    @property
    def is_running_here(self) -> bool:
        return self._runner == threading.get_ident()

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = LateModule(spec.name)
        module.__dict__["__late__"] = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it is executed when it is used."""

    def get_source(self, name: str) -> str | None:
        return self._loader.get_source(name)  # type: ignore[attr-defined,no-any-return] - for tracebacks

    def stand_in(self, module: ModuleType, name: str, names: dict[str, Any]) -> Any:
        if not any(known is names for known in self._importers):
            self._importers.append(names)
        if name not in self._given:
            # No error of a module that was never executed is ever raised, and "except" takes nothing but classes.
            is_error = name.endswith(("Error", "Exception"))
            self._given[name] = type(name, (BaseException,), {}) if is_error else Late(self, module, name)
        return self._given[name]

    def real(self, module: ModuleType, name: str) -> Any:
        """The thing itself. Errors: AttributeError; whatever its module raises."""
        self.executed(module)
        try:
            return settled(module.__dict__[name] if self.is_running_here else getattr(module, name))
        except (KeyError, AttributeError) as error:
            if name.startswith("__") or not hasattr(module, "__path__"):
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}") from error
            return importlib.import_module(f"{module.__name__}.{name}")

    def executed(self, module: ModuleType) -> ModuleType:
        if not self.is_executed and not self.is_running_here:
            with one_thread(module.__name__):
                if not self.is_executed:
                    self._execute(module)
        return module

    def _execute(self, module: ModuleType) -> None:
        self._runner = threading.get_ident()
        try:
            with a_body():
                self._loader.exec_module(module)
                if self._adapt:
                    self._adapt(module)
            module.__class__ = ModuleType
            self.is_executed = True
        finally:
            self._runner = 0
        self._put_right(module)

    def _put_right(self, module: ModuleType) -> None:
        """What importers hold is the real thing from now on."""
        for name, given in self._given.items():
            value = settled(getattr(module, name, given))
            for names in self._importers:
                for key in [key for key, held in list(names.items()) if held is given]:
                    names[key] = value


@contextmanager
def one_thread(name: str) -> Iterator[None]:
    """One thread at a time executes late modules. Errors: ImportError where another one is at it for too long.

    The bound is for two that wait for each other, one for this lock and one for that of an import in progress.
    """
    if not LOCK.acquire(timeout=LONGEST_WAIT):
        raise ImportError(f"{name} cannot be loaded: another thread has been loading for {LONGEST_WAIT} s", name=name)
    try:
        yield
    finally:
        LOCK.release()


@contextmanager
def a_body() -> Iterator[None]:
    """The body of a module is executed in here. Types are completed by whoever uses them first."""
    from pydantic import BaseModel

    before = getattr(BODIES, "depth", 0)
    BODIES.depth = before + 1
    deferred = BaseModel.model_config.get("defer_build", False)
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        BODIES.depth = before
        BaseModel.model_config["defer_build"] = deferred


def settled(value: Any) -> Any:
    """`value`; for a stand-in the thing that it stands for."""
    while type(value) is Late or type(value) is LateCall:
        value = value.late_value()
    return value


class Late:
    """Stands for something in a module that was not executed yet."""

    __slots__ = ("__weakref__", "_late_loader", "_late_module", "_late_name", "_late_thing")

    def __init__(self, loader: LateLoader, module: ModuleType, name: str) -> None:
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
        if getattr(BODIES, "depth", 0) and self._late_name.lstrip("_")[:1].isupper():
            return LateCall(self, arguments, named)
        return self.late_value()(*map(settled, arguments), **{name: settled(value) for name, value in named.items()})

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.late_value(),)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and (getattr(BODIES, "depth", 0) or name in ASKED_OF_TYPES):
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
        super().__init__(kind._late_loader, kind._late_module, "object")  # noqa: SLF001 - of the same thing
        self._late_class = kind
        self._late_arguments = arguments
        self._late_named = named

    def late_value(self) -> Any:
        with one_thread(self._late_module.__name__):
            if self._late_thing is UNSET:
                named = {name: settled(value) for name, value in self._late_named.items()}
                self._late_thing = settled(self._late_class)(*map(settled, self._late_arguments), **named)
        return self._late_thing


class Adapting(Loader):
    """Loads a module at once, and then has something done to it."""

    def __init__(self, loader: Loader, adapt: Adapt) -> None:
        self._loader = loader
        self._adapt = adapt

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._adapt(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class Finder(MetaPathFinder):
    """Finds modules that are late, and those that something is done to."""

    def __init__(
        self, is_late: Callable[[str], bool], *, hollow: frozenset[str], adaptations: Mapping[str, Adapt]
    ) -> None:
        """`hollow`: late modules of which an `import *` takes nothing."""
        self._is_late = is_late
        self._hollow = hollow
        self._adaptations = adaptations

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_late, adapt = self._is_late(fullname), self._adaptations.get(fullname)
        if not is_late and adapt is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None or not (spec.origin or "").endswith(".py"):
            return spec
        if is_late:
            spec.loader = LateLoader(spec.loader, is_whole=fullname not in self._hollow, adapt=adapt)
        elif adapt:
            spec.loader = Adapting(spec.loader, adapt)
        return spec
