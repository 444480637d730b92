"""Dataclasses with shared methods, beside the library's."""

# mypy: disable-error-code="attr-defined, call-arg, type-var, union-attr"
# it knows dataclasses by the name of their decorator alone

from __future__ import annotations

import dataclasses
import gc
import inspect
import pickle
import weakref
from dataclasses import FrozenInstanceError, InitVar, field
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from bot.node.lean_classes import sharing

T = TypeVar("T")
ours: Any = sharing(dataclasses.dataclass)
BOTH = pytest.mark.parametrize("record", [dataclasses.dataclass, ours], ids=["library", "ours"])


@ours(frozen=True, slots=True)
class Place:
    """At the top of a module, so that it can be pickled."""

    room: str
    seats: int = 2


@BOTH
def test_a_class_is_shown_with_its_fields(record: Any) -> None:
    @record
    class Base:
        name: str
        secret: str = field(default="x", repr=False)
        inner: object = None

    @record(repr=False)
    class Below(Base):
        more: int = 1

    class Plain(Base): ...

    @record(repr=False)
    class Bare:
        name: str

    @record
    class Named:
        name: str

        def __repr__(self) -> str:
            return f"<{self.name}>"

    ring = Base("a")
    ring.inner = ring
    here = test_a_class_is_shown_with_its_fields.__name__ + ".<locals>."
    told = [repr(one).replace(here, "") for one in (ring, Base("b", inner=[1]), Below("c"), Plain("d"), Named("e"))]
    assert told == [
        "Base(name='a', inner=...)",
        "Base(name='b', inner=[1])",
        "Below(name='c', inner=None)",
        "Plain(name='d', inner=None)",
        "<e>",
    ]
    assert repr(Bare("f")).startswith("<")
    assert [cls.__dataclass_params__.repr for cls in (Base, Below, Bare)] == [True, False, False]


@BOTH
@pytest.mark.parametrize("slots", [False, True])
def test_a_frozen_class_refuses_each_change(record: Any, slots: bool) -> None:
    @record(frozen=True, slots=slots)
    class Point:
        x: int
        y: int = 0

    @record(frozen=True, slots=slots)
    class Deep(Point):
        z: int = 0

    class Plain(Point): ...

    for one in (Point(1), Deep(1), Plain(1)):
        with pytest.raises(FrozenInstanceError, match=r"^cannot assign to field 'x'$"):
            one.x = 2
        with pytest.raises(FrozenInstanceError, match=r"^cannot delete field 'y'$"):
            del one.y
    assert {Point(1), Point(1), Deep(1, z=2)} == {Point(1), Deep(1, z=2)}
    assert dataclasses.replace(Deep(1), z=3) == Deep(1, 0, 3)


@BOTH
@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_objects_are_equal_by_the_fields_that_count(record: Any, slots: bool, frozen: bool) -> None:
    decorated = record(frozen=frozen, slots=slots)

    @decorated
    class Line:
        text: str
        at: int = field(default=0, compare=False)
        size: float = field(default=1.0, hash=False)

    @decorated
    class Empty: ...

    @decorated
    class One:
        value: object

    @decorated
    class Deep(One): ...

    not_a_number = float("nan")
    assert Line("a", at=1) == Line("a", at=2) != Line("a", size=2)
    assert Empty() == Empty()
    assert One(not_a_number) == One(not_a_number)  # as tuples of the very same value are
    assert One(1) != Deep(1)
    assert One(1).__eq__(1) is NotImplemented
    assert (hash(Line("a")) == hash(Line("a", size=2))) if frozen else Line.__hash__ is None
    assert Line.__dataclass_params__.eq


@BOTH
@pytest.mark.parametrize("frozen", [False, True])
def test_own_ways_to_compare_and_to_hash_are_kept(record: Any, frozen: bool) -> None:
    @record(frozen=frozen)
    class Alike:
        name: str

        def __eq__(self, other: object) -> bool:
            return True

    @record(frozen=frozen)
    class Numbered:
        name: str

        def __hash__(self) -> int:
            return 7

    @record(frozen=frozen, eq=False)
    class Itself:
        name: str

    @record(frozen=frozen, unsafe_hash=True)
    class Hashed:
        name: str

    @record(frozen=frozen, order=True)
    class Ordered:
        name: str

    assert Alike("a") == Alike("b")
    assert (Alike.__hash__ is None) is not frozen
    assert hash(Numbered("a")) == 7
    assert Numbered("a") == Numbered("a") != Numbered("b")
    assert Itself("a") != Itself("a")
    assert {Hashed("a"), Hashed("a")} == {Hashed("a")}
    assert Ordered("a") < Ordered("b") != Ordered("a")  # type: ignore[operator]


@pytest.mark.parametrize("slots", [False, True])
def test_a_plain_class_below_a_frozen_one_may_keep_more(slots: bool) -> None:
    """With slots, the library's method fails there: it knows the class that the one with slots was made from."""

    @ours(frozen=True, slots=slots)
    class Point:
        x: int

    class Plain(Point): ...

    plain = Plain(1)
    plain.more = 2
    assert vars(plain)["more"] == 2
    del plain.more
    with pytest.raises(FrozenInstanceError, match=r"^cannot assign to field 'more'$"):
        Point(1).more = 2


def test_a_class_that_brings_its_own_way_to_be_set_is_no_frozen_one() -> None:
    with pytest.raises(TypeError, match="Cannot overwrite attribute __setattr__"):

        @ours(frozen=True)
        class Own:
            def __setattr__(self, name: str, value: object) -> None: ...


def test_the_class_that_one_with_slots_was_made_from_is_gone() -> None:
    made = []

    def noted(cls: type) -> type:
        made.append(weakref.ref(cls))
        return cls

    @ours(frozen=True, slots=True)
    @noted
    class Point:
        x: int

    gc.collect()
    assert [one() for one in made] == [None]
    assert Point(1) == Point(1)


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Place("hall", 3))) == Place("hall", 3)


@BOTH
@pytest.mark.parametrize("slots", [False, True])
def test_an_object_is_made_of_its_fields_from_the_first_on(record: Any, slots: bool) -> None:
    @record(slots=slots)
    class Base:
        name: str
        kind: ClassVar[str] = "base"
        self: InitVar[int] = 1  # type: ignore[assignment]  # its default
        seen: list[int] = field(default_factory=list)

        def __post_init__(self, start: int) -> None:
            self.seen.append(start)

    @record(slots=slots, kw_only=True)
    class Deep(Base):
        depth: int
        fixed: int = field(default=7, init=False)

    class Plain(Deep): ...

    @record(init=False)
    class Own:
        name: str = "own"

    assert [str(inspect.signature(cls)).replace("'", "") for cls in (Base, Plain)] == [
        "(name: str, self: InitVar[int] = 1, seen: list[int] = <factory>) -> None",
        "(name: str, self: InitVar[int] = 1, seen: list[int] = <factory>, *, depth: int) -> None",
    ]
    assert [Deep("a", 2, depth=3), Deep("a", depth=4)] == [Deep("a", 2, depth=3), Deep("a", 1, depth=4)]
    plain = Plain("b", seen=[5], depth=6)
    assert (plain.name, plain.seen, plain.depth, plain.fixed) == ("b", [5, 1], 6, 7)
    assert Own().name == "own"
    assert [cls.__dataclass_params__.init for cls in (Base, Deep, Own)] == [True, True, False]
    with pytest.raises(TypeError, match=r"Base\.__init__\(\) missing 1 required positional argument: 'name'"):
        Base()


def test_a_class_is_asked_for_its_making_before_the_first_object() -> None:
    @ours(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 0

    def signature() -> str:
        return str(inspect.signature(Point)).replace("'", "")

    asked, made = signature(), Point(1)
    assert asked == signature() == "(x: int, y: int = 0) -> None"
    assert not hasattr(made, "__signature__")
    assert Point.__init__.__qualname__.endswith("Point.__init__")


def test_a_base_that_looks_at_subclasses_sees_no_more_of_them() -> None:
    seen: list[str] = []

    class Base:
        def __init_subclass__(cls) -> None:
            seen.append(cls.__name__)

    @ours
    class Point(Base):
        x: int

    assert (Point(1).x, seen) == (1, ["Point"])


def test_nothing_is_left_of_writing_what_makes_an_object() -> None:
    @ours(frozen=True, slots=True)
    class Point(Generic[T]):
        x: T

    assert Point(1) == Point(x=1)
    gc.collect()
    assert Point.__subclasses__() == []
    assert Point.__init__.__closure__ is None or Point not in [
        cell.cell_contents for cell in Point.__init__.__closure__
    ]


@BOTH
def test_each_class_compares_its_own_fields_whichever_is_compared_first(record: Any) -> None:
    @record(frozen=True)
    class Base:
        x: int

    @record(frozen=True)
    class Deep(Base):
        y: int

    class Plain(Base): ...

    assert (Deep(1, 2) == Deep(1, 3), hash(Deep(1, 2)) == hash(Deep(1, 3))) == (False, False)
    assert (Plain(1) == Plain(1), Plain(1) == Base(1), Base(1) == Base(2)) == (True, False, False)
    assert {Plain(1), Plain(1), Base(1), Base(1)} == {Plain(1), Base(1)}


def test_two_threads_may_need_a_method_first_at_once() -> None:
    """The slower one comes with the method that was there before."""

    @ours(frozen=True)
    class Point:
        x: int

    late = Point.__eq__, Point.__hash__
    one, other = Point(1), Point(1)
    assert one == other
    assert hash(one) == hash(other)
    assert (late[0](one, other), late[0](one, Point(2)), late[1](one)) == (True, False, hash(other))
