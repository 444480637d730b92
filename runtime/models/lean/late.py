"""Modules that are imported but not executed until somebody uses something in them.

`from vendor import Client` gives the importer a stand-in; whoever calls it, looks into it or derives from it loads the
vendor's module, and the importer's name is then the real thing. So nothing is missing: it comes when it is needed. That
holds for the modules that `Finder` is told, and only where a module of `owners` imports from another at its top: a function
that imports something uses it, and it and all other importers get the real thing at once.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import FrameType, ModuleType
from typing import Any

from runtime.models.lean.bodies import a_body, one_thread
from runtime.models.lean.stand_in import Late, LateCall, is_late, settled

Adapt = Callable[[ModuleType], None]


class Holding(ModuleType):
    """A module that holds stand-ins, or does while it is executed: owners are given them, everybody else the real things."""

    def __getattribute__(self, name: str) -> Any:
        value = ModuleType.__getattribute__(self, name)
        kind = type(value)  # `is_late` in place: LiteLLM looks into itself two hundred times in a call
        if (kind is Late or kind is LateCall) and package_of(
            importer(sys._getframe(1))
        ) not in value._late_loader.owners:
            return settled(value)
        return value


class LateModule(Holding):
    """A module whose body was not executed yet."""

    def __getattr__(self, name: str) -> Any:
        state: LateLoader = self.__dict__["__late__"]
        if name == "__all__" and not state.is_running_here:
            return state.real(self, name)  # for an "import *", which takes everything
        if name.startswith("__") or state.is_running_here:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        asked = importer(sys._getframe(1))  # the one way to know whose name it becomes
        if not state.may_stand_in(name, asked):
            return state.real(self, name)
        return state.stand_in(self, name, asked.f_globals)


def package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def importer(frame: FrameType) -> FrameType:
    """The frame that imports, outside of the machinery of imports."""
    while frame.f_back and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame


class LateLoader(Loader):
    """Loads a module later: what is known of it until then, and afterwards."""

    def __init__(self, loader: SourceFileLoader, owners: frozenset[str]) -> None:
        """`owners`: packages whose modules are given stand-ins."""
        self._loader = loader
        self.owners = owners
        self._given: dict[str, Any] = {}
        self._importers: list[dict[str, Any]] = []
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
        """The text, for tracebacks."""
        return self._loader.get_source(name)

    def may_stand_in(self, name: str, asked: FrameType) -> bool:
        """True if `asked` is the body of an owner's module. "except" takes nothing but classes, and a constant is small."""
        is_small = name.endswith(("Error", "Exception")) or name.lstrip("_").isupper()
        return package_of(asked) in self.owners and asked.f_code.co_name == "<module>" and not is_small

    def stand_in(self, module: ModuleType, name: str, names: dict[str, Any]) -> Any:
        if not any(known is names for known in self._importers):
            self._importers.append(names)
            holder = sys.modules.get(names["__name__"])
            if type(holder) is ModuleType:
                holder.__class__ = Holding
        if name not in self._given:
            self._given[name] = Late(self, module, name)
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
            module.__class__ = Holding if any(map(is_late, vars(module).values())) else ModuleType
            self.is_executed = True
        finally:
            self._runner = 0
        self._put_right(module)

    def _put_right(self, module: ModuleType) -> None:
        """Give importers the real thing in place of what they hold."""
        for name, given in self._given.items():
            value = settled(getattr(module, name, given))
            for names in self._importers:
                for key in [key for key, held in list(names.items()) if held is given]:
                    names[key] = value


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
        self, is_late: Callable[[str], bool], *, owners: frozenset[str], adaptations: Mapping[str, Adapt]
    ) -> None:
        self._is_late = is_late
        self._owners = owners
        self._adaptations = adaptations

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_late, adapt = self._is_late(fullname), self._adaptations.get(fullname)
        if not is_late and adapt is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return spec
        if is_late:
            spec.loader = LateLoader(spec.loader, self._owners)
        elif adapt:
            spec.loader = Adapting(spec.loader, adapt)
        return spec
