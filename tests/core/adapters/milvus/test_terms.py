"""Terms on Milvus: beside the reference, on builds of other analyzers, and as a server is asked."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest
from pymilvus import DataType

from core.adapters.milvus import terms
from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.searcher import MilvusSearcher
from core.adapters.milvus.stored import read_stored
from core.errors import HybridUnsupported, StoreError
from core.model.documents import chunk_id
from core.model.token_lens import Term, kept_terms
from core.retrieval.token_lens import look_through
from tests.core.adapters.congruence_material import QUERIES, corpus, filled_memory
from tests.core.adapters.store_material import StorePorts, a_fingerprint, ask, texts

pytestmark = pytest.mark.milvus

TOLERANCE = 1e-3
FIRST = chunk_id("default/a.md", 0)
MADE_IN_CONTEXT = "设为零"
"""Cut into 设为 and 零, but 设为 alone is cut into 设 and 为."""


def test_milvus_weighs_terms_as_the_reference_does_and_parts_add_up(file_store: StorePorts) -> None:
    chunks = corpus()
    reference, milvus = filled_memory(chunks, "COSINE"), file_store.filled("1", chunks)
    compared = 0
    for query in QUERIES:
        asked = reference.terms(query)
        assert milvus.terms(query) == asked
        times = Counter(kept_terms(asked))
        frequencies = milvus.document_frequencies(tuple(times))
        assert frequencies == reference.document_frequencies(tuple(times))
        for hit in milvus.search_sparse(ask(query, retrieve_k=3)).hits:
            expected, found = reference.match_terms(query, hit.id), milvus.match_terms(query, hit.id)
            assert expected is not None
            assert found is not None
            assert hit.sparse is not None
            assert found.search_text == expected.search_text
            assert found.unit_scores == pytest.approx(expected.unit_scores, abs=TOLERANCE)
            total = sum(times[term] * unit for term, unit in found.unit_scores.items() if unit is not None)
            assert total == pytest.approx(hit.sparse.score, abs=TOLERANCE)
            compared += len(found.unit_scores)
    assert compared > 60, compared


def test_a_term_that_only_its_context_makes_is_not_known_and_takes_what_the_others_leave(
    file_store: StorePorts,
) -> None:
    searcher = file_store.filled("1", texts(MADE_IN_CONTEXT, "零 cpu", "disk"))
    match = searcher.match_terms(MADE_IN_CONTEXT, FIRST)
    assert match is not None
    assert match.unit_scores["设为"] is None
    assert searcher.document_frequencies(("设为", "零")) == {"设为": None, "零": 2}
    chunk = look_through(searcher, MADE_IN_CONTEXT, "default/a.md#chunk-0").chunk
    assert chunk is not None
    # Two terms each in the first two rows, one in the third: mean length 5/3.
    once = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (5 / 3)))
    assert [term.part for term in chunk.shared] == pytest.approx(
        [0.980829 * once, 0.470004 * once], abs=TOLERANCE
    )


def test_two_terms_that_only_their_context_makes_stay_unknown(file_store: StorePorts) -> None:
    searcher = file_store.filled("1", texts("通知负责人", "cpu"))
    chunk = look_through(searcher, "通知负责人", "default/a.md#chunk-0").chunk
    assert chunk is not None
    known = {term.text: term.part is not None for term in chunk.shared}
    assert known == {"通知": True, "负责": True, "责人": False, "负责人": False}
    # All four stand once in one chunk of two, so each is worth a quarter.
    assert chunk.unexplained == pytest.approx(chunk.score / 2, abs=TOLERANCE)


def test_a_term_in_more_rows_than_a_search_returns_is_not_counted(
    file_store: StorePorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = file_store.filled("1", texts("disk full", "disk", "disk slow"))
    monkeypatch.setattr(terms, "MOST_ROWS", 3)
    assert searcher.document_frequencies(("disk", "full")) == {"disk": None, "full": 1}


def test_the_terms_are_those_of_the_build_and_not_of_the_settings(file_store: StorePorts) -> None:
    drops = {"type": "stop", "stop_words": [" ", "disk"]}
    analyzer = json.dumps({"tokenizer": "jieba", "filter": ["lowercase", drops]})
    searcher = file_store.filled("1", texts("The disk"), fingerprint=a_fingerprint(analyzer=analyzer))
    assert searcher.terms("The disk") == (Term("the"), Term("disk", dropped=True))
    match = searcher.match_terms("The disk", FIRST)
    assert match is not None
    assert list(match.unit_scores) == ["the"]


def test_a_build_without_bm25_says_what_is_missing(
    file_connection: MilvusConnection, ports_of: Callable[[MilvusConnection], StorePorts]
) -> None:
    name = ports_of(file_connection).name("dense")

    def create(client) -> None:
        schema = client.create_schema()
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("content", DataType.VARCHAR, max_length=100)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=2)
        indexes = client.prepare_index_params()
        indexes.add_index("vector", index_type="FLAT", metric_type="COSINE")
        client.create_collection(name, schema=schema, index_params=indexes)

    file_connection.call(create, "making a dense collection")
    searcher = MilvusSearcher(file_connection, "any", build=name)
    for ask_terms in (
        lambda: searcher.terms("disk"),
        lambda: searcher.document_frequencies(("disk",)),
        lambda: searcher.match_terms("disk", "i"),
    ):
        with pytest.raises(HybridUnsupported, match="search_text"):
            ask_terms()


def test_a_collection_that_does_not_say_how_it_cuts_is_refused_on_milvus_lite(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    file_store.filled("1", texts("disk"))
    foreign = replace(read_stored(file_connection, file_store.name("1")), fingerprint=None)
    with pytest.raises(StoreError, match="does not say how it cuts"):
        terms.terms_of_text(file_connection, foreign, "disk")


class Server:
    """A Milvus server that runs analyzers: it splits at blanks, and drops `the` and marks when told."""

    timeout_seconds = 7.0

    def __init__(self) -> None:
        self.asked: list[dict[str, object]] = []

    def is_lite(self) -> bool:
        return False

    def call(self, operation, doing: str, *, collection: str = ""):
        return operation(self)

    def run_analyzer(self, given, **where):
        self.asked.append({"texts": given, **where})
        dropped = {"the", "?"} if "collection_name" in where else set()
        return [SimpleNamespace(tokens=[w for w in text.split() if w not in dropped]) for text in given]


def test_a_server_is_asked_how_the_field_is_cut_and_what_it_cuts_before_it_drops(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    file_store.filled("1", texts("disk"))
    stored, server = read_stored(file_connection, file_store.name("1")), Server()
    assert terms.terms_of_text(server, stored, "the disk ?") == (  # type: ignore[arg-type] # a stand-in
        Term("the", dropped=True), Term("disk"), Term("?", dropped=True),
    )  # fmt: skip
    assert server.asked == [
        {"texts": ["the disk ?"], "timeout": 7.0, "collection_name": stored.name,
         "field_name": "search_text"},
        {"texts": ["the disk ?"], "timeout": 7.0,
         "analyzer_params": {"tokenizer": "jieba", "filter": ["lowercase"]}},
    ]  # fmt: skip
    foreign = replace(stored, fingerprint=None)
    assert terms.terms_of_text(server, foreign, "the disk") == (Term("disk"),)  # type: ignore[arg-type] # as above
