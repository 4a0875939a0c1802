"""The tables work on any database that SQLAlchemy knows, and times keep their zone."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import StatementError
from sqlalchemy.schema import CreateTable

from core.catalog.tables import CONTENTS, JOBS, METADATA, NOTES, UtcDateTime, open_engine
from core.errors import StoreUnavailable


@pytest.mark.parametrize("table", METADATA.sorted_tables, ids=lambda table: table.name)
def test_each_table_can_be_created_on_postgresql(table):
    statement = str(CreateTable(table).compile(dialect=postgresql.dialect()))
    assert statement.strip().startswith(f"CREATE TABLE {table.name}")
    if table not in (NOTES, CONTENTS):
        assert "TIMESTAMP WITH TIME ZONE" in statement


def test_sqlite_is_opened_durable_and_patient(tmp_path):
    engine = open_engine(f"sqlite:///{tmp_path / 'deep' / 'catalog.db'}")
    with engine.connect() as connection:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        values = {name: connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in names}
    engine.dispose()
    assert values == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


def test_opening_twice_keeps_what_is_there(tmp_path):
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    first = open_engine(url)
    with first.begin() as connection:
        connection.execute(insert(NOTES).values(key="a", value="b"))
    first.dispose()
    second = open_engine(url)
    with second.connect() as connection:
        assert connection.execute(select(NOTES.c.value)).scalar_one() == "b"
    second.dispose()


def test_a_time_of_another_zone_comes_back_as_the_same_instant_in_utc():
    shanghai = datetime(2026, 1, 31, 20, 0, tzinfo=timezone(timedelta(hours=8)))
    kept = UtcDateTime().process_bind_param(shanghai, postgresql.dialect())
    assert kept == datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
    without_zone = kept.replace(tzinfo=None)
    assert UtcDateTime().process_result_value(without_zone, postgresql.dialect()) == shanghai


def test_a_time_without_zone_is_refused(tmp_path):
    engine = open_engine(f"sqlite:///{tmp_path / 'catalog.db'}")
    row = {
        "id": "1",
        "kind": "k",
        "title": "t",
        "state": "done",
        "stage": "",
        "done": 0,
        "total": 0,
        "message": "",
        "started_at": datetime(2026, 1, 1),  # noqa: DTZ001 - the fault under test
    }
    with pytest.raises(StatementError, match="has no time zone"), engine.begin() as connection:
        connection.execute(insert(JOBS).values(row))
    engine.dispose()


def test_a_place_that_cannot_be_opened_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match=r"file/catalog\.db cannot be opened"):
        open_engine(f"sqlite:///{tmp_path / 'file' / 'catalog.db'}")


def test_a_password_never_stands_in_the_message(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable) as caught:
        open_engine(f"sqlite://user:secret@/{tmp_path / 'file' / 'catalog.db'}")
    assert "secret" not in str(caught.value)
