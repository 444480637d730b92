"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "name", name=op.f("pk_accounts")),
    )
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("effect", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("arguments_hash", sa.Text(), nullable=False),
        sa.Column("policy_version", sa.Text(), nullable=False),
        sa.Column("caution", sa.Text(), nullable=False),
        sa.Column("requester", sa.Text(), nullable=True),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_name", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("choice", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
    )
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.create_index("ix_approvals_asked", ["asked_at"], unique=False)
        batch_op.create_index(
            "ix_approvals_pending",
            ["expires_at"],
            unique=False,
            sqlite_where=sa.text("state = 'pending'"),
            postgresql_where=sa.text("state = 'pending'"),
        )
        batch_op.create_index("ix_approvals_run", ["run_id"], unique=False)

    op.create_table(
        "audit",
        sa.Column("entry", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("entry", name=op.f("pk_audit")),
        sa.UniqueConstraint("number", name=op.f("uq_audit_number")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(
            "ix_audit_unsealed",
            ["entry"],
            unique=False,
            sqlite_where=sa.text("number IS NULL"),
            postgresql_where=sa.text("number IS NULL"),
        )

    op.create_table(
        "deliveries",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("edits", sa.Text(), nullable=True),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("settled_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("id", name=op.f("uq_deliveries_id")),
        sa.UniqueConstraint("origin", "ordinal", name=op.f("uq_deliveries_origin_ordinal")),
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index("ix_deliveries_address", ["address", "created_at"], unique=False)
        batch_op.create_index("ix_deliveries_created", ["created_at"], unique=False)
        batch_op.create_index(
            "ix_deliveries_open",
            ["address", "rank", "number"],
            unique=False,
            sqlite_where=sa.text("state IN ('queued', 'open')"),
            postgresql_where=sa.text("state IN ('queued', 'open')"),
        )
        batch_op.create_index(
            "ix_deliveries_rooms",
            ["channel", "account", "address"],
            unique=False,
            sqlite_where=sa.text("state IN ('queued', 'open')"),
            postgresql_where=sa.text("state IN ('queued', 'open')"),
        )

    op.create_table(
        "identities",
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("identity", name=op.f("pk_identities")),
    )
    with op.batch_alter_table("identities", schema=None) as batch_op:
        batch_op.create_index("ix_identities_person", ["person_id"], unique=False)

    op.create_table(
        "nodes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_nodes")),
    )
    with op.batch_alter_table("nodes", schema=None) as batch_op:
        batch_op.create_index(
            "ix_nodes_live",
            ["expires_at"],
            unique=False,
            sqlite_where=sa.text("state = 'live'"),
            postgresql_where=sa.text("state = 'live'"),
        )

    op.create_table(
        "parts",
        sa.Column("delivery_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("fallback", sa.Text(), nullable=True),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("marked_at", sa.BigInteger(), nullable=True),
        sa.Column("looks", sa.BigInteger(), nullable=False),
        sa.Column("repeat_mark", sa.BigInteger(), nullable=False),
        sa.Column("receipt", sa.Text(), nullable=True),
        sa.Column("shown_at", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("delivery_id", "ordinal", name=op.f("pk_parts")),
    )
    with op.batch_alter_table("parts", schema=None) as batch_op:
        batch_op.create_index(
            "ix_parts_marked",
            ["delivery_id"],
            unique=False,
            sqlite_where=sa.text("state = 'marked'"),
            postgresql_where=sa.text("state = 'marked'"),
        )

    op.create_table(
        "people",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.BigInteger(), nullable=False),
        sa.Column("link_hash", sa.Text(), nullable=True),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("link_hash", name=op.f("uq_people_link_hash")),
        sa.UniqueConstraint("name", name=op.f("uq_people_name")),
    )
    op.create_table(
        "roles",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_roles")),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("requester", sa.Text(), nullable=True),
        sa.Column("claims", sa.BigInteger(), nullable=False),
        sa.Column("iterations", sa.BigInteger(), nullable=False),
        sa.Column("next_step", sa.BigInteger(), nullable=False),
        sa.Column("stop", sa.BigInteger(), nullable=False),
        sa.Column("last_turn", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ready_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index(
            "ix_runs_open",
            ["session"],
            unique=False,
            sqlite_where=sa.text("state IN ('running', 'parked', 'ready')"),
            postgresql_where=sa.text("state IN ('running', 'parked', 'ready')"),
        )
        batch_op.create_index(
            "ix_runs_ready",
            ["session", "ready_at"],
            unique=False,
            sqlite_where=sa.text("state = 'ready'"),
            postgresql_where=sa.text("state = 'ready'"),
        )
        batch_op.create_index("ix_runs_started", ["started_at"], unique=False)
        batch_op.create_index(
            "uq_runs_live",
            ["session"],
            unique=True,
            sqlite_where=sa.text("state = 'running'"),
            postgresql_where=sa.text("state = 'running'"),
        )

    op.create_table(
        "sessions",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("waiting", sa.BigInteger(), nullable=False),
        sa.Column("resumable", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("next_turn", sa.BigInteger(), nullable=False),
        sa.Column("ready_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_sessions")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(
            "ix_sessions_owner",
            ["owner"],
            unique=False,
            sqlite_where=sa.text("state = 'running'"),
            postgresql_where=sa.text("state = 'running'"),
        )
        batch_op.create_index(
            "ix_sessions_ready",
            ["ready_at"],
            unique=False,
            sqlite_where=sa.text("state = 'ready'"),
            postgresql_where=sa.text("state = 'ready'"),
        )

    op.create_table(
        "signals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("dedupe_key", sa.Text(), nullable=False),
        sa.Column("natural_key", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("urgency", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=True),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("files", sa.Text(), nullable=False),
        sa.Column("words_hash", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("seq", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("merged_into", sa.Text(), nullable=True),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("accepted_at", sa.BigInteger(), nullable=False),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signals")),
        sa.UniqueConstraint("platform", "dedupe_key", name=op.f("uq_signals_platform_dedupe_key")),
        sa.UniqueConstraint("platform", "natural_key", name=op.f("uq_signals_platform_natural_key")),
    )
    with op.batch_alter_table("signals", schema=None) as batch_op:
        batch_op.create_index(
            "ix_signals_actor",
            ["actor", "accepted_at"],
            unique=False,
            sqlite_where=sa.text("kind = 'said' AND state <> 'refused'"),
            postgresql_where=sa.text("kind = 'said' AND state <> 'refused'"),
        )
        batch_op.create_index(
            "ix_signals_merged",
            ["merged_into"],
            unique=False,
            sqlite_where=sa.text("merged_into IS NOT NULL"),
            postgresql_where=sa.text("merged_into IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_signals_run",
            ["run_id"],
            unique=False,
            sqlite_where=sa.text("run_id IS NOT NULL"),
            postgresql_where=sa.text("run_id IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_signals_said",
            ["address", "accepted_at"],
            unique=False,
            sqlite_where=sa.text("kind = 'said' AND state <> 'refused'"),
            postgresql_where=sa.text("kind = 'said' AND state <> 'refused'"),
        )
        batch_op.create_index(
            "ix_signals_unanswered",
            ["session", "words_hash"],
            unique=False,
            sqlite_where=sa.text("kind = 'said' AND answered_at IS NULL"),
            postgresql_where=sa.text("kind = 'said' AND answered_at IS NULL"),
        )
        batch_op.create_index(
            "ix_signals_waiting",
            ["session", "seq"],
            unique=False,
            sqlite_where=sa.text("state = 'waiting'"),
            postgresql_where=sa.text("state = 'waiting'"),
        )

    op.create_table(
        "steps",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("effect", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("arguments_hash", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("caution", sa.Text(), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_steps")),
    )
    op.create_table(
        "turns",
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("calls", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("session", "number", name=op.f("pk_turns")),
    )
    op.create_table(
        "usage",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "step", name=op.f("pk_usage")),
    )
    op.create_table(
        "votes",
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.Column("choice", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("approval_id", "person_id", name=op.f("pk_votes")),
    )


def downgrade() -> None:
    op.drop_table("votes")
    op.drop_table("usage")
    op.drop_table("turns")
    op.drop_table("steps")
    with op.batch_alter_table("signals", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_signals_waiting",
            sqlite_where=sa.text("state = 'waiting'"),
            postgresql_where=sa.text("state = 'waiting'"),
        )
        batch_op.drop_index(
            "ix_signals_unanswered",
            sqlite_where=sa.text("kind = 'said' AND answered_at IS NULL"),
            postgresql_where=sa.text("kind = 'said' AND answered_at IS NULL"),
        )
        batch_op.drop_index(
            "ix_signals_said",
            sqlite_where=sa.text("kind = 'said' AND state <> 'refused'"),
            postgresql_where=sa.text("kind = 'said' AND state <> 'refused'"),
        )
        batch_op.drop_index(
            "ix_signals_run", sqlite_where=sa.text("run_id IS NOT NULL"), postgresql_where=sa.text("run_id IS NOT NULL")
        )
        batch_op.drop_index(
            "ix_signals_merged",
            sqlite_where=sa.text("merged_into IS NOT NULL"),
            postgresql_where=sa.text("merged_into IS NOT NULL"),
        )
        batch_op.drop_index(
            "ix_signals_actor",
            sqlite_where=sa.text("kind = 'said' AND state <> 'refused'"),
            postgresql_where=sa.text("kind = 'said' AND state <> 'refused'"),
        )

    op.drop_table("signals")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_sessions_ready", sqlite_where=sa.text("state = 'ready'"), postgresql_where=sa.text("state = 'ready'")
        )
        batch_op.drop_index(
            "ix_sessions_owner",
            sqlite_where=sa.text("state = 'running'"),
            postgresql_where=sa.text("state = 'running'"),
        )

    op.drop_table("sessions")
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_runs_live", sqlite_where=sa.text("state = 'running'"), postgresql_where=sa.text("state = 'running'")
        )
        batch_op.drop_index("ix_runs_started")
        batch_op.drop_index(
            "ix_runs_ready", sqlite_where=sa.text("state = 'ready'"), postgresql_where=sa.text("state = 'ready'")
        )
        batch_op.drop_index(
            "ix_runs_open",
            sqlite_where=sa.text("state IN ('running', 'parked', 'ready')"),
            postgresql_where=sa.text("state IN ('running', 'parked', 'ready')"),
        )

    op.drop_table("runs")
    op.drop_table("roles")
    op.drop_table("people")
    with op.batch_alter_table("parts", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_parts_marked", sqlite_where=sa.text("state = 'marked'"), postgresql_where=sa.text("state = 'marked'")
        )

    op.drop_table("parts")
    with op.batch_alter_table("nodes", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_nodes_live", sqlite_where=sa.text("state = 'live'"), postgresql_where=sa.text("state = 'live'")
        )

    op.drop_table("nodes")
    with op.batch_alter_table("identities", schema=None) as batch_op:
        batch_op.drop_index("ix_identities_person")

    op.drop_table("identities")
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_deliveries_rooms",
            sqlite_where=sa.text("state IN ('queued', 'open')"),
            postgresql_where=sa.text("state IN ('queued', 'open')"),
        )
        batch_op.drop_index(
            "ix_deliveries_open",
            sqlite_where=sa.text("state IN ('queued', 'open')"),
            postgresql_where=sa.text("state IN ('queued', 'open')"),
        )
        batch_op.drop_index("ix_deliveries_created")
        batch_op.drop_index("ix_deliveries_address")

    op.drop_table("deliveries")
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_audit_unsealed", sqlite_where=sa.text("number IS NULL"), postgresql_where=sa.text("number IS NULL")
        )

    op.drop_table("audit")
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.drop_index("ix_approvals_run")
        batch_op.drop_index(
            "ix_approvals_pending",
            sqlite_where=sa.text("state = 'pending'"),
            postgresql_where=sa.text("state = 'pending'"),
        )
        batch_op.drop_index("ix_approvals_asked")

    op.drop_table("approvals")
    op.drop_table("accounts")
