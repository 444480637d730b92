import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tools.kit.output import Ends


def ends_of(chunks: list[bytes], limit: int) -> str:
    ends = Ends(limit)
    for chunk in chunks:
        ends.feed(chunk)
    return ends.text()


def cut_up(data: bytes, sizes: list[int]) -> list[bytes]:
    chunks = []
    for size in sizes:
        chunks.append(data[:size])
        data = data[size:]
    return [*chunks, data]


@given(st.text(max_size=60), st.lists(st.integers(0, 9)))
def test_a_short_output_is_kept_as_it_is_however_it_arrives(text: str, sizes: list[int]) -> None:
    data = text.encode(errors="replace")
    assert ends_of(cut_up(data, sizes), 400) == data.decode()


@given(st.binary(max_size=3000), st.lists(st.integers(0, 300)), st.integers(100, 500))
def test_an_output_of_any_bytes_stays_in_its_bound(data: bytes, sizes: list[int], limit: int) -> None:
    assert len(ends_of(cut_up(data, sizes), limit)) <= limit


def test_of_a_long_output_both_ends_are_kept_and_the_cut_is_named() -> None:
    chunks = [f"{number}\n".encode() for number in range(100_000)]
    text = ends_of(chunks, 1000)
    head, note, tail = text.partition("[…")
    assert head.startswith("0\n1\n2\n")
    assert note
    assert tail.endswith("99998\n99999\n")
    whole = sum(map(len, chunks))
    kept = len(head) + len(tail[tail.index("…]\n") + 3 :]) - 1
    assert f"{whole - kept:,} characters cut" in tail


@given(st.integers(0, 40))
def test_no_character_is_torn_from_its_marks(shift: int) -> None:
    marked = "e\u0301\u0323"  # e, acute accent, dot below
    text = ends_of([("x" * shift + marked * 500).encode()], 300)
    head, _, rest = text.partition("\n[…")
    tail = rest.partition("…]\n")[2]
    assert not unicodedata.combining(tail[0])
    assert head.endswith(marked)
    assert tail.startswith(marked)


def test_memory_does_not_grow_with_the_output() -> None:
    ends = Ends(1000)
    for _ in range(2000):
        ends.feed(b"x" * 10_000)
    assert sum(len(value) for value in vars(ends).values() if isinstance(value, str)) < 20_000


def test_invalid_bytes_are_replaced() -> None:
    assert ends_of([b"a\xff", b"b\xe2\x82"], 1000) == "a\ufffdb\ufffd"
