"""The decisions of the filter policy, on attempts made by hand."""

import pytest

from core.model.lookup import Attempt, FilterPolicy, Level
from core.model.search import (
    AuditVerdict,
    FusionAudit,
    Route,
    RouteList,
    RouteScore,
    RouteState,
    SearchRequest,
    SearchResponse,
)
from core.retrieval.filters import (
    FILTERED,
    UNFILTERED,
    choose,
    merge,
    outside_category,
    shortfall,
    should_retry_unfiltered,
)
from tests.builders import a_hit
from tests.core.retrieval.scripted import a_configuration

FALLBACK, STRICT, PARALLEL = FilterPolicy.FALLBACK, FilterPolicy.STRICT, FilterPolicy.PARALLEL
HITS = (a_hit(),)


def attempt(level, *, category="ops", chunks=None, hits=HITS, name=FILTERED):
    nothing = RouteList(Route.SPARSE, RouteState.NOT_RUN)
    response = SearchResponse(
        SearchRequest("query"),
        tuple(hits),
        nothing,
        nothing,
        nothing,
        FusionAudit(AuditVerdict.NOT_CHECKED),
    )
    return Attempt(name, category, response, level, {}, chunks, "cosine 0.310", 1.0)


@pytest.mark.parametrize(
    ("policy", "retry", "level", "chunks", "expected"),
    [
        (FALLBACK, True, Level.WEAK, 4, True),
        (FALLBACK, True, Level.WEAK, 0, True),
        (FALLBACK, True, Level.RELATED, None, False),
        (FALLBACK, True, Level.PRECISE, None, False),
        (FALLBACK, False, Level.WEAK, 4, False),
        (STRICT, True, Level.WEAK, 0, False),
        (STRICT, True, Level.WEAK, 4, False),
        (PARALLEL, False, Level.PRECISE, None, True),
        (PARALLEL, False, Level.WEAK, 0, True),
    ],
)
def test_the_policy_decides_whether_the_category_is_left(policy, retry, level, chunks, expected):
    configuration = a_configuration(policy=policy, retry_unfiltered_on_low_quality=retry, category="ops")

    assert should_retry_unfiltered(attempt(level, chunks=chunks), configuration) is expected


def test_without_the_retry_only_a_category_without_chunks_is_left_ret_06():
    configuration = a_configuration(retry_unfiltered_on_low_quality=False, category="ops")

    assert should_retry_unfiltered(attempt(Level.WEAK, chunks=0, hits=()), configuration)
    assert not should_retry_unfiltered(attempt(Level.WEAK, chunks=1, hits=()), configuration)


@pytest.mark.parametrize("filtered", Level)
@pytest.mark.parametrize("unfiltered", Level)
def test_the_better_level_wins_and_a_tie_stays_filtered(filtered, unfiltered):
    name, _ = choose(attempt(filtered, chunks=3), attempt(unfiltered, category=None, name=UNFILTERED))

    assert name == (UNFILTERED if unfiltered.order > filtered.order else FILTERED)


def test_the_reason_tells_an_empty_category_from_a_weak_one():
    empty, unmatched, weak = (
        shortfall(attempt(Level.WEAK, chunks=0, hits=())),
        shortfall(attempt(Level.WEAK, chunks=4, hits=())),
        shortfall(attempt(Level.WEAK, chunks=4)),
    )

    assert empty == "category 'ops' holds no chunk"
    assert unmatched == "category 'ops' holds 4 chunks, and none was found for this query"
    assert weak == "the chunks of category 'ops' are not good enough (cosine 0.310)"


def test_the_choice_says_why_in_words():
    weak = attempt(Level.WEAK, chunks=0, hits=())

    assert choose(weak, attempt(Level.PRECISE, name=UNFILTERED))[1] == (
        "category 'ops' holds no chunk, and without the filter the best hit is precise: "
        "the answer comes from all categories"
    )
    assert choose(weak, attempt(Level.WEAK, name=UNFILTERED))[1] == (
        "category 'ops' holds no chunk, but without the filter nothing is better: the filter stays"
    )


def test_a_merge_keeps_each_hit_at_its_better_rank():
    filtered = (a_hit("a", rank=1), a_hit("b", rank=2), a_hit("c", rank=3))
    unfiltered = (a_hit("x", rank=1), a_hit("c", rank=2), a_hit("a", rank=3), a_hit("y", rank=4))
    # better ranks: a 1 (filtered), x 1, b 2 (filtered), c 2 (unfiltered), y 4
    merged = merge(filtered, unfiltered)

    assert [(hit.doc_id, hit.rank) for hit in merged] == [("a", 1), ("x", 2), ("b", 3), ("c", 4), ("y", 5)]


def test_of_a_hit_in_both_lists_the_unfiltered_copy_is_kept_with_what_only_the_filtered_one_knows():
    filtered = a_hit("a", rank=1, dense=(4, 0.7), sparse=(1, 5.0), fused=(1, 0.03))
    unfiltered = a_hit("a", rank=9, sparse=(3, 5.0), fused=(9, 0.015))
    (merged,) = merge((filtered,), (unfiltered,))

    assert merged.dense == RouteScore(4, 0.7)
    assert merged.sparse == RouteScore(3, 5.0)
    assert merged.fused == RouteScore(9, 0.015)


def test_two_chunks_of_one_source_are_both_merged():
    merged = merge((a_hit("a", 0, rank=1),), (a_hit("a", 1, rank=1),))

    assert [hit.chunk_index for hit in merged] == [0, 1]


def test_a_second_copy_within_one_list_goes_on_and_the_better_one_stays_ahead():
    copies = (a_hit("a", rank=1, content="better"), a_hit("b", rank=2), a_hit("a", rank=3, content="worse"))
    merged = merge(copies, (a_hit("a", rank=5, content="better"),))

    assert [(hit.doc_id, hit.content) for hit in merged] == [
        ("a", "better"), ("b", "Some text."), ("a", "worse"),
    ]  # fmt: skip


def test_hits_without_identity_are_never_merged_with_each_other():
    one = a_hit(None, None, hit_id="", rank=1, content="one")
    other = a_hit(None, None, hit_id="", rank=1, content="other")

    assert [hit.content for hit in merge((one,), (other,))] == ["one", "other"]


def test_merging_with_nothing_changes_nothing():
    hits = (a_hit("a", rank=1), a_hit("b", rank=2))

    assert merge(hits, ()) == hits
    assert merge((), hits) == hits
    assert merge((), ()) == ()


def test_hits_outside_the_category_are_counted():
    hits = (a_hit(category="ops"), a_hit(category="hr"), a_hit(category="uncategorized"))

    assert outside_category(hits, "ops") == 2
    assert outside_category(hits, None) == 0
    assert outside_category((), "ops") == 0
