import json

import pytest

from core.adapters.analyzer import ANALYZER
from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.probing import probe_analyzer, probe_name
from core.errors import StoreError
from tests.core.adapters.store_material import StorePorts, a_fingerprint

pytestmark = pytest.mark.milvus


def collections(connection: MilvusConnection) -> list[str]:
    return connection.call(lambda client: client.list_collections(), "listing")


def test_the_default_analyzer_passes_and_leaves_nothing_behind(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    """mil-27."""
    before = collections(file_connection)
    probe_analyzer(file_connection, file_store.collection, ANALYZER)
    assert collections(file_connection) == before


@pytest.mark.parametrize(
    ("analyzer", "message"),
    [
        ({"tokenizer": "standard"}, r"'数据库' must find '数据库连接池耗尽' and found nothing"),
        ({"tokenizer": "chinese"}, "unknown tokenizer"),
        ({"type": "english"}, "unknown tokenizer"),
    ],
)
def test_an_analyzer_that_does_not_serve_stops_the_build(
    file_connection: MilvusConnection, file_store: StorePorts, analyzer: dict[str, str], message: str
) -> None:
    """mil-27: an error at creation, not a silent default."""
    fingerprint = a_fingerprint(analyzer=json.dumps(analyzer))
    before = collections(file_connection)
    with pytest.raises(StoreError, match=message):
        file_store.builds.create(file_store.name("1"), fingerprint, expected_rows=1)
    assert collections(file_connection) == before


def test_what_an_interrupted_trial_left_is_cleared_away(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    left = probe_name(file_store.collection)
    file_connection.call(
        lambda client: client.create_collection(left, dimension=4), "leaving something behind"
    )
    file_store.builds.create(file_store.name("1"), a_fingerprint(), expected_rows=1)
    assert left not in collections(file_connection)
