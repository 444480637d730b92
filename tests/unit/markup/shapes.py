"""Markdown as people, models and attackers write it, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        "alpha",
        "Bravo",
        "naïve",
        "漢字",
        "かな",
        "🚦",
        "👩‍🚀",
        "x1",
        "שלום",
        "don't",
        "café",
        "<script>",
        "<b>",
        "a&b",
        '"q"',
    ]
)
MARKS = st.sampled_from(
    ["**", "*", "_", "__", "~~", "`", "``", "```", "~~~", "[", "](", ")", "](http://x.io)", "](javascript:go)", "![", "#", ">", "- ",
     "1. ", "|", "|-|-|", "---", "\\", "\\!", "    ", "\t", "<", ">", "&", "&amp;", "http://a.b/c", "<http://a.b>", "[r]: http://q", ":"]
)  # fmt: skip
GAPS = st.sampled_from([" ", " ", "\n", "\n\n", "", "\n> ", "\n- ", "\n    ", "  \n", "\n|"])

markdown = st.lists(st.one_of(WORDS, MARKS, GAPS), max_size=60).map("".join)
"""Any text made of words and of all that means something in Markdown, well-formed or not."""
