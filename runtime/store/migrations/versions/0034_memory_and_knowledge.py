"""Memory, values of programs, and knowledge packs, each with its full text indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"

Id = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

TRY_TRIGRAMS = "DO $$ BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm; EXCEPTION WHEN OTHERS THEN NULL; END $$"
"""An operator may have made it before; a server that has none, or forbids it, does without."""
ONE_VALUE = "valid_to IS NULL AND trust = 'said' AND kind <> 'relation' AND subject_key <> '' AND relation_key <> ''"
HAS_TRIGRAMS = "SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'"

FULL_TEXT = (
    "CREATE VIRTUAL TABLE memories_words USING fts5(reach, text, content='memories', content_rowid='number', "
    "tokenize='unicode61 remove_diacritics 2')",
    "CREATE VIRTUAL TABLE memories_letters USING fts5(reach, text, content='memories', content_rowid='number', "
    "tokenize='trigram')",
    "CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN INSERT INTO memories_words(rowid, reach, text) "
    "VALUES (new.number, new.reach, new.text); INSERT INTO memories_letters(rowid, reach, text) VALUES (new.number, "
    "new.reach, new.text); END",
    "CREATE TRIGGER memories_removed AFTER DELETE ON memories BEGIN INSERT INTO memories_words(memories_words, "
    "rowid, reach, text) VALUES ('delete', old.number, old.reach, old.text); INSERT INTO "
    "memories_letters(memories_letters, rowid, reach, text) VALUES ('delete', old.number, old.reach, old.text); END",
    "CREATE TRIGGER memories_changed AFTER UPDATE OF reach, text ON memories BEGIN INSERT INTO "
    "memories_words(memories_words, rowid, reach, text) VALUES ('delete', old.number, old.reach, old.text); INSERT "
    "INTO memories_letters(memories_letters, rowid, reach, text) VALUES ('delete', old.number, old.reach, "
    "old.text); INSERT INTO memories_words(rowid, reach, text) VALUES (new.number, new.reach, new.text); INSERT "
    "INTO memories_letters(rowid, reach, text) VALUES (new.number, new.reach, new.text); END",
    "CREATE VIRTUAL TABLE knowledge_chunks_words USING fts5(pack, text, content='knowledge_chunks', "
    "content_rowid='number', tokenize='unicode61 remove_diacritics 2')",
    "CREATE TRIGGER knowledge_chunks_added AFTER INSERT ON knowledge_chunks BEGIN INSERT INTO "
    "knowledge_chunks_words(rowid, pack, text) VALUES (new.number, new.pack, new.text); END",
    "CREATE TRIGGER knowledge_chunks_removed AFTER DELETE ON knowledge_chunks BEGIN INSERT INTO "
    "knowledge_chunks_words(knowledge_chunks_words, rowid, pack, text) VALUES ('delete', old.number, old.pack, "
    "old.text); END",
    "CREATE TRIGGER knowledge_chunks_changed AFTER UPDATE OF pack, text ON knowledge_chunks BEGIN INSERT INTO "
    "knowledge_chunks_words(knowledge_chunks_words, rowid, pack, text) VALUES ('delete', old.number, old.pack, "
    "old.text); INSERT INTO knowledge_chunks_words(rowid, pack, text) VALUES (new.number, new.pack, new.text); END",
)
"""Indexes of SQLite and what fills them. PostgreSQL's come with 0036, but for that of letters."""
LETTERS = "CREATE INDEX memories_letters ON memories USING gin (text gin_trgm_ops)"


def _words(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]


def _id(name: str) -> sa.Column[str]:
    return sa.Column(name, Id, nullable=False)


def _maybe_words(name: str) -> sa.Column[str | None]:
    return sa.Column(name, sa.Text(), nullable=True)


def _maybe_number(name: str) -> sa.Column[int | None]:
    return sa.Column(name, sa.BigInteger(), nullable=True)


def _serial() -> sa.Column[int]:
    return sa.Column("number", Serial, autoincrement=True, nullable=False)


def _vector() -> list[sa.Column[object]]:
    return [
        sa.Column("dims", sa.BigInteger(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
    ]


def _key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=op.f(f"pk_{table}"))


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=op.f(f"uq_{table}_{'_'.join(columns)}"))


def _partial(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    predicate = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=predicate, postgresql_where=predicate)


def upgrade() -> None:
    _memories()
    _beside_memories()
    _knowledge()
    _full_text()


def _memories() -> None:
    op.create_table(
        "memories",
        _serial(),
        _id("id"),
        *_words("agent", "scope", "reach", "kind", "subject", "relation", "object"),
        *_words("subject_key", "relation_key", "object_key", "text", "trust"),
        *_numbers("importance", "pinned"),
        _maybe_words("source_signal"),
        _maybe_words("source_run"),
        _maybe_number("source_step"),
        _maybe_words("by_person"),
        *_numbers("valid_from"),
        _maybe_number("valid_to"),
        _maybe_words("superseded_by"),
        _maybe_number("expires_at"),
        *_numbers("uses"),
        _maybe_number("used_at"),
        *_words("hash"),
        *_numbers("created_at"),
        _key("memories", "number"),
        _unique("memories", "id"),
    )
    op.create_index("ix_memories_reach", "memories", ["reach", "created_at"])
    op.create_index("ix_memories_subject", "memories", ["reach", "subject_key", "relation_key"])
    op.create_index("ix_memories_object", "memories", ["reach", "object_key"])
    value = ["reach", "subject_key", "relation_key"]
    _partial("ix_memories_value", "memories", value, ONE_VALUE, unique=True)
    _partial("ix_memories_same", "memories", ["reach", "hash"], "valid_to IS NULL", unique=True)
    _partial("ix_memories_ended", "memories", ["superseded_by"], "superseded_by IS NOT NULL")
    _partial("ix_memories_expiring", "memories", ["expires_at"], "expires_at IS NOT NULL")
    _partial("ix_memories_person", "memories", ["by_person"], "by_person IS NOT NULL")


def _beside_memories() -> None:
    op.create_table(
        "memory_vectors",
        _id("memory_id"),
        *_words("model", "reach"),
        *_vector(),
        _key("memory_vectors", "memory_id", "model"),
    )
    op.create_index("ix_memory_vectors_reach", "memory_vectors", ["reach", "model", "memory_id"])
    op.create_table(
        "memory_uses",
        _id("run_id"),
        _id("memory_id"),
        *_numbers("rank"),
        *_words("how"),
        *_numbers("at"),
        _key("memory_uses", "run_id", "memory_id"),
    )
    op.create_index("ix_memory_uses_memory", "memory_uses", ["memory_id"])
    op.create_table(
        "person_summaries",
        *_words("person_id", "agent", "text"),
        *_numbers("enabled"),
        _maybe_words("changed_by"),
        *_numbers("changed_at"),
        _key("person_summaries", "person_id", "agent"),
    )
    op.create_table(
        "state_values",
        *_words("reach", "key", "agent", "scope", "value"),
        *_numbers("version", "changed_at"),
        _key("state_values", "reach", "key"),
    )
    op.create_table("forgotten", _id("id"), *_numbers("at"), _key("forgotten", "id"))


def _knowledge() -> None:
    op.create_table(
        "knowledge_documents",
        _id("id"),
        *_words("pack", "place", "title", "tag", "digest"),
        *_numbers("characters"),
        *_words("fault"),
        *_numbers("seen_at"),
        _maybe_number("read_at"),
        _key("knowledge_documents", "id"),
        _unique("knowledge_documents", "pack", "place"),
    )
    op.create_table(
        "knowledge_chunks",
        _serial(),
        _id("id"),
        *_words("document_id", "pack"),
        *_numbers("ordinal"),
        *_words("heading"),
        *_numbers("first_line", "last_line"),
        *_words("text"),
        _key("knowledge_chunks", "number"),
        _unique("knowledge_chunks", "id"),
    )
    op.create_index("ix_knowledge_chunks_document", "knowledge_chunks", ["document_id", "ordinal"])
    op.create_index("ix_knowledge_chunks_pack", "knowledge_chunks", ["pack"])
    op.create_table(
        "knowledge_vectors",
        _id("chunk_id"),
        *_words("model", "pack"),
        *_vector(),
        _key("knowledge_vectors", "chunk_id", "model"),
    )
    op.create_index("ix_knowledge_vectors_pack", "knowledge_vectors", ["pack", "model"])


def _full_text() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for statement in FULL_TEXT:
            op.execute(statement)
        return
    op.execute(TRY_TRIGRAMS)
    if op.get_bind().execute(sa.text(HAS_TRIGRAMS)).first() is not None:
        op.execute(LETTERS)
