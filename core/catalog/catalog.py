"""The catalog: documents, builds, jobs and notes in a database.

In: frozen records. Out: frozen records. Invariants: one call is one transaction; lists have one
order on every database, because they are ordered here; a document is INDEXED only as long as its
row is the version that was written to the build.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, Table, and_, delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from core.catalog.records import (
    BuildContent,
    BuildRecord,
    CatalogDocument,
    DocumentState,
    JobRecord,
    JobState,
)
from core.catalog.tables import BUILDS, CONTENTS, DOCUMENTS, JOBS, NOTES, open_engine
from core.errors import DocumentMissing, StoreUnavailable
from core.model.builds import Fingerprint, Verification

_NOT_INDEXED: dict[str, object] = {
    "state": DocumentState.STORED,
    "chunk_count": None,
    "build": None,
    "indexed_at": None,
}

INTERRUPTED_MESSAGE = "The process ended while this job ran. Start it again."


def open_catalog(url: str) -> "Catalog":
    """Open the catalog at a database URL and create the tables that it lacks; see `open_engine`."""
    return Catalog(open_engine(url))


class Catalog:
    """A catalog over an open engine; safe to use from several threads.

    Every method raises `StoreUnavailable` when the database cannot be read or written.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    # Documents

    def documents(
        self, kb_scope: str | None = None, category: str | None = None, contains: str | None = None
    ) -> tuple[CatalogDocument, ...]:
        """List documents by doc_id.

        Args:
            kb_scope: None lists all.
            category: None lists all.
            contains: part of the name or the title, without regard to case; None lists all.
        """
        query = select(DOCUMENTS)
        if kb_scope is not None:
            query = query.where(DOCUMENTS.c.kb_scope == kb_scope)
        if category is not None:
            query = query.where(DOCUMENTS.c.category == category)
        with self._transaction() as connection:
            found = [_document(row) for row in connection.execute(query).mappings()]
        # Not in SQL: databases differ in what they call lower case and in their order of text.
        part = (contains or "").casefold()
        kept = (d for d in found if part in d.name.casefold() or part in d.title.casefold())
        return tuple(sorted(kept, key=lambda document: document.doc_id))

    def find_document(self, doc_id: str) -> CatalogDocument | None:
        """Return the document, or None when there is none."""
        with self._transaction() as connection:
            query = select(DOCUMENTS).where(DOCUMENTS.c.doc_id == doc_id)
            row = connection.execute(query).mappings().one_or_none()
        return _document(row) if row else None

    def document(self, doc_id: str) -> CatalogDocument:
        """Return the document.

        Raises:
            DocumentMissing: the catalog has no such document.
        """
        found = self.find_document(doc_id)
        if found is None:
            raise DocumentMissing(
                f'The catalog has no document "{doc_id}". Look for it under Documents; it may have been '
                "deleted or uploaded under another name."
            )
        return found

    def save_document(self, document: CatalogDocument) -> None:
        """Write the row of a document, new or not."""
        self._save(DOCUMENTS, asdict(document))

    def remove_document(self, doc_id: str) -> bool:
        """Remove the row of a document; False when there was none."""
        with self._transaction() as connection:
            done = connection.execute(delete(DOCUMENTS).where(DOCUMENTS.c.doc_id == doc_id))
        return done.rowcount > 0

    def original_in_use(self, original_hash: str) -> bool:
        """Tell whether a document is made of the original with this hash."""
        query = select(func.count()).where(DOCUMENTS.c.original_hash == original_hash)
        with self._transaction() as connection:
            return bool(connection.execute(query).scalar_one())

    # What builds hold

    def contents(self, build: str) -> dict[str, BuildContent]:
        """Return what was written to a build, by doc_id."""
        query = select(CONTENTS.c.doc_id, CONTENTS.c.content_key, CONTENTS.c.chunk_count)
        with self._transaction() as connection:
            rows = connection.execute(query.where(CONTENTS.c.build == build)).all()
        return {row.doc_id: BuildContent(row.doc_id, row.content_key, row.chunk_count) for row in rows}

    def save_contents(self, build: str, contents: Sequence[BuildContent]) -> None:
        """Note what was written to a build; other documents of the build keep their notes."""
        with self._transaction() as connection:
            for content in contents:
                _hold(connection, build, content)

    def remove_contents(self, build: str, doc_ids: Sequence[str] | None = None) -> None:
        """Forget what a build holds of some documents; None forgets the whole build."""
        with self._transaction() as connection:
            for doc_id in [None] if doc_ids is None else doc_ids:
                chosen = CONTENTS.c.build == build
                if doc_id is not None:
                    chosen = and_(chosen, CONTENTS.c.doc_id == doc_id)
                connection.execute(delete(CONTENTS).where(chosen))

    def mark_indexed(
        self, build: str, written: Sequence[tuple[CatalogDocument, int]], now: datetime
    ) -> None:
        """Mark documents INDEXED that were written to the live build, each with its chunk count.

        A row that is another version by now keeps its state; that version was not written.
        """
        with self._transaction() as connection:
            for document, chunk_count in written:
                _hold(connection, build, BuildContent(document.doc_id, document.content_key, chunk_count))
                _update_version(connection, document, _indexed(build, chunk_count, now))

    def mark_live(self, build: str, now: datetime) -> None:
        """Set the state of every document by what the build that is now live holds.

        INDEXED when the build holds the present version, else STORED.
        """
        contents, documents = self.contents(build), self.documents()
        with self._transaction() as connection:
            for document in documents:
                content = contents.get(document.doc_id)
                if content is None or content.content_key != document.content_key:
                    _update_version(connection, document, _NOT_INDEXED)
                elif document.build != build:
                    _update_version(connection, document, _indexed(build, content.chunk_count, now))

    # Builds, jobs, notes

    def record_build(self, record: BuildRecord) -> None:
        """Write the record of a build, new or not."""
        self._save(BUILDS, asdict(record))

    def build_records(self) -> tuple[BuildRecord, ...]:
        """List builds, newest first; within one instant by name, last first."""
        with self._transaction() as connection:
            records = [_build(row) for row in connection.execute(select(BUILDS)).mappings()]
        return tuple(sorted(records, key=lambda record: (record.started_at, record.name), reverse=True))

    def save_job(self, record: JobRecord) -> None:
        """Write the row of a job, new or not."""
        self._save(JOBS, asdict(record))

    def job_record(self, job_id: str) -> JobRecord | None:
        """Return a job, or None when there is none."""
        with self._transaction() as connection:
            row = connection.execute(select(JOBS).where(JOBS.c.id == job_id)).mappings().one_or_none()
        return JobRecord(**dict(row)) if row else None

    def job_records(self, limit: int = 20) -> tuple[JobRecord, ...]:
        """List the newest jobs, newest first."""
        query = select(JOBS).order_by(JOBS.c.started_at.desc(), JOBS.c.id).limit(limit)
        with self._transaction() as connection:
            return tuple(JobRecord(**dict(row)) for row in connection.execute(query).mappings())

    def interrupt_jobs(self, now: datetime) -> int:
        """Mark the jobs that an ended process left active as INTERRUPTED; return how many."""
        active = JOBS.c.state.in_([JobState.QUEUED, JobState.RUNNING])
        values = {"state": JobState.INTERRUPTED, "finished_at": now, "message": INTERRUPTED_MESSAGE}
        with self._transaction() as connection:
            return connection.execute(update(JOBS).where(active).values(values)).rowcount

    def note(self, key: str) -> str | None:
        """Return a note; None when it was never set."""
        with self._transaction() as connection:
            value = connection.execute(select(NOTES.c.value).where(NOTES.c.key == key)).scalar_one_or_none()
        return None if value is None else str(value)

    def set_note(self, key: str, value: str) -> None:
        """Keep a note under a key of at most 255 characters."""
        self._save(NOTES, {"key": key, "value": value})

    def _save(self, table: Table, values: dict[str, Any]) -> None:
        with self._transaction() as connection:
            _update_or_insert(connection, table, values)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            shown = self._engine.url.render_as_string(hide_password=True)
            raise StoreUnavailable(
                f"The catalog {shown} cannot be read or written: {error} Check that it exists, is not "
                "full and is not held by another program."
            ) from error


def _update_or_insert(connection: Connection, table: Table, values: dict[str, Any]) -> None:
    chosen = and_(*(column == values[column.name] for column in table.primary_key))
    if connection.execute(update(table).where(chosen).values(values)).rowcount == 0:
        connection.execute(insert(table).values(values))


def _hold(connection: Connection, build: str, content: BuildContent) -> None:
    _update_or_insert(connection, CONTENTS, {"build": build, **asdict(content)})


def _update_version(connection: Connection, document: CatalogDocument, values: dict[str, object]) -> None:
    columns = [DOCUMENTS.c[name] for name in ("doc_id", "name", "category", "original_hash", "encoding")]
    # `== None` becomes IS NULL, so a row without an encoding is matched too.
    same = and_(*(column == getattr(document, column.name) for column in columns))
    connection.execute(update(DOCUMENTS).where(same).values(values))


def _indexed(build: str, chunk_count: int, now: datetime) -> dict[str, object]:
    return {
        "state": DocumentState.INDEXED,
        "chunk_count": chunk_count,
        "build": build,
        "indexed_at": now,
    }


def _document(row: RowMapping) -> CatalogDocument:
    return CatalogDocument(**dict(row))


def _build(row: RowMapping) -> BuildRecord:
    values = dict(row)
    fingerprint, verification = values.pop("fingerprint"), values.pop("verification")
    if verification:
        verification["probe_failures"] = tuple(verification["probe_failures"])
    return BuildRecord(
        **values,
        fingerprint=Fingerprint(**fingerprint) if fingerprint else None,
        verification=Verification(**verification) if verification else None,
    )
