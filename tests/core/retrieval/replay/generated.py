"""Generated lookup results: any text, any finite number, everything that may be missing."""

from hypothesis import strategies as st

from core.model.lookup import (
    Attempt,
    Background,
    Evidence,
    FilterPolicy,
    Judgement,
    LedgerEntry,
    Level,
    LookupResult,
    MatchedDomain,
    Navigation,
    PackedEvidence,
    Packing,
    ProjectedEvidence,
    Projection,
    Refinement,
    Retrieval,
    Stage,
)
from core.model.search import (
    AuditVerdict,
    FusionAudit,
    Ranker,
    Route,
    RouteList,
    RouteScore,
    RouteState,
    SearchHit,
    SearchMode,
    SearchRequest,
    SearchResponse,
)
from core.retrieval.configuration import Configuration
from core.retrieval.levels import Thresholds

text = st.text(max_size=6)
maybe_text = st.none() | text
number = st.floats(allow_nan=False, allow_infinity=False)
maybe_number = st.none() | number
weight = st.floats(0, 1)
query = st.text(min_size=1, max_size=6).filter(str.strip)
name = st.none() | st.sampled_from(["ops", "财务", "👩🏽‍🔧", 'a"\\\n'])
scores = st.builds(RouteScore, st.integers(1, 1000), number)
maybe_score = st.none() | scores
plain = st.none() | st.booleans() | st.integers() | number | text
metadata = st.dictionaries(text, plain | st.lists(plain, max_size=2), max_size=2)


def few(strategy):
    return st.lists(strategy, max_size=2).map(tuple)


hits = st.builds(
    SearchHit, text, maybe_text, st.none() | st.integers(0), text, maybe_text, maybe_text, maybe_text,
    text, text, st.integers(1), maybe_score, maybe_score, maybe_score, metadata,
)  # fmt: skip
requests = st.builds(
    SearchRequest, query, st.sampled_from(SearchMode), st.integers(1, 1000), st.sampled_from(Ranker),
    st.integers(1), weight, weight, maybe_text, maybe_text,
)  # fmt: skip


def lists(route):
    states = st.sampled_from(RouteState)
    return st.builds(RouteList, st.just(route), states, few(hits), st.integers(0), maybe_number, text)


audits = st.builds(
    FusionAudit, st.sampled_from(AuditVerdict), st.integers(0), text,
    st.dictionaries(text, scores, max_size=2),
)  # fmt: skip
responses = st.builds(
    SearchResponse, requests, few(hits), lists(Route.DENSE), lists(Route.SPARSE), lists(Route.FUSED), audits
)
levels = st.sampled_from(Level)
judgements = st.builds(Judgement, levels, maybe_number, maybe_number, st.booleans(), text)
attempts = st.builds(
    Attempt, st.sampled_from(["filtered", "unfiltered"]), name, responses, levels,
    st.dictionaries(text, judgements, max_size=2), st.none() | st.integers(0), text, number,
)  # fmt: skip
backgrounds = st.builds(Background, st.integers(0), maybe_number, maybe_number, maybe_number, number)
retrievals = st.lists(attempts, min_size=1, max_size=2).flatmap(
    lambda ran: st.builds(
        Retrieval, st.just(tuple(ran)), st.just(ran[-1].name), text, st.booleans(), backgrounds
    )
)
entries = st.builds(
    LedgerEntry,
    text,
    hits,
    st.sampled_from(Stage),
    text,
    st.none() | judgements,
    st.none() | st.integers(1),
)
evidence = st.builds(Evidence, text, hits, judgements)
packings = st.builds(
    Packing,
    few(st.builds(PackedEvidence, evidence, text, st.booleans(), st.integers(0), st.integers(0))),
    few(entries),
    st.integers(1),
)
pieces = st.builds(ProjectedEvidence, text, maybe_text, maybe_text, maybe_text, text, text, st.booleans())
projections = st.builds(Projection, st.booleans(), levels, text, st.booleans(), few(pieces))
navigations = st.builds(Navigation, few(st.builds(MatchedDomain, text, few(text))), name, text)
results = st.builds(
    LookupResult, query=query, configuration_hash=text, build=text, retrieval=retrievals,
    refinement=st.builds(Refinement, few(evidence), few(entries)), packing=packings,
    projection=projections, navigation=st.none() | navigations, outside_category=st.integers(0),
    ledger=few(entries), milliseconds=st.dictionaries(text, number, max_size=3),
)  # fmt: skip
configurations = st.builds(
    Configuration,
    thresholds=st.builds(Thresholds, text, st.booleans(), number, number, number, number),
    mode=st.sampled_from(SearchMode), retrieve_k=st.integers(20, 1000), ranker=st.sampled_from(Ranker),
    weight_dense=weight, policy=st.sampled_from(FilterPolicy),
    category=st.sampled_from([None, "ops", "财务"]),
    return_n=st.integers(1, 20), navigate=st.booleans(), domains_hash=text,
)  # fmt: skip
