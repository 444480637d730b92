"""The first line of a text and the rest of it: what stands in a room, and what stands in the thread under it."""

from __future__ import annotations

from runtime.markup.tree import Block, Break, Document, Heading, Inline, Paragraph, Text

Inlines = tuple[Inline, ...]


def headline(document: Document) -> tuple[Document, Document]:
    """Its first heading, or the first line of its first paragraph, and what follows.

    Shape:  either may hold nothing: the first where the text begins with something else (a table, a list, code).
    """
    match document.blocks:
        case (Heading() as first, *rest):
            return Document((first,)), Document(tuple(rest))
        case (Paragraph(children), *rest):
            line, below = first_line(children)
            left: tuple[Block, ...] = (Paragraph(below),) if below else ()
            return Document((Paragraph(line),)), Document((*left, *rest))
        case _:
            return Document(()), document


def first_line(children: Inlines) -> tuple[Inlines, Inlines]:
    """Up to the first break that stands between words; what is strong or a link is not cut."""
    for at, child in enumerate(children):
        match child:
            case Break():
                return children[:at], children[at + 1 :]
            case Text(text) if "\n" in text:
                before, _, after = text.partition("\n")
                return (*children[:at], *_words(before)), (*_words(after), *children[at + 1 :])
            case _:
                pass
    return children, ()


def _words(text: str) -> Inlines:
    return (Text(text),) if text else ()
