"""What the page may rely on when it shows our HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given

from runtime.markup import parse, to_html, to_plain
from tests.unit.markup.shapes import markdown

VOID = {"br", "hr"}
INLINE = {"a", "strong", "em", "s", "code"}
TAGS = VOID | INLINE | {f"h{level}" for level in range(1, 7)}
TAGS |= {"p", "ul", "ol", "li", "blockquote", "pre", "table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {
    "a": {"href", "title", "target", "rel"},
    "ol": {"start"},
    "pre": {"data-info"},
    "td": {"class"},
    "th": {"class"},
}


class Reading(HTMLParser):
    """Reads strictly: every tag known, closed in order, with known attributes."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES.get(tag, set())
        values = dict(attrs)
        assert tag != "a" or re.match("https?://|mailto:", str(values["href"]), re.IGNORECASE)
        assert values.get("class") in (None, "left", "right", "center")
        self.text.append("" if tag in INLINE else " ")
        self.text += [f" {value} " for name, value in attrs if name in ("title", "data-info")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data!r}")


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", text))


@given(markdown)
@example("![]()")
@example('[a](<> "b")')
def test_whatever_is_written_the_html_is_well_formed_and_only_ours(text: str) -> None:
    Reading(to_html(parse(text)))


@given(markdown)
@example('[a](<> "b")')
def test_the_page_and_the_plain_twin_say_the_same_words(text: str) -> None:
    document = parse(text)
    shown = words("".join(Reading(to_html(document)).text))
    assert words(re.sub(r"\w*https?://\S+", "", to_plain(document))) <= shown


@pytest.mark.parametrize(
    "attack",
    ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '[x](https://a" onclick="alert(1))', "`</code><script>`",
     "```\"><script>\nx\n```", '[a](http://x.io "\\"><script>")', "<https://x.io/\"onmouseover=\"x>", "https://x.io/<script>", "&lt;script&gt;"],
)  # fmt: skip
def test_no_script_survives(attack: str) -> None:
    html = to_html(parse(attack))
    Reading(html)
    assert "<script" not in html
    assert "<img" not in html


def test_a_bare_address_is_a_link_without_the_sentence_around_it() -> None:
    html = to_html(parse("see (https://x.io/a_(b)?c=1&d=2), or <http://y.io>."))
    assert 'see (<a href="https://x.io/a_(b)?c=1&amp;d=2"' in html
    assert "</a>), or <a" in html
    assert html.count("<a ") == 2


def test_no_link_is_inside_a_link() -> None:
    assert to_html(parse("[https://x.io](https://y.io)")).count("<a ") == 1


def test_a_link_to_nowhere_is_its_words() -> None:
    assert to_html(parse("a [*b* c]() d![e]()")) == "<p>a <em>b</em> c de</p>"
    assert parse("a[b]()c") == parse("abc")


def test_a_tight_list_has_no_paragraphs() -> None:
    assert to_html(parse("- a\n- b")) == "<ul><li>a</li><li>b</li></ul>"
    assert to_html(parse("7. a\n\n8. b")) == '<ol start="7"><li><p>a</p></li><li><p>b</p></li></ol>'


def test_code_is_shown_as_written() -> None:
    assert to_html(parse("```py\nif a < b:\n    c\n```")) == (
        '<pre data-info="py"><code>if a &lt; b:\n    c</code></pre>'
    )


def test_what_turns_text_round_is_a_code_and_an_address_stays_as_it_is() -> None:
    made = to_html(parse("a \u202eb, `c\u202ed` and https://a.example/\u202ee"))
    assert made.count("⟨U+202E⟩") == 3
    assert made.count("\u202e") == 1  # in the link itself, where a browser encodes it
