"""Each kind of secret is found wherever it stands, nothing else is touched, and a guard that fails lets nothing through."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.guard.entropy import FEW_RUNS, looks_random
from runtime.guard.findings import MARKED, Detector, Found, Gate, Strictness
from runtime.guard.guard import BROKEN, LENT_MOST, USUAL, Checked, Guard, GuardRules, apart
from runtime.guard.held import Held
from runtime.guard.own_rules import OwnRule, of_phrase, of_words
from runtime.guard.previews import Preview
from tests.unit.guard.secrets import IN_PLACE, PEM, SECRETS

KEY: Final = b"a key of the test"
OWN: Final = "correct-horse-battery-staple"
SHORT: Final = "hunter2!"
WIDE: Final = "pässword with blanks"
WRITTEN: Final[Mapping[str, Callable[[str], str]]] = {
    "plain": lambda text: f"The key is {text}, said the file.",
    "alone": lambda text: text,
    "in quotes": lambda text: f'"{text}"',
    "json": lambda text: json.dumps({"key": text, "more": [text]}),
    "json in json": lambda text: json.dumps(json.dumps({"key": text})),
    "behind an escape": lambda text: f"a line\\n{text}\\nanother",
    "setting": lambda text: f"export TOKEN={text}\nexport OTHER=1",
    "header": lambda text: f"Authorization: Bearer {text}\r\n",
    "colours": lambda text: f"\x1b[1m{text}\x1b[0m",
    "code": lambda text: f"`{text}`",
    "markdown": lambda text: re.sub(r"([-_.:/+=!])", r"\\\1", text),
    "address": lambda text: f"https://example.org/a?token={text}&x=1",
}


def guard(**rules: object) -> Guard:
    held = Held([("model.api_key", OWN), ("slack.token", SHORT), ("hook.secret", WIDE)])
    return Guard(GuardRules(key=KEY, **rules), held)  # type: ignore[arg-type]  # as given


def tight(detector: Detector, action: Strictness) -> Guard:
    return guard(strictness={**USUAL, detector: action})


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("secret", SECRETS)
def test_each_shape_is_taken_out_however_it_is_written(secret: str, write: Callable[[str], str]) -> None:
    name, value = SECRETS[secret]
    told = guard().check(write(value), Gate.TOOL_RESULT)
    assert {one.name for one in told.findings if one.detector is Detector.SHAPE} == {name}
    assert f"[redacted: {name} ·" in told.text
    for line in value.splitlines() if "\n" in value else [value]:
        assert line not in told.text


@pytest.mark.parametrize("before", ["my-token-", "PROD_", "a_b-c_"])
@pytest.mark.parametrize("secret", [one for one in SECRETS if one != "private key"])
def test_a_shape_is_found_behind_a_word(secret: str, before: str) -> None:
    _, value = SECRETS[secret]
    assert value not in guard().check(f"see {before}{value}", Gate.TOOL_RESULT).text


def test_one_behind_another_is_found_too() -> None:
    token = SECRETS["github"][1]
    assert token not in guard().check(f"{token}-{token}_{token}", Gate.TOOL_RESULT).text


@pytest.mark.parametrize("secret", IN_PLACE)
def test_a_secret_known_by_its_place_is_taken_out_of_it(secret: str) -> None:
    name, around, value = IN_PLACE[secret]
    told = guard().check(f"see {around.format(value)} here", Gate.TOOL_RESULT)
    mark = told.findings[0].mark
    assert told.text == f"see {around.format(f'[redacted: {name} ·{mark}]')} here"


@pytest.mark.parametrize("value", [OWN, SHORT, WIDE])
@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_what_we_hold_is_taken_out_however_it_is_written(value: str, write: Callable[[str], str]) -> None:
    told = guard().check(write(value), Gate.TOOL_RESULT)
    assert value not in told.text
    assert any(one.detector is Detector.HELD for one in told.findings)


CODED: Final[Mapping[str, Callable[[str], str]]] = {
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "quoted": lambda text: quote(text, safe=""),
    **{
        f"base64 behind {before}": lambda text, before=before: base64.b64encode(  # type: ignore[misc]
            b"x" * before + text.encode() + b"more"
        ).decode()
        for before in range(4)
    },
    "base64 alone": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
}


@pytest.mark.parametrize("value", [OWN, WIDE])
@pytest.mark.parametrize("code", CODED.values(), ids=CODED)
def test_what_we_hold_is_found_in_codes(value: str, code: Callable[[str], str]) -> None:
    coded = code(value)
    told = guard().check(f"the answer: {coded} is it", Gate.TOOL_RESULT)
    assert any(one.detector is Detector.HELD for one in told.findings)
    assert coded not in told.text


def test_no_backslash_is_left_before_a_mark() -> None:
    told = guard().check(r"a\_b: \-----BEGIN PRIVATE KEY-----\nMIIB\n\-----END PRIVATE KEY-----\!", Gate.DELIVERY)
    assert re.fullmatch(r"a\\_b: \[redacted: private key ·[0-9a-f]{4}\]\\!", told.text)


def test_equal_values_have_equal_marks_in_every_form_and_others_another() -> None:
    marks = [
        guard().check(form, Gate.DELIVERY).findings[0].mark
        for form in (OWN, OWN.encode().hex(), quote(OWN), f"({OWN})", OWN.replace("-", "\\-"))
    ]
    assert len(set(marks)) == 1
    assert guard().check(SHORT, Gate.DELIVERY).findings[0].mark not in marks
    other = Guard(GuardRules(key=b"another"), Held([("model.api_key", OWN)]))
    assert other.check(OWN, Gate.DELIVERY).findings[0].mark not in marks


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing to see. " * 500,
        "550e8400-e29b-41d4-a716-446655440000 and e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "task-force, risk-averse, desk-bound: sk-8 and AKIA and ghp_ and xoxb- and eyJ are only beginnings",
        "https://example.org/some/long/path/with-many-words/and/numbers/2026/11/25?page=2&sort=asc#part",
        "user@example.org, 12:30:45, 10:20, C:\\Users\\ada, postgres://db.example.org/app, ssh://git@example.org/x",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "def token(self) -> str: return self.api_key or os.environ['OPENAI_API_KEY']",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    told = guard().check(text, Gate.DELIVERY)
    assert (told.text, told.findings, told.is_withheld) == (text, (), False)


def test_a_private_key_without_its_end_goes_as_far_as_its_letters_do() -> None:
    told = guard().check(f"{PEM[:300]}\n\n(cut)", Gate.TOOL_RESULT)
    assert PEM[40:100] not in told.text
    assert told.text.endswith("(cut)")


def test_what_looks_random_is_only_told() -> None:
    text = "the word q8Zt1LrWm0XvB7cYp3KdNs5HgUe2JfTa6RoI stays"
    told = guard().check(text, Gate.TOOL_RESULT)
    assert told.text == text
    assert [(one.detector, one.action) for one in told.findings] == [(Detector.ENTROPY, Strictness.WARN)]


@pytest.mark.parametrize("action", Strictness)
def test_each_strictness_does_what_it_says(action: Strictness) -> None:
    text = f"it is {SECRETS['github'][1]}."
    told = tight(Detector.SHAPE, action).check(text, Gate.DELIVERY)
    found = [one for one in told.findings if one.detector is Detector.SHAPE]
    match action:
        case Strictness.OFF:
            assert (told.text, found) == (text, [])
        case Strictness.WARN:
            assert (told.text, len(found)) == (text, 1)
        case Strictness.REDACT:
            assert told.text == f"it is [redacted: GitHub token ·{found[0].mark}]."
        case Strictness.ENFORCE:
            assert told.text == f"[withheld: it holds GitHub token ·{found[0].mark}]"
            assert told.is_withheld


def test_a_room_may_only_tighten() -> None:
    rooms = [("slack:main/C1", {Detector.SHAPE: Strictness.ENFORCE, Detector.HELD: Strictness.OFF})]
    strict = guard(rooms=rooms)
    assert strict.check(SECRETS["npm"][1], Gate.DELIVERY, "slack:main/C1").is_withheld
    assert not strict.check(SECRETS["npm"][1], Gate.DELIVERY, "slack:main/C2").is_withheld
    assert OWN not in strict.check(OWN, Gate.DELIVERY, "slack:main/C1").text


PERSONAL: Final = [
    ("e-mail address", "ada@example.org"),
    ("account number", "DE89 3704 0044 0532 0130 00"),
    ("card number", "4111 1111 1111 1111"),
    ("social security number", "078-05-1120"),
    ("phone number", "+49 30 901820"),
]


@pytest.mark.parametrize(("name", "text"), PERSONAL)
def test_personal_data_is_found_where_a_room_wants_it(name: str, text: str) -> None:
    told = tight(Detector.PERSONAL, Strictness.REDACT).check(f"Write to {text} today.", Gate.DELIVERY)
    assert told.text.startswith(f"Write to [redacted: {name} ·")
    assert told.text.endswith("] today.")
    assert guard().check(f"Write to {text} today.", Gate.DELIVERY).findings == ()


@pytest.mark.parametrize(
    "number", ["DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "4111 1111 1111 1111", "3782 822463 10005"]
)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", " 4111"),
        ("", " BIC COBADEFF"),
        ("", " 12/27 123"),
        ("", " 0"),
        ("REF AB12 ", ""),
        ("2026 ", ""),
        ("12 ", " 123 OK"),
    ],
)
def test_numbers_are_found_beside_other_numbers_and_capital_letters(before: str, number: str, after: str) -> None:
    said = tight(Detector.PERSONAL, Strictness.REDACT).check(f"{before}{number}{after}", Gate.DELIVERY).text
    assert number not in said
    assert number[:9] not in said


@pytest.mark.parametrize(
    "text", ["4111 1111 1111 1112", "DE88 3704 0044 0532 0130 00", "000-12-3456", "a@b", "1234567"]
)
def test_numbers_that_do_not_add_up_are_no_personal_data(text: str) -> None:
    assert tight(Detector.PERSONAL, Strictness.REDACT).check(text, Gate.DELIVERY).text == text


def test_own_rules_hold_at_their_gates() -> None:
    rules = [
        OwnRule("code names", of_words(("BLUEBIRD", "Robin"))),
        OwnRule("the plan", of_phrase("merge with Initech"), Strictness.ENFORCE, frozenset({Gate.DELIVERY})),
    ]
    told = guard(own=rules)
    assert "bluebird" not in told.check("About bluebird and robins.", Gate.TOOL_RESULT).text
    assert "robins" in told.check("About bluebird and robins.", Gate.TOOL_RESULT).text
    assert not told.check("merge  with\nINITECH", Gate.TOOL_RESULT).findings
    assert told.check("merge  with\nINITECH", Gate.DELIVERY).is_withheld


def test_a_detector_that_raises_lets_nothing_through() -> None:
    def breaks(_: str) -> Iterator[tuple[int, int]]:
        raise RuntimeError("a planted fault")

    told = guard(own=[OwnRule("broken", breaks)]).check("quite harmless", Gate.DELIVERY)
    assert (told.text, told.is_withheld) == (BROKEN, True)


@given(st.lists(st.sampled_from(["a word ", "\n", *(value for _, value in SECRETS.values()), OWN, SHORT]), max_size=8))
def test_what_was_taken_out_stays_out_and_is_not_taken_twice(pieces: list[str]) -> None:
    told = guard().check(" ".join(pieces), Gate.DELIVERY)
    again = guard().check(told.text, Gate.MODEL_REPLY)
    assert again.text == told.text
    quoted = guard().check(f"> {told.text}\nyou said", Gate.MESSAGE_IN)
    assert quoted.text == f"> {told.text}\nyou said"


def test_a_mark_is_no_place_to_hide_in() -> None:
    value = SECRETS["github"][1]
    assert value not in guard().check(f"[redacted: {value} ·zzzz]", Gate.DELIVERY).text
    assert value not in guard().check(f"[redacted: x ·4f2a]{value}[redacted: y ·4f2a]", Gate.DELIVERY).text
    assert value not in guard().check(f"[redacted: {value} ·4f2a]", Gate.DELIVERY).text
    assert OWN not in guard().check(f"[redacted: {OWN} ·4f2a]", Gate.DELIVERY).text


@pytest.mark.parametrize("name", ["GitHub token", "model.api_key", "private key", "code name"])
def test_a_mark_that_is_quoted_stays_even_where_a_rule_finds_its_words(name: str) -> None:
    words = OwnRule("code name", of_words(("github", "model", "private", "code")))
    mark = f"[redacted: {name} ·4f2a]"
    assert guard(own=(words,)).check(mark, Gate.DELIVERY).text == mark


@pytest.mark.parametrize("written", ["_bluebird_", "__Bluebird__", "bluebird_plan.txt", "(bluebird)", "BLUEBIRD's"])
def test_a_word_of_a_rule_is_found_in_italics_and_in_names(written: str) -> None:
    told = guard(own=(OwnRule("code name", of_words(("bluebird",))),)).check(f"It is {written}.", Gate.DELIVERY)
    assert "bluebird" not in told.text.casefold()


HOSTILE: Final[Mapping[str, str]] = {
    "beginnings of web tokens": "eyJ" * 200_000 + ".eyJ" + "eyJ" * 200_000,
    "marks and tokens": f"[redacted: GitHub token ·4f2a] {SECRETS['github'][1]} " * 8_000,
    "random words and tokens": " ".join(
        f"q8Zt1LrWm0XvB7cYp3KdNs5HgUe2JfTa6R{n} {SECRETS['github'][1]}" for n in range(8_000)
    ),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_holds_the_guard_up(text: str) -> None:
    """Where each beginning, or each pair of findings, were tried, these would take minutes and more."""
    assert SECRETS["github"][1] not in guard().check(text, Gate.TOOL_RESULT).text


@given(st.lists(st.tuples(st.sampled_from(Detector), st.integers(0, 30), st.integers(1, 9)), max_size=9))
def test_findings_that_overlap_become_one(given_: list[tuple[Detector, int, int]]) -> None:
    found = [Found(detector, "x", start, start + size) for detector, start, size in given_]
    joined = apart(found)
    assert all(one.end <= two.start for one, two in pairwise(joined))
    sure = {place for one in found if one.detector is not Detector.ENTROPY for place in range(one.start, one.end)}
    told = {place for one in joined for place in range(one.start, one.end)}
    assert sure <= told <= {place for one in found for place in range(one.start, one.end)}


@pytest.mark.parametrize("secret", SECRETS)
def test_at_no_moment_does_a_preview_show_a_secret(secret: str) -> None:
    """At each border between two pieces of a stream."""
    _, value = SECRETS[secret]
    whole = f"I found it: {value} is the key. Shall I go on?"
    alone = Guard(GuardRules(key=KEY))
    heads = {value[: len(value) - cut] for cut in range(len(value) - 12)} if len(value) < 200 else {value[:60]}
    for end in range(len(whole)):
        shown = Preview(alone)(whole[:end])
        assert not any(head in shown for head in heads)
    assert Preview(alone)(whole).startswith("I found it: [redacted: ")


@pytest.mark.parametrize("secret", ["openai", "telegram", "jwt", "private key"])
def test_a_preview_of_a_long_answer_shows_what_the_whole_shows(secret: str) -> None:
    """It looks at each part a few times only, and takes out the same."""
    alone = Guard(GuardRules(key=KEY))
    whole = " ".join(["word"] * 700) + f" {SECRETS[secret][1]} " + " ".join(["more"] * 900) + " end"
    preview = Preview(alone)
    shown = [preview(whole[:end]) for end in range(0, len(whole), 37)]
    assert not any(SECRETS[secret][1][:40] in one for one in shown)
    assert preview(whole) == alone.check(whole, Gate.DELIVERY).text
    assert preview("another answer") == "another answer"


@pytest.mark.parametrize("value", [WIDE, f"aws_secret_access_key = {IN_PLACE['aws key'][2]}"], ids=["blanks", "a name"])
@pytest.mark.parametrize("before", range(0, 40, 4))
def test_a_preview_of_a_long_answer_cuts_no_value_with_blanks(value: str, before: int) -> None:
    """At each place of it where the part that is done with could end."""
    whole = f"{'word ' * 368}{'x' * before} {value} {'more ' * 60}"
    preview = Preview(guard())
    assert not any(value.split()[-1] in preview(whole[:end]) for end in range(1_900, len(whole), 7))


class Counting(Guard):
    """Counts the characters that it looks at."""

    looked_at = 0

    def check(self, text: str, gate: Gate, room: str = "") -> Checked:
        self.looked_at += len(text)
        return super().check(text, gate, room)


@pytest.mark.parametrize(
    "piece", ["y" * 100, "äöü" * 33, "abc" * 30 + "\n", f"{PEM}\n"], ids=["word", "wide", "lines", "keys"]
)
def test_a_preview_looks_at_a_text_without_blanks_a_few_times_only(piece: str) -> None:
    counting = Counting(GuardRules(key=KEY))
    preview, whole = Preview(counting), ""
    while len(whole) < 300_000:
        whole += piece
        preview(whole)
    assert counting.looked_at < 20 * len(whole)


@pytest.mark.parametrize("secret", ["openai", "telegram", "jwt", "private key"])
@pytest.mark.parametrize(
    "before", ["x" * 2_300 + "=", "y" * 2_300 + "\n", "äö" * 1_200], ids=["a word", "a line", "wide"]
)
def test_no_secret_is_shown_behind_a_text_without_blanks(secret: str, before: str) -> None:
    value = SECRETS[secret][1]
    whole = before + value + "\nand more words" * 200
    preview = Preview(Guard(GuardRules(key=KEY)))
    shown = [preview(whole[:end]) for end in range(2_000, len(whole), 5)]
    assert not any(value[:20] in one for one in shown)
    assert "and more words" in shown[-1]


def test_a_preview_keeps_up_with_plain_words() -> None:
    alone = Guard(GuardRules(key=KEY))
    preview = Preview(alone)
    assert preview("Let me look at") == "Let me look at"
    assert preview("Let me look at everything") == "Let me look at "
    assert preview("让我看看所有的文件和设置") == "让我看看所有的文件和设置"
    assert Preview(guard())("x" * 20 + " word" * 40) == "x" * 20 + " word" * 14 + " w"


def test_marks_are_known_by_their_form() -> None:
    told = guard().check(f"{OWN} {SECRETS['jwt'][1]}", Gate.DELIVERY)
    assert MARKED.sub("", told.text) == " "


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("value", [OWN, SHORT])
def test_values_without_blanks_are_found_where_no_value_has_any(value: str, write: Callable[[str], str]) -> None:
    alone = Guard(GuardRules(key=KEY), Held([("own", OWN), ("short", SHORT)]))
    assert not alone.held.has_blanks
    text = f"some words around {write(value)} and behind"
    assert alone.check(text, Gate.TOOL_RESULT).text == guard().check(text, Gate.TOOL_RESULT).text.replace(
        "model.api_key", "own"
    ).replace("slack.token", "short")


@pytest.mark.parametrize("count", [1, FEW_RUNS, FEW_RUNS + 1, 200])
def test_each_of_many_random_words_is_taken_out(count: int) -> None:
    words = [base64.b64encode(hashlib.sha256(bytes([number])).digest()).decode() for number in range(count)]
    random = [word for word in words if looks_random(word)]
    checked = tight(Detector.ENTROPY, Strictness.REDACT).check(" ".join(words), Gate.TOOL_RESULT)
    assert len(random) >= count // 2
    assert not [word for word in random if word in checked.text]


def test_tokens_that_are_renewed_while_we_work_are_held_too_and_the_oldest_are_let_go() -> None:
    one = guard()
    tokens = [f"opaque-token-number-{number}" for number in range(LENT_MOST + 1)]
    for token in tokens:
        one.know("login vendor", token)
    told = one.check(" and ".join([*tokens, OWN]), Gate.TOOL_RESULT)
    assert [token in told.text for token in tokens] == [True] + [False] * LENT_MOST
    assert {finding.name for finding in told.findings} == {"login vendor", "model.api_key"}
