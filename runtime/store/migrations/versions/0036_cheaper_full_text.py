"""Full text for less: chunks of knowledge packs need no index of letters, and PostgreSQL translates only what has accents."""

from alembic import op

from runtime.store.sql.full_text import CHUNKS, INDEXED, postgres_statements, trigger_statements

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for name in (CHUNKS.letters, *(one.words for one in INDEXED)):
            op.execute(f"DROP INDEX IF EXISTS {name}")
        for statement in postgres_statements():
            op.execute(statement)
        return
    for name in ("added", "removed", "changed"):
        op.execute(f"DROP TRIGGER knowledge_chunks_{name}")
    op.execute("DROP TABLE IF EXISTS knowledge_chunks_letters")
    for statement in trigger_statements(CHUNKS):
        op.execute(statement)
