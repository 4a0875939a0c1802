"""Dense, BM25 and hybrid on judged queries, as one table.

In: a query set, and the live base or documents beside the queries. Out: text. Invariants: the live
base is never written; documents beside the queries go into a base of their own in the data folder, so
the same folder is indexed once; that base holds what the folder holds now, and nothing else.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from core import wiring
from core.cli.connecting import services
from core.cli.files import read_paths
from core.cli.keeping import progress_line
from core.cli.printing import files_text
from core.cli.reporting import report
from core.errors import CollectionMismatch
from core.evaluation.query_sets import Query, QuerySet
from core.evaluation.reading import read_query_set
from core.evaluation.running import Rank, evaluate
from core.indexing.base import require_fitting_live_build, upload_limit_bytes
from core.indexing.building import rebuild
from core.indexing.deleting import delete_documents
from core.indexing.reports import IndexReport
from core.indexing.uploading import index_files
from core.model.documents import DEFAULT_KB_SCOPE
from core.model.search import SearchHit, SearchMode
from core.retrieval.query import normalise_query
from core.settings import Settings, load_settings
from core.wiring import Services

RAW = "raw"
K = 10
LONGEST_MAIN_NAME = 170
"""Leaves room for the key, which tells the folders apart, and for the time in the name of a build."""


def evaluate_path(path: Path, *, live: bool) -> str:
    """Measure the query set at a path.

    Args:
        path: a JSON Lines file, or a folder with `queries.jsonl` and `qrels.tsv`.
        live: ask the live base even when the folder has documents of its own under `raw/`.

    Raises:
        QuerySetInvalid: the files have faults; lists the lines.
        StoreError: the base cannot be asked.
    """
    query_set = read_query_set(path)
    own_documents = path / RAW
    if live or not own_documents.is_dir():
        with services() as connected:
            return _measured(connected, query_set)
    with own_base(own_documents) as connected:
        indexed = follow(connected, own_documents)
        return f"{files_text(indexed)}\n\n{_measured(connected, query_set)}"


def _measured(connected: Services, query_set: QuerySet) -> str:
    documents = [document.name for document in connected.catalog.documents()]
    with progress_line() as progress:
        evaluations = {
            name: evaluate(query_set, rank, K, documents=documents, progress=partial(progress, name))
            for name, rank in _configurations(connected).items()
        }
    return report(evaluations)


def _configurations(connected: Services) -> dict[str, Rank]:
    """Rank by each route alone and by the fused list, before any limit on what is returned.

    Dense and hybrid run under the configured filter policy, as an agent meets them; BM25 alone has no
    policy, so a wrong category stays.
    """

    def by_mode(mode: SearchMode) -> Rank:
        def rank(query: Query) -> tuple[str, ...]:
            configuration = replace(connected.configuration, mode=mode, category=query.category)
            # A category that no document has is part of the question here, not a slip of the pen.
            result = connected.lookup(query.text, configuration, trace=False, require_known_category=False)
            return _sources(result.retrieval.chosen.hits)

        return rank

    def by_bm25(query: Query) -> tuple[str, ...]:
        asked = replace(connected.configuration, category=query.category)
        request = asked.request(normalise_query(query.text), category_filter=asked.category)
        return _sources(connected.live.search_sparse(request).hits)

    return {"dense": by_mode(SearchMode.DENSE), "BM25": by_bm25, "hybrid": by_mode(SearchMode.HYBRID)}


def _sources(hits: tuple[SearchHit, ...]) -> tuple[str, ...]:
    return tuple(hit.source for hit in hits if hit.source is not None)


@contextmanager
def own_base(folder: Path) -> Iterator[Services]:
    """Connect to the base that belongs to a folder of documents, in the data folder of the settings.

    Raises:
        StoreUnavailable: it cannot be opened.
    """
    main = load_settings()
    connected = wiring.build(_own_settings(main, folder), model_dir=main.data_dir)
    try:
        yield connected
    finally:
        connected.close()


def follow(connected: Services, folder: Path) -> IndexReport:
    """Bring the base to what the folder holds: index what changed, delete what is no longer there.

    Raises:
        FileRefused: the folder cannot be read or holds no file.
        StoreError: the base cannot be written.
    """
    base = connected.base
    found = read_paths(
        [folder],
        category="",
        category_from_folder=True,
        kb_scope=DEFAULT_KB_SCOPE,
        limit_bytes=upload_limit_bytes(base),
    )
    with progress_line() as progress:
        try:
            require_fitting_live_build(base)
        except CollectionMismatch:
            # Nobody else uses this base, so it simply follows the settings.
            rebuild(base, progress, leave_out_unreadable=True)
        indexed = index_files(base, found.files, progress)
    there = {file.doc_id for file in indexed.files}
    gone = [row.doc_id for row in connected.catalog.documents() if row.doc_id not in there]
    delete_documents(base, gone)
    return replace(indexed, files=(*indexed.files, *found.refused))


def _own_settings(main: Settings, folder: Path) -> Settings:
    """Give a folder its own data folder, and on a server its own collection name."""
    key = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    milvus = main.milvus.model_copy(
        update={
            "uri": "" if main.is_local else main.milvus.uri,
            "collection": f"{main.milvus.collection[:LONGEST_MAIN_NAME]}_evaluation_{key}",
        }
    )
    data_dir = main.data_dir / "evaluation" / f"{folder.resolve().parent.name}-{key}"
    return main.model_copy(update={"data_dir": data_dir, "milvus": milvus})
