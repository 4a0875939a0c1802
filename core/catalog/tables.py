"""Tables of the catalog, and the engine that reaches them.

In: a database URL. Out: an engine whose tables exist. Invariants: no statement or type here is
special to one database; times go in and come out as timezone-aware UTC.
"""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Engine,
    Enum,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from core.catalog.records import BuildState, DocumentState, JobState
from core.errors import StoreUnavailable

BUSY_TIMEOUT_MILLISECONDS = 10_000


class UtcDateTime(TypeDecorator[datetime]):
    """A point in time: aware in, aware UTC out, also on databases that keep no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Turn an aware time into UTC.

        Raises:
            ValueError: the time has no zone; a local time written as UTC would be a wrong time.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no time zone; give an aware time.")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _choice(states: type[StrEnum]) -> Enum:
    # Kept as text with its value, so that a new state needs no change of the database's types.
    return Enum(states, native_enum=False, length=32, values_callable=lambda kind: [s.value for s in kind])


METADATA = MetaData()

DOCUMENTS = Table(
    "documents",
    METADATA,
    Column("doc_id", String(255), primary_key=True),
    Column("name", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("kb_scope", Text, nullable=False),
    Column("original_hash", String(64), nullable=False, index=True),
    Column("content_hash", String(64), nullable=False),
    Column("byte_count", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("uploaded_at", UtcDateTime, nullable=False),
    Column("changed_at", UtcDateTime, nullable=False),
    Column("encoding", String(32)),
    Column("state", _choice(DocumentState), nullable=False),
    Column("chunk_count", Integer),
    Column("build", String(255)),
    Column("indexed_at", UtcDateTime),
)

CONTENTS = Table(
    "build_contents",
    METADATA,
    Column("build", String(255), primary_key=True),
    Column("doc_id", String(255), primary_key=True),
    Column("content_key", String(64), nullable=False),
    Column("chunk_count", Integer, nullable=False),
)

BUILDS = Table(
    "builds",
    METADATA,
    Column("name", String(255), primary_key=True),
    Column("state", _choice(BuildState), nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    Column("documents", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("fingerprint", JSON(none_as_null=True)),
    Column("verification", JSON(none_as_null=True)),
    Column("reason", Text, nullable=False),
)

JOBS = Table(
    "jobs",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("kind", String(64), nullable=False),
    Column("title", Text, nullable=False),
    Column("state", _choice(JobState), nullable=False),
    Column("stage", Text, nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    Column("message", Text, nullable=False),
)

NOTES = Table(
    "notes",
    METADATA,
    Column("key", String(255), primary_key=True),
    Column("value", Text, nullable=False),
)


def open_engine(url: str) -> Engine:
    """Open a database and create the tables that it lacks.

    Args:
        url: of SQLAlchemy, for example `sqlite:////var/lib/ranklens/catalog.db` or
            `postgresql+psycopg://host/ranklens`. The folder of an SQLite file is created.

    Raises:
        StoreUnavailable: the database cannot be opened; the message has its address without password.
    """
    address = make_url(url)
    try:
        if address.get_backend_name() == "sqlite" and address.database:
            Path(address.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(address, pool_pre_ping=True)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _prepare_sqlite)
        METADATA.create_all(engine)
    except (SQLAlchemyError, OSError) as error:
        shown = address.render_as_string(hide_password=True)
        raise StoreUnavailable(
            f"The catalog {shown} cannot be opened: {error} Check that the place exists, can be "
            "written and is not full."
        ) from error
    return engine


def _prepare_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    # FULL: a committed row survives a power cut, which WAL with NORMAL does not promise.
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MILLISECONDS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
