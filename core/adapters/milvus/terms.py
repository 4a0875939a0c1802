"""The terms of a build, and what each adds to a BM25 score, asked of the store.

In: a collection and texts. Out: terms as the build's own analyzer makes them, rows counted and scores
by term. Invariant: a count that the store cut short is None, never a number.

Why a server is asked and Milvus Lite is not: a server runs the analyzer of a field on any text; Lite
has no such call, but it is the library in this environment, and makes the same analyzer from the same
parameters.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.adapters.milvus import schema
from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.expressions import equals
from core.adapters.milvus.hits import score_of
from core.adapters.milvus.stored import StoredCollection
from core.adapters.terms import RowScores, aligned, unit_scores
from core.errors import StoreError
from core.model.search import Route
from core.model.token_lens import Term, TermMatch, can_be_searched, kept_terms

if TYPE_CHECKING:
    from pymilvus import MilvusClient

MOST_ROWS = 16_384
"""The most rows that a server returns for one search; a term in more chunks cannot be counted."""

DROPPING_FILTERS = frozenset({"stop", "cnalphanumonly", "cncharonly", "removepunct", "length", "regex"})
"""Filters of Milvus that take whole words out and leave the others as they are."""


def terms_of_text(connection: MilvusConnection, stored: StoredCollection, text: str) -> tuple[Term, ...]:
    """Cut a text as the build does; the dropped words are told where the build says what drops them.

    Raises:
        StoreError: the build does not say how it cuts, or the server cannot be asked.
    """
    (kept,) = _cut(connection, stored, [text])
    if stored.fingerprint is None:
        return tuple(map(Term, kept))
    return aligned(_words(connection, stored.fingerprint.analyzer, text), kept)


def document_frequencies(
    connection: MilvusConnection, stored: StoredCollection, terms: Sequence[str]
) -> dict[str, int | None]:
    """Count the rows that hold each term, by searches that return every row of a text.

    None for a term in 16,384 rows or more, or that the analyzer does not make of the term itself.
    """

    def score(text: str) -> RowScores | None:
        found = _scores(connection, stored, text, "", MOST_ROWS)
        return found if len(found) < MOST_ROWS else None

    rows = unit_scores(terms, lambda texts: _cut(connection, stored, texts), score)
    return {term: None if found is None else len(found) for term, found in rows.items()}


def match_terms(
    connection: MilvusConnection, stored: StoredCollection, query: str, chunk_id: str
) -> TermMatch | None:
    """Say what a query and a row share; None when there is no such row."""
    text = _search_text(connection, stored, chunk_id)
    if text is None:
        return None
    this_row = equals(schema.ID, chunk_id)
    asked = terms_of_text(connection, stored, query)
    held = frozenset(_cut(connection, stored, [text])[0])
    shared = [term for term in dict.fromkeys(kept_terms(asked)) if term in held]
    if not shared or not can_be_searched(asked):
        return TermMatch(text, 0.0, {})

    def score(part: str) -> RowScores:
        return _scores(connection, stored, part, this_row, 1)

    units = unit_scores(shared, lambda texts: _cut(connection, stored, texts), score)
    by_term = {term: None if rows is None else rows.get(chunk_id) for term, rows in units.items()}
    return TermMatch(text, score(query).get(chunk_id, 0.0), by_term)


def _search_text(connection: MilvusConnection, stored: StoredCollection, chunk_id: str) -> str | None:
    def ask(client: "MilvusClient") -> list[Mapping[str, Any]]:
        return list(
            client.query(
                stored.name,
                filter=equals(schema.ID, chunk_id),
                output_fields=[schema.SEARCH_TEXT],
                limit=1,
                consistency_level="Strong",
                timeout=connection.timeout_seconds,
            )
        )

    rows = connection.call(ask, f"reading a chunk of {stored.name}", collection=stored.name)
    return str(rows[0][schema.SEARCH_TEXT]) if rows else None


def _scores(
    connection: MilvusConnection, stored: StoredCollection, text: str, expression: str, limit: int
) -> dict[str, float]:
    """Score rows by BM25; rows without a share of the text are not returned."""

    def ask(client: "MilvusClient") -> dict[str, float]:
        found = client.search(
            stored.name,
            data=[text],
            anns_field=schema.SPARSE_VECTOR,
            search_params={"metric_type": "BM25", "params": {}},
            limit=limit,
            filter=expression,
            output_fields=[],
            timeout=connection.timeout_seconds,
        )
        return {str(row["id"]): score_of(float(row["distance"]), Route.SPARSE, "BM25") for row in found[0]}

    return connection.call(ask, f"weighing a term in {stored.name}", collection=stored.name)


def _cut(
    connection: MilvusConnection, stored: StoredCollection, texts: Sequence[str]
) -> list[tuple[str, ...]]:
    """Cut texts into what the build looks for."""
    if connection.is_lite():
        if stored.fingerprint is None:
            raise StoreError(
                f"Collection {stored.name} does not say how it cuts text, and Milvus Lite cannot be asked. "
                "Rebuild the collection."
            )
        return [_lite_words(stored.fingerprint.analyzer, text) for text in texts]

    def ask(client: "MilvusClient") -> list[tuple[str, ...]]:
        results = client.run_analyzer(
            list(texts),
            collection_name=stored.name,
            field_name=schema.SEARCH_TEXT,
            timeout=connection.timeout_seconds,
        )
        return [tuple(result.tokens) for result in results]

    return connection.call(ask, f"cutting text as {stored.name} does", collection=stored.name)


def _words(connection: MilvusConnection, analyzer: str, text: str) -> tuple[str, ...]:
    """Cut a text as an analyzer does before it drops any word; blanks are no words."""
    parameters = dict(json.loads(analyzer))
    filters = [each for each in parameters.get("filter", []) if _name_of(each) not in DROPPING_FILTERS]
    parameters["filter"] = filters
    if connection.is_lite():
        return _lite_words(json.dumps(parameters), text)

    def ask(client: "MilvusClient") -> tuple[str, ...]:
        (result,) = client.run_analyzer(
            [text], analyzer_params=parameters, timeout=connection.timeout_seconds
        )
        return tuple(word for word in result.tokens if word.strip())

    return connection.call(ask, "cutting text without dropping words")


def _name_of(filter_: object) -> str:
    return str(filter_.get("type")) if isinstance(filter_, dict) else str(filter_)


def _lite_words(analyzer: str, text: str) -> tuple[str, ...]:
    from milvus_lite.analyzer import (  # type: ignore[import-untyped] # no stubs; only a lens needs it
        create_analyzer,
    )

    return tuple(create_analyzer(json.loads(analyzer)).tokenize(text))
