"""Every single change of a setting that could keep a chunk, the smallest first.

In: the configuration of a lookup and what the lookup knows. Out: `Trials`, one for each setting.
Invariants: a trial changes one setting and nothing else, to a value that the configuration accepts;
values of one setting come in the order of their distance from the present one, the higher of two first.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from core.model.lookup import FilterPolicy, LookupResult
from core.model.search import MAX_RETRIEVE_K, Ranker, SearchMode
from core.model.why import SettingValue
from core.retrieval.configuration import Configuration
from core.retrieval.packing import SMALLEST_EXCERPT_CHARACTERS, pack
from core.retrieval.why.locating import characters_left

MAX_RRF_K = 1000
WEIGHT_STEPS = 100
"""Weights are tried in steps of 0.01."""

WHOLE_CHANGE = 1.0
"""What a change counts relative to the value where the value is no number."""


@dataclass(frozen=True, slots=True)
class Change:
    """One setting changed."""

    setting: str
    old: SettingValue
    new: SettingValue
    configuration: Configuration

    @property
    def relative(self) -> float:
        """|new - old| / old for numbers, |new - old| when old is 0, else 1.0."""
        if (
            isinstance(self.old, int | float)
            and isinstance(self.new, int | float)
            and self.setting != "navigate"
        ):
            return abs(self.new - self.old) / (self.old or 1)
        return WHOLE_CHANGE


@dataclass(frozen=True, slots=True)
class Trials:
    """The changes of one setting, smallest first; `every` wants the best of all in place of the first."""

    changes: Iterable[Change]
    every: bool = False


def trials(
    result: LookupResult, configuration: Configuration, keys: Iterable[str], deepest: int
) -> list[Trials]:
    """List what can be changed under a configuration.

    Args:
        result: of the lookup.
        configuration: of the lookup.
        keys: of the expected chunks.
        deepest: the deepest known rank of an expected chunk on a route; beyond it a larger `retrieve_k`
            brings only others in.
    """
    tried = [
        Trials(_depths(configuration, deepest)),
        Trials(_limits(configuration)),
        Trials(_caps(configuration)),
        Trials(_budgets(result, configuration, frozenset(keys))),
    ]
    if configuration.mode is SearchMode.HYBRID:
        tried += _fusions(configuration)
    other = SearchMode.DENSE if configuration.mode is SearchMode.HYBRID else SearchMode.HYBRID
    tried.append(Trials([Change("mode", configuration.mode, other, replace(configuration, mode=other))]))
    return tried + _filters(result, configuration)


def outward(present: int, low: int, high: int) -> Iterator[int]:
    """Yield the integers of `[low, high]` without the present one, by distance, the higher of two first."""
    for distance in range(1, max(high - present, present - low) + 1):
        if present + distance <= high:
            yield present + distance
        if present - distance >= low:
            yield present - distance


def _depths(configuration: Configuration, deepest: int) -> Iterator[Change]:
    present, low = configuration.retrieve_k, configuration.return_n
    high = min(MAX_RETRIEVE_K, max(deepest, 2 * present - low))
    for value in outward(present, low, high):
        yield Change("retrieve_k", present, value, replace(configuration, retrieve_k=value))


def _limits(configuration: Configuration) -> Iterator[Change]:
    present = configuration.return_n
    for value in outward(present, 1, configuration.retrieve_k):
        yield Change("return_n", present, value, replace(configuration, return_n=value))


def _caps(configuration: Configuration) -> Iterator[Change]:
    present = configuration.max_chunks_per_document
    # A list has at most 2 * retrieve_k hits, when two attempts are merged.
    for value in outward(present, 1, max(present, 2 * configuration.retrieve_k)):
        changed = replace(configuration, max_chunks_per_document=value)
        yield Change("max_chunks_per_document", present, value, changed)


def _budgets(result: LookupResult, configuration: Configuration, keys: frozenset[str]) -> Iterator[Change]:
    """Yield budgets that give a dropped piece what it lacks, until everything fits.

    Nothing when refining had dropped the expected chunks before.
    """
    evidence = result.refinement.kept
    present = budget = configuration.context_budget_characters
    wanted = [item.hit for item in evidence if item.evidence_key in keys]
    enough = sum(
        len(item.hit.title or "") + len(item.hit.breadcrumb or "") + len(item.hit.content)
        for item in evidence
    )
    while wanted and budget < enough:
        packed = replace(result, packing=pack(evidence, budget_characters=budget))
        lacking = [
            _least(item.hit.title, item.hit.breadcrumb, item.hit.content)
            - characters_left(packed, item.evidence_key)
            for item in evidence
            if item.evidence_key in keys
        ]
        budget = min(enough, budget + max(1, min(lacking)))
        changed = replace(configuration, context_budget_characters=budget)
        yield Change("context_budget_characters", present, budget, changed)


def _least(title: str | None, breadcrumb: str | None, content: str) -> int:
    return len(title or "") + len(breadcrumb or "") + min(SMALLEST_EXCERPT_CHARACTERS, len(content))


def _fusions(configuration: Configuration) -> list[Trials]:
    present = configuration.ranker
    other = Ranker.WEIGHTED if present is Ranker.RRF else Ranker.RRF
    ranker = Change("ranker", present, other, replace(configuration, ranker=other))
    if present is Ranker.RRF:
        return [Trials(_constants(configuration)), Trials([ranker])]
    dense = _weights(
        "weight_dense", configuration.weight_dense, lambda value: replace(configuration, weight_dense=value)
    )
    sparse = _weights(
        "weight_sparse",
        configuration.weight_sparse,
        lambda value: replace(configuration, weight_sparse=value),
    )
    return [Trials(dense), Trials(sparse), Trials([ranker])]


def _constants(configuration: Configuration) -> Iterator[Change]:
    present = configuration.rrf_k
    for value in outward(present, 1, max(MAX_RRF_K, present)):
        yield Change("rrf_k", present, value, replace(configuration, rrf_k=value))


def _weights(setting: str, present: float, changed: Callable[[float], Configuration]) -> list[Change]:
    values = [step / WEIGHT_STEPS for step in range(WEIGHT_STEPS + 1)]
    values = [value for value in values if value != present]
    values.sort(key=lambda value: (round(abs(value - present), 9), -value))
    return [Change(setting, present, value, changed(value)) for value in values]


def _filters(result: LookupResult, configuration: Configuration) -> list[Trials]:
    by_navigation = result.navigation is not None and result.navigation.category is not None
    if configuration.category is None and not by_navigation:
        return []
    if by_navigation:
        off = Change("navigate", old=True, new=False, configuration=replace(configuration, navigate=False))
    else:
        off = Change("category", configuration.category, None, replace(configuration, category=None))
    policies = [
        Change("policy", configuration.policy, policy, replace(configuration, policy=policy))
        for policy in FilterPolicy
        if policy is not configuration.policy
    ]
    return [Trials([off]), Trials(policies, every=True)]
