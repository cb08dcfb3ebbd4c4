"""Alembic's environment script: migrates over the connection that the caller has opened."""

from alembic import context

from frepo_core.db.migrations import VERSION_TABLE
from frepo_core.db.models import Base

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=context.config.attributes.get("metadata", Base.metadata),
    version_table=context.config.attributes.get("version_table", VERSION_TABLE),
    render_as_batch=connection.dialect.name == "sqlite",
    transaction_per_migration=connection.dialect.name == "postgresql",
    compare_type=True,
    resumes=context.config.attributes.get("resumes", False),
)
with context.begin_transaction():
    context.run_migrations()
