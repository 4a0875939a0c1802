"""`explain_absence`: where an expected chunk went, and what would keep it.

    question + what is expected -> lookup -> end -> real ranks -> rescues -> Explanation

Invariant: the lookup that is explained is a real one, and so is the lookup behind every rescue.
"""

from collections.abc import Callable
from dataclasses import replace

from core.model.identity import evidence_key
from core.model.lookup import LookupResult
from core.model.search import RouteState, SearchHit
from core.model.why import End, Ending, Explanation, NearMiss, Rescue
from core.ports import Embedder, KnowledgeSearchPort
from core.retrieval.configuration import Configuration
from core.retrieval.filters import MERGED
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.navigation import DomainDictionary
from core.retrieval.why.changing import trials
from core.retrieval.why.expecting import Target, clean_expected, find_target
from core.retrieval.why.locating import locate
from core.retrieval.why.recorded import RecordedSearcher, record
from core.retrieval.why.rescuing import Case, rescue
from core.retrieval.why.sentences import (
    ending_sentence,
    missing_sentence,
    other_scope_sentence,
    outlook_sentence,
)
from core.retrieval.why.standing import Found, routes_of, stand


def explain_absence(
    searcher: KnowledgeSearchPort,
    embedder: Embedder,
    query: str,
    expected: str,
    configuration: Configuration,
    *,
    domains: DomainDictionary | None = None,
    in_catalog: Callable[[str], bool] | None = None,
) -> Explanation:
    """Say which stage lost a chunk, by how much, and which single change of a setting keeps it.

    Cost: one traced lookup; to find real ranks and replay changes at most ten deeper lists for each of
    two routes under each of two filters, none beyond 1,000 hits; at most three lookups without a trace
    for each changeable setting (at most twelve), to check what was replayed.

    Limits of the search for rescues: `retrieve_k` up to the deepest rank that a route has for the chunk
    and at least as far up as down; `rrf_k` 1 to 1,000; weights in steps of 0.01; at most 200 replayed
    lookups for one setting. For every integer setting the smallest change within these limits is taken
    first; the budget grows by what the chunk lacks.

    Args:
        searcher: the build to ask.
        embedder: the model the build was made with; asked for the query's vector again for each check.
        query: 1 to 2,000 characters after NFKC and trimming.
        expected: an evidence key, a doc_id or a file name; of a document any chunk counts.
        configuration: of the lookup that is to be explained.
        domains: the domain dictionary that the lookup uses; None has none.
        in_catalog: tells of a doc_id or file name whether the catalog has it; asked only when the build
            does not hold it. None cannot tell.

    Raises:
        RequestInvalid: the query is empty or too long, or `expected` cannot name a chunk or a document.
        EmbeddingFailed: the model cannot embed the query.
        StoreError: no build is published, it does not fit the settings, or the store does not answer.
    """
    name = clean_expected(expected)
    result = lookup_knowledge(searcher, embedder, query, configuration, trace=True, domains=domains)
    target = find_target(searcher, name, configuration.kb_scope, result)
    if not target.rows:
        return _not_there(result, target, name, configuration, in_catalog)
    case = Case(
        searcher=searcher,
        embedder=embedder,
        domains=domains,
        recorded=_recorded(searcher, embedder, result),
        result=result,
        configuration=configuration,
        rows=target.rows,
        ending=locate(result, target.rows),
    )
    return _explained(case, target, name)


def _recorded(searcher: KnowledgeSearchPort, embedder: Embedder, result: LookupResult) -> RecordedSearcher:
    vector = embedder.embed_query(result.query)
    return record(searcher, vector, result.retrieval.attempts, searcher.identify().metric)


def _explained(case: Case, target: Target, name: str) -> Explanation:
    result, configuration = case.result, case.configuration
    category = _filter_of(result, target, case.ending)
    request = configuration.request(result.query, category_filter=category)
    routes = routes_of(request)
    firsts = [stand(case.recorded, request, route, target.keys) for route in routes]
    ending = _with_best_rank(case.ending, firsts)
    key = str(ending.evidence_key)
    standings = tuple(stand(case.recorded, request, route, (key,)).standing for route in routes)
    failed = any(standing.state is RouteState.FAILED for standing in standings)
    rescues: tuple[Rescue, ...] = ()
    nearest: NearMiss | None = None
    if ending.end is not End.KEPT and not failed:
        deepest = max(place.rank or 0 for place in (*standings, *(found.standing for found in firsts)))
        tried = trials(result, configuration, target.keys, deepest)
        rescues, nearest = rescue(replace(case, ending=ending), tried)
    asked = result.retrieval.chosen.category_filter
    return Explanation(
        query=result.query,
        expected=name,
        configuration_hash=result.configuration_hash,
        build=result.build,
        evidence_keys=target.keys,
        document_chunks=target.document_chunks,
        in_catalog=None,
        ending=ending,
        category_filter=category,
        standings=standings,
        rescues=rescues,
        nearest=nearest,
        sentence=ending_sentence(ending, standings, configuration, asked),
        outlook=outlook_sentence(ending.end, len(rescues), near=nearest is not None, failed=failed),
    )


def _not_there(
    result: LookupResult,
    target: Target,
    name: str,
    configuration: Configuration,
    in_catalog: Callable[[str], bool] | None,
) -> Explanation:
    known: bool | None = None
    if target.elsewhere:
        end = End.OTHER_SCOPE
        sentence = other_scope_sentence(name, result.build, configuration.kb_scope)
    else:
        end = End.NOT_IN_BUILD
        if in_catalog is not None and not target.document_chunks:
            known = in_catalog(target.document)
        sentence = missing_sentence(
            name, result.build, target.document, target.document_chunks, in_catalog=known
        )
    return Explanation(
        query=result.query,
        expected=name,
        configuration_hash=result.configuration_hash,
        build=result.build,
        evidence_keys=(),
        document_chunks=target.document_chunks,
        in_catalog=known,
        ending=Ending(end),
        category_filter=result.retrieval.chosen.category_filter,
        standings=(),
        rescues=(),
        nearest=None,
        sentence=sentence,
        outlook=outlook_sentence(end, 0, near=False, failed=False),
    )


def _filter_of(result: LookupResult, target: Target, ending: Ending) -> str | None:
    """Choose the filter under which ranks are told: that of the chosen attempt when it admits the chunk.

    Merged attempts rank a chunk of the category within it, where it stands better.
    """
    chosen = result.retrieval.chosen
    by_key = {evidence_key(row): row for row in target.rows}
    row: SearchHit = by_key[str(ending.evidence_key)]
    asked = chosen.category_filter
    if chosen.name == MERGED:
        asked = next((it.category_filter for it in result.retrieval.attempts if it.category_filter), None)
    return asked if asked == row.category else None


def _with_best_rank(ending: Ending, firsts: list[Found]) -> Ending:
    """Give a chunk that no route listed its best real rank, of all the expected ones."""
    if ending.end is not End.RETRIEVE:
        return ending
    places = [(found.standing.rank, found.key) for found in firsts if found.standing.rank is not None]
    if not places:
        return ending
    rank, key = min(places, key=lambda place: place[0])
    return replace(ending, evidence_key=key, reached=rank)
