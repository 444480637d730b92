"""Messages that are nothing but "stop", in the languages we list: they end work, and are no question to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

STOP_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "English": ("stop", "cancel", "halt", "abort"),
    "German": ("stopp", "halt", "anhalten", "abbrechen", "abbruch"),
    "French": ("arrête", "arrêtez", "arrêter", "annule", "annuler"),
    "Spanish": ("detente", "alto", "cancela", "cancelar"),
    "Portuguese": ("pare", "parar", "cancela", "cancelar"),
    "Italian": ("ferma", "fermati", "basta", "annulla"),
    "Dutch": ("stoppen", "annuleer", "annuleren"),
    "Polish": ("stop", "zatrzymaj", "anuluj"),
    "Turkish": ("dur", "durdur", "iptal"),
    "Russian": ("стоп", "отмена", "остановись", "хватит"),
    "Ukrainian": ("стоп", "зупинись", "скасуй"),
    "Chinese": ("停", "停止", "取消"),
    "Japanese": ("停止", "中止", "ストップ", "キャンセル"),
    "Korean": ("중지", "취소", "멈춰"),
}
"""By language, in lower case. docs/access.md lists them."""

_ALL: Final = frozenset(word for words in STOP_WORDS.values() for word in words)
_LONGEST: Final = max(map(len, _ALL))
_AROUND: Final = " \t\r\n.!?…。\uff01\uff1f"


def is_stop(text: str) -> bool:
    """Tell whether a message is a stop word alone, whatever its case and the marks around it."""
    bare = text.strip(_AROUND)
    return len(bare) <= _LONGEST and bare.casefold() in _ALL
