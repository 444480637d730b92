"""Words to look for in a text that anybody may have written: a query is never read as a language of its own. No I/O."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

QUERY_CHARS: Final = 10_000
"""A longer query is cut; its words beyond that say nothing new."""
WORDS_MOST: Final = 12
PAIRS_MOST: Final = 8
WORD_CHARS: Final = 40
STEM_CHARS: Final = 3
"""A stem is not shorter: it would begin half of all words."""

TELLING_CHARS: Final = 3
"""Letters from which on a word tells something."""

WORD_ENDINGS: Final = ("ings", "ing", "ies", "ed", "es", "en", "er", "s", "e", "y")
"""Endings of words in languages with Latin letters, the longer ones first."""

# Words that stand in nearly every sentence and tell nothing apart, in English, German, French and Spanish.
STOP_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """a about after all also am an and any are as at be because been before being but by can could did do does doing don
    for from had has have having he her here hers him his how i if in into is it its just let ll me mine my no nor not now
    of off on once or our ours out please remember re s said say says she should so some such t tell than that the their
    them then there these they this those to too up us ve very was we were what when where which who whom whose why will
    with would yes you your yours
    aber als am auch auf aus bei bin bis das dass dem den der des die doch du ein eine einem einen einer er es für hat habe
    haben ich ihr ihre ihren im ist ja kann mein meine meinem meinen meiner mich mir mit nach nicht noch nur oder sein seine
    sich sie sind so um und uns unser unsere von vor war waren was wer wie wir wird wo zu zum zur über
    au aux avec ce ces cette dans de des du elle en est et il je la le les leur lui ma mais mes moi mon ne nos notre nous où
    par pas pour qu que quel quelle qui sa se ses son sur ta te tes toi ton tu un une vos votre vous
    al como con cual cuando del donde el ella es esta este esto ha hay la las lo los mi mis muy nos o para pero por que
    quien se si sin su sus tu tus un una unos y yo""",
    )
)
# Scripts whose words stand without blanks between them, or with endings that are written together with them.
_CLOSE: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Terms:
    """Words of a query, in small letters; and pairs of signs of scripts that write without blanks."""

    words: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.pairs)


def terms_of(query: str) -> Terms:
    """Terms of a query: the longest of many, since those tell most apart.

    >>> terms_of('Where does my sister live? "OR" (NEAR*')
    Terms(words=('sister', 'live', 'near'), pairs=())
    >>> terms_of("我妹妹")
    Terms(words=(), pairs=('我妹', '妹妹'))
    >>> bool(terms_of("?!… 🙂"))
    False
    """
    plain = plainest(query[:QUERY_CHARS])
    words = [word for word in dict.fromkeys(_words(plain)) if word not in STOP_WORDS]
    pairs = list(dict.fromkeys(_pairs(plain)))
    kept = set(sorted(words, key=len, reverse=True)[:WORDS_MOST])
    return Terms(tuple(word for word in words if word in kept), tuple(pairs[:: -(-len(pairs) // PAIRS_MOST) or 1]))


def plainest(text: str) -> str:
    """`text` as it is compared: in small letters, each in its usual form, without half characters.

    >>> plainest("Straße"), plainest("①")
    ('straße', '1')
    """
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return unicodedata.normalize("NFKC", whole).lower()


def bare(word: str) -> str:
    """A word without its accents.

    >>> bare("zürich")
    'zurich'
    """
    if word.isascii():
        return word
    return "".join(mark for mark in unicodedata.normalize("NFD", word) if not unicodedata.combining(mark))


def stem(word: str) -> str:
    """The beginning that a word shares with its other forms; the word itself where it is short.

    >>> stem("berries"), stem("moved"), stem("gas")
    ('berr', 'mov', 'gas')
    """
    for ending in WORD_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_CHARS:
            return word[: -len(ending)]
    return word


def forms(word: str) -> frozenset[str]:
    """A word with its other forms, also without its accents. Exact words cost an index less than a beginning does.

    >>> sorted(forms("tea")), "move" in forms("moving"), "zurich" in forms("zürich")
    (['tea', 'teas'], True, True)
    """
    begins = stem(word)
    ends = ("", *WORD_ENDINGS) if len(begins) > STEM_CHARS or begins != word else ("", "s")
    written = {word, *(begins + ending for ending in ends)}
    return frozenset(written | {bare(form) for form in written})


def marks_of(text: str) -> frozenset[str]:
    """Everything by which a text can be found: its words without accents, and its pairs of signs."""
    plain = plainest(text)
    return frozenset([*map(bare, _words(plain)), *_pairs(plain)])


def telling(text: str) -> frozenset[str]:
    """Longer words and numbers of a sentence, which tell what it is about, and all pairs of signs of scripts without blanks.

    >>> sorted(telling("My dog is 12")), sorted(telling("我的狗叫雷克斯"))[:2]
    (['12', 'dog'], ['克斯', '叫雷'])
    """
    plain = plainest(text)
    longer = (word for word in _words(plain) if len(word) >= TELLING_CHARS or word.isdecimal())
    return frozenset([*(bare(word) for word in longer if word not in STOP_WORDS), *_pairs(plain)])


def _words(plain: str) -> Iterator[str]:
    for word in _WORD.findall(_CLOSE.sub(" ", plain)):
        if any(mark.isalnum() for mark in word):
            yield word[:WORD_CHARS]


def _pairs(plain: str) -> Iterator[str]:
    for run in _CLOSE.findall(plain):
        if len(run) == 1:
            yield run
        yield from (run[at : at + 2] for at in range(len(run) - 1))
