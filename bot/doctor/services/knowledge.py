"""Packs of documents: whether they were read, and what could not be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.rows import rows_of
from bot.doctor.subject import Subject, fine, warning
from runtime.contract import Finding
from runtime.markup.moments import several
from runtime.text.naming import listed

DOCUMENTS: Final = "SELECT pack, place, fault FROM knowledge_documents ORDER BY pack, place"
NAMED_MAX: Final = 3


async def check_knowledge(subject: Subject) -> Sequence[Finding]:
    names = [table.name for table in subject.settings.knowledge]
    if not names:
        return []
    [rows] = await rows_of(subject.settings, DOCUMENTS)
    faulty = list(_faulty(names, rows))
    return faulty or [fine("knowledge", f"{several(len(rows), 'document')} in {listed(names)}")]


def _faulty(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Finding]:
    for name in names:
        places = {place: fault for pack, place, fault in rows if pack == name}
        faults = [f"{place}: {fault}" for place, fault in places.items() if fault]
        if faults:
            more = f" and {len(faults) - NAMED_MAX} more" if len(faults) > NAMED_MAX else ""
            what = f"{several(len(faults), 'document')} of {name} can't be read: {'; '.join(faults[:NAMED_MAX])}{more}"
            why = "Answers cite what was read of it before, or don't know of it."
            yield warning("knowledge.faults", what, why, f"signalbox knowledge show {name}")
        elif not places:
            what = f"no document of {name} has been read yet"
            why = "Its documents are read soon after the start of a process, if its folder or pages have any."
            yield warning(
                "knowledge.unread", what, why, "start signalbox, and check folder, urls and include of this pack"
            )
