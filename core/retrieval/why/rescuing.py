"""The single changes that keep an expected chunk, and the one that comes nearest when none does.

In: a case: one lookup, its recorded lists and the keys expected. Out: `Rescue`s and a `NearMiss`.
Invariant: a rescue held when the real lookup was run with it.

How it is found: the values of one setting are tried in the order of their distance. Each is first
counted out on the recorded order of hits (how many places the chunk lacks), then replayed as a whole
lookup over the recorded lists, and only one that keeps the chunk there is run against the store.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.errors import HybridUnsupported
from core.model.identity import evidence_key
from core.model.lookup import FilterPolicy, LookupResult
from core.model.search import SearchHit, SearchRequest
from core.model.why import Ending, NearMiss, Rescue
from core.ports import Embedder, KnowledgeSearchPort
from core.retrieval.configuration import Configuration
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.navigation import DomainDictionary
from core.retrieval.why.changing import Change, Trials
from core.retrieval.why.locating import locate
from core.retrieval.why.recorded import KnownVector, RecordedSearcher
from core.retrieval.why.sentences import near_miss_sentence, rescue_sentence
from core.retrieval.why.standing import routes_of

MAX_REPLAYS = 200
"""Lookups replayed for one setting; a setting that needs more counts as no rescue."""

MAX_CHECKS = 3
"""Lookups run against the store for one setting."""

FAR = 1_000_000
"""Places that a chunk lacks when no list holds it; one less when only a route lists it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One lookup that did not keep what was expected.

    Attributes:
        rows: the expected chunks; any of them counts.
        recorded: the lists of the lookup, with the query's vector.
        ending: of the lookup as it is.
    """

    searcher: KnowledgeSearchPort
    embedder: Embedder
    domains: DomainDictionary | None
    recorded: RecordedSearcher
    result: LookupResult
    configuration: Configuration
    rows: tuple[SearchHit, ...]
    ending: Ending

    @property
    def keys(self) -> frozenset[str]:
        """The evidence keys of the rows."""
        return frozenset(evidence_key(row) for row in self.rows)

    def replayed(self, configuration: Configuration, *, trace: bool) -> LookupResult:
        """Run a lookup over the recorded lists."""
        known = KnownVector(self.embedder, self.recorded.vector)
        return lookup_knowledge(
            self.recorded, known, self.result.query, configuration, trace=trace, domains=self.domains
        )

    def checked(self, configuration: Configuration) -> LookupResult:
        """Run a lookup against the store."""
        return lookup_knowledge(
            self.searcher,
            self.embedder,
            self.result.query,
            configuration,
            trace=False,
            domains=self.domains,
        )


def rescue(case: Case, tried: Sequence[Trials]) -> tuple[tuple[Rescue, ...], NearMiss | None]:
    """Try every setting.

    Returns:
        Rescues, fewest pieces pushed out first, then the smallest relative change, then the order
        tried; and, when there are none, the change that brings a chunk furthest, if any does.
    """
    rescues: list[Rescue] = []
    missed: list[Change] = []
    for trial in tried:
        try:
            found, near = _try(case, trial)
        except HybridUnsupported:  # a dense-only collection cannot be asked for hybrid mode
            continue
        rescues += found
        missed += near
    rescues.sort(key=_cost)
    return tuple(rescues), None if rescues else _nearest(case, missed)


def kept_keys(result: LookupResult) -> tuple[str, ...]:
    """Return the evidence keys that an agent gets, in their order."""
    return tuple(item.evidence.evidence_key for item in result.packing.packed)


def _cost(found: Rescue) -> tuple[int, float]:
    return len(found.pushed_out), found.relative_change


def _try(case: Case, trial: Trials) -> tuple[list[Rescue], list[Change]]:
    """Return the rescue of one setting, at most one, and the change that came nearest, at most one."""
    found: list[Rescue] = []
    nearest: tuple[int, Change] | None = None
    replays = checks = 0
    for change in trial.changes:
        lacking = places_lacking(case, change.configuration)
        if nearest is None or lacking < nearest[0]:
            nearest = lacking, change
        if lacking > 0:
            continue
        if replays == MAX_REPLAYS or checks == MAX_CHECKS:
            break
        replays += 1
        if not case.keys.intersection(kept_keys(case.replayed(change.configuration, trace=False))):
            continue
        checks += 1
        held = _checked(case, change)
        if held is not None:
            found.append(held)
            if not trial.every:
                break
    best = [min(found, key=_cost)] if found else []
    return best, [] if best or nearest is None else [nearest[1]]


def places_lacking(case: Case, configuration: Configuration) -> int:
    """Count how many places the expected chunks lack after dedup, cap and return_n, at the least.

    0 says that refining may keep one: what decides then is packing, the choice between attempts, or,
    with merged attempts and fine order, an order that is not counted here.
    """
    category = configuration.category
    if category is None and configuration.navigate and case.result.navigation is not None:
        category = case.result.navigation.category
    if configuration.fine_order_places or (category and configuration.policy is FilterPolicy.PARALLEL):
        return 0
    filters = {category, None} if configuration.policy is FilterPolicy.FALLBACK else {category}
    requests = [configuration.request(case.result.query, category_filter=asked) for asked in filters]
    least = min(_lacking(case.recorded.ordered(it), case.keys, configuration) for it in requests)
    if least == FAR and any(_listed(case, it) for it in requests):
        return FAR - 1
    return least


def _listed(case: Case, request: SearchRequest) -> bool:
    routes = [case.recorded.listed(route, request).hits for route in routes_of(request)]
    return any(evidence_key(hit) in case.keys for hits in routes for hit in hits)


def _lacking(hits: Sequence[SearchHit], keys: frozenset[str], configuration: Configuration) -> int:
    seen: set[str] = set()
    per_document: Counter[str] = Counter()
    place = 0
    for hit in hits:
        key = evidence_key(hit)
        document = hit.doc_id or key
        if key in seen or per_document[document] >= configuration.max_chunks_per_document:
            continue
        seen.add(key)
        per_document[document] += 1
        place += 1
        if key in keys:
            return max(0, place - configuration.return_n)
    return FAR


def _checked(case: Case, change: Change) -> Rescue | None:
    """Run the lookup with the change; None when the chunk is not kept after all."""
    then = kept_keys(case.checked(change.configuration))
    held = [key for key in then if key in case.keys]
    if not held:
        return None
    now = kept_keys(case.result)
    found = Rescue(
        setting=change.setting,
        old=change.old,
        new=change.new,
        kept_key=held[0],
        position=then.index(held[0]) + 1,
        pushed_out=tuple(key for key in now if key not in then),
        brought_in=tuple(key for key in then if key not in now and key not in case.keys),
        relative_change=change.relative,
        sentence="",
    )
    return replace(found, sentence=rescue_sentence(found))


def _nearest(case: Case, missed: Sequence[Change]) -> NearMiss | None:
    best: tuple[Ending, Change] | None = None
    for change in missed:
        ending = locate(case.replayed(change.configuration, trace=True), case.rows)
        if ending.progress > (case.ending if best is None else best[0]).progress:
            best = ending, change
    if best is None:
        return None
    ending, change = best
    sentence = near_miss_sentence(change.setting, change.old, change.new, ending)
    return NearMiss(change.setting, change.old, change.new, ending, sentence)
