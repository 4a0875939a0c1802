"""Ask a saved question again and compare.

In: a bundle, the live build and its surroundings today. Out: a `Comparison`. Invariant: the saved
configuration is used as it is, so what differs comes from the build, the model, the libraries or the
store.
"""

from core.model.lookup import LookupResult
from core.ports import Embedder, KnowledgeSearchPort
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.navigation import DomainDictionary
from core.retrieval.replay.bundles import Bundle, Surroundings
from core.retrieval.replay.comparing import build_values, changes, differences
from core.retrieval.replay.comparison import Change, Comparison
from core.retrieval.replay.explaining import explain


def replay(
    searcher: KnowledgeSearchPort,
    embedder: Embedder,
    bundle: Bundle,
    surroundings: Surroundings,
    *,
    domains: DomainDictionary | None = None,
) -> Comparison:
    """Run a saved lookup again and say what changed.

    Args:
        searcher: the build to ask.
        embedder: the model that build was made with.
        bundle: the saved lookup.
        surroundings: of that build, today.
        domains: the domain dictionary of today; a bundle names the one it was made with.

    Raises:
        RequestInvalid: the saved query is empty or too long.
        EmbeddingFailed: the model cannot embed it.
        StoreError: no build is published, it does not fit the settings, or the store does not answer.
    """
    result = lookup_knowledge(
        searcher, embedder, bundle.query, bundle.configuration, trace=True, domains=domains
    )
    return compare(bundle, result, surroundings)


def compare(bundle: Bundle, result: LookupResult, surroundings: Surroundings) -> Comparison:
    """Compare a saved lookup with a new result of the same question.

    Args:
        bundle: the saved lookup.
        result: of the same query and configuration, with a trace.
        surroundings: of the build that made the result.
    """
    saved = bundle.surroundings
    found = differences(bundle.result, result)
    build = changes(build_values(saved.build), build_values(surroundings.build))
    settings = changes(saved.settings, surroundings.settings)
    versions = changes(saved.versions, surroundings.versions)
    return Comparison(
        identical=found.none,
        sentence=explain(found, build=build, settings=settings, versions=versions),
        query=bundle.query,
        created_at=bundle.created_at,
        build=build,
        settings=settings,
        versions=versions,
        differences=found,
        milliseconds=_times(bundle.result, result),
    )


def _times(before: LookupResult, after: LookupResult) -> tuple[Change, ...]:
    """List every stage in the order of the line, then those that only the saved one had, then the total."""
    stages = sorted(
        dict.fromkeys((*after.milliseconds, *before.milliseconds)), key=lambda stage: stage == "total"
    )
    return tuple(
        Change(stage, before.milliseconds.get(stage), after.milliseconds.get(stage)) for stage in stages
    )
