"""Sentences that were written in English are said in the language of whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape

import pytest

from bot.console.layout import page
from runtime.calendar import WhenError, in_words, plan
from runtime.text.retold import retold, told_to_reader
from runtime.text.words import LANGUAGE, say
from tests.unit.calendar.test_words import NOW


@pytest.fixture
def in_german() -> Iterator[None]:
    before = LANGUAGE.set("de")
    yield
    LANGUAGE.reset(before)


@pytest.mark.usefixtures("in_german")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("This run is over already.", "Dieser Lauf ist schon zu Ende."),
        ("Removed: weekly.", "Gelöscht: weekly."),
        (
            "'Reports' is in the settings file. Change it there, then reload.",
            "'Reports' steht in der Einstellungsdatei.",
        ),
        (
            "Nothing can be posted to #ops: no account here serves it.",
            "In #ops lässt sich nichts posten: kein Konto hier",
        ),
        ("the reply appeared", "die Antwort: angezeigt"),
        ("The reply is still on its way.", "Die Antwort ist noch unterwegs."),
        ("Ann wrote “hello”", "Ann schrieb “hello”"),
        (
            "model call 1 (demo) answered in 0.2 s; it called bash",
            "Modellaufruf 1 (demo), Antwort nach 0,2 s; er rief auf: bash",
        ),
        ("write_file started (write)", "write_file begonnen (schreibend)"),
        ("accepted after 0.100 s", "nach 0,100 s angenommen"),
        ("1,234 tokens in, 12 out", "1.234 Tokens gelesen, 12 geschrieben"),
        ("This run is over already.\nAnd a name of yours.", "Dieser Lauf ist schon zu Ende.\nAnd a name of yours."),
    ],
)
def test_what_was_written_in_english_is_read_in_german(written: str, read: str) -> None:
    assert retold(written).startswith(read)


@pytest.mark.usefixtures("in_german")
def test_others_words_stay_as_they_are() -> None:
    assert retold("Compare the offers of both") == "Compare the offers of both"
    assert retold("") == ""
    assert retold("x" * 3_000) == "x" * 3_000


@pytest.mark.usefixtures("in_german")
def test_a_refusal_within_another_is_retold_too() -> None:
    with pytest.raises(WhenError) as refused:
        plan("when it rains", zone="Europe/Berlin", now=NOW)
    assert retold(str(refused.value)).startswith('"when it rains" ist unverständlich. Zum Beispiel: "every weekday')


def test_a_program_reads_english() -> None:
    assert told_to_reader("This run is over already.") == "This run is over already."


@pytest.mark.usefixtures("in_german")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 9 * * 1-5", "jeden Werktag (Mo bis Fr) um 09:00 (Europe/Berlin)"),
        ("0 9,17 * * 1,4", "jeden Montag und Donnerstag um 09:00 und 17:00 (Europe/Berlin)"),
        ("0 9 1,15 * *", "am 1. und 15. jedes Monats um 09:00 (Europe/Berlin)"),
        ("first monday of the month at 8:30", "am ersten Montag jedes Monats um 08:30 (Europe/Berlin)"),
        ("0 18 24 12 *", "am 24. im Dezember um 18:00 (Europe/Berlin)"),
        ("every 2 weeks on friday at 15:00", "alle 2 Wochen am Freitag um 15:00 (Europe/Berlin)"),
        ("2026-12-24 at 18:00", "einmal, am Donnerstag, 24. Dezember 2026 um 18:00 (Europe/Berlin)"),
    ],
)
def test_times_are_told_in_german(text: str, told: str) -> None:
    planned = plan(text, zone="Europe/Berlin", now=NOW)
    assert in_words(planned, say) == told
    assert "um" not in in_words(planned).split()


@pytest.mark.usefixtures("in_german")
def test_the_consoles_script_knows_the_words_for_states() -> None:
    assert '"approved": "freigegeben"' in unescape(page("Seite", "/console"))
