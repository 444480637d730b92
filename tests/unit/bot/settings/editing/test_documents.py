"""Changes of a settings file: exactly what was wanted, with all else as it was."""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settings.editing.documents import Add, Change, Move, Put, Remove, changed
from bot.settings.editing.statements import comments_of, lines_of, statements_of
from runtime.errors import ConfigError

FILE = '''# Our bot
data_dir = "var"
model.name = "demo"   # the model

[web]
port = 8080
hosts = [
    "a.example",  # ours
    "b.example",
]

# Money
[budgets]
day = 5 # enough

# first
[[policy]]
tool = "shell"
result = "ask"
where = { command = { commands = ["git status"] } }

# second
[[policy]]
tool = "*"
result = "deny"
reason = """
[web]
port = 1
"""

[policy.where.path]
inside = ["notes"]

# who
[access]
owners = ["telegram:1"] # Ada
'''


def after(*changes: Change, text: str = FILE) -> str:
    return changed(text, changes)


def lines(*changes: Change, text: str = FILE) -> tuple[list[str], list[str]]:
    """Lines that came, and lines that went."""
    old, new = Counter(text.split("\n")), Counter(changed(text, changes).split("\n"))
    return list((new - old).elements()), list((old - new).elements())


def test_a_value_changes_in_its_place_and_keeps_its_comment() -> None:
    assert lines(Put("budgets.day", 7)) == (["day = 7 # enough"], ["day = 5 # enough"])
    assert lines(Put("model.name", "auto")) == (
        ['model.name = "auto"   # the model'],
        ['model.name = "demo"   # the model'],
    )


def test_a_new_value_stands_behind_the_others_of_its_table() -> None:
    assert "day = 5 # enough\nmonth = 50\n\n# first" in after(Put("budgets.month", 50))
    assert 'where = { command = { commands = ["git status"] } }\nlimit = "2/day"\n\n# second' in after(
        Put("policy[1].limit", "2/day")
    )
    assert 'model.name = "demo"   # the model\nmodel.seed = 3\n' in after(Put("model.seed", 3))


def test_a_new_section_stands_at_the_end() -> None:
    assert after(Put("planning.zone", "Europe/Berlin")).endswith('# Ada\n\n[planning]\nzone = "Europe/Berlin"\n')
    assert after(Put("planning.zone", "UTC"), text="") == '[planning]\nzone = "UTC"\n'


def test_what_is_taken_out_takes_nothing_else_along() -> None:
    assert lines(Put("budgets.day", None)) == ([], ["day = 5 # enough"])
    came, went = lines(Put("policy[2].where", None))
    assert came == []
    assert [line for line in went if line] == ["[policy.where.path]", 'inside = ["notes"]']


def test_a_table_with_its_own_header_may_become_another() -> None:
    text = after(Put("policy[2].where", {"url": {"host": ["x.example"]}}))
    assert tomllib.loads(text)["policy"][1]["where"] == {"url": {"host": ["x.example"]}}
    assert comments_of(text) == comments_of(FILE)


def test_tables_come_go_and_change_places_with_their_comments() -> None:
    assert "# second" not in after(Remove("policy[2]"))
    assert "# who" in after(Remove("policy[2]"))
    assert "# first" not in after(Remove("policy[1]"))
    moved = after(Move("policy[1]", 1))
    assert [rule["tool"] for rule in tomllib.loads(moved)["policy"]] == ["*", "shell"]
    assert moved.index("# second") < moved.index("# first") < moved.index("# who")
    assert sorted(moved) == sorted(FILE)
    added = after(Add("policy", {"tool": "x", "result": "allow", "where": {"url": {"host": ["x.example"]}}}))
    assert added.index('tool = "x"') < added.index("# who")
    assert sorted(comments_of(added)) == sorted(comments_of(FILE))


def test_a_list_on_one_line_is_changed_within_and_refused_as_a_whole() -> None:
    text = 'rooms = [{ address = "web:a", busy = "steer" }]\n'
    assert after(Put("rooms[1].busy", "collect"), text=text) == 'rooms = [{ address = "web:a", busy = "collect" }]\n'
    for change in (Remove("rooms[1]"), Add("rooms", {"address": "web:b"})):
        with pytest.raises(ConfigError, match=r"in the file"):
            after(change, text=text)


def test_line_ends_stay_as_they_are() -> None:
    text = after(Put("budgets.day", 7), text=FILE.replace("\n", "\r\n"))
    assert text == after(Put("budgets.day", 7)).replace("\n", "\r\n")


@pytest.mark.parametrize(
    "value",
    [
        'x"\n[web]\nport = 1\n#',
        '"""\n[web]\nport = 1\n"""',
        "'''\n[mcp]\n",
        "\\",
        '\\"',
        'ends with "',
        "a\tb",
        "\u2028",
        "ende\\\nnext",
        "\n\nleading",
        '"""""',
        "]]\n[[policy]]",
    ],
)
def test_no_text_becomes_a_setting_of_its_own(value: str) -> None:
    text = after(Put("policy[2].reason", value))
    wanted = tomllib.loads(FILE)
    wanted["policy"][1]["reason"] = value
    assert tomllib.loads(text) == wanted
    assert comments_of(text) == comments_of(FILE)


def test_statements_know_their_lines() -> None:
    found = lines_of(FILE)
    assert (
        found["model.name"],
        found["web.hosts"],
        found["policy[2].reason"],
        found["policy[2].where.path.inside"],
    ) == (3, 7, 26, 32)
    assert found["policy[1].where.command.commands"] == 20
    assert [one.last - one.first for one in statements_of(FILE) if one.name == "web.hosts"] == [3]


def test_keys_with_quotes_dots_and_equal_signs_are_read() -> None:
    text = '[skills."a.b"]\n"x=1" = 2\n"c" . d = 3\n'
    assert lines_of(text) == {"skills.a·b": 1, "skills.a·b.x=1": 2, "skills.a·b.c.d": 3}


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUES: st.SearchStrategy[Any] = st.recursive(
    WORDS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS.filter(bool), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        *("model.name", "model.stop", "budgets.day", "budgets.over", "access.owners", "access.bots", "planning.zone"),
        *("policy[1].tool", "policy[1].where", "policy[2].reason", "policy[2].where", "policy[2].arguments"),
    ]
)


@given(st.lists(st.tuples(NAMES, st.none() | VALUES), min_size=1, max_size=4))
def test_any_values_are_read_again_as_they_were_given(puts: list[tuple[str, Any]]) -> None:
    text, wanted = FILE, tomllib.loads(FILE)
    for name, value in puts:
        text = changed(text, [Put(name, value)])
        table, key = name.split(".")
        holder = (
            wanted["policy"][int(table[7]) - 1]
            if "[" in table
            else wanted.setdefault(table, {})
            if value is not None
            else wanted.get(table, {})
        )
        if value is None:
            holder.pop(key, None)
        else:
            holder[key] = value
    read = tomllib.loads(text)
    assert {**read, "model": read.get("model", {})} == wanted
    assert comments_of(text) == comments_of(FILE)
