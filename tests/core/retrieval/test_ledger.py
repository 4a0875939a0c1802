"""The ledger balances: every candidate of every route and attempt has exactly one end."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.identity import evidence_key
from core.model.lookup import FilterPolicy, Stage
from core.model.search import Route, RouteList, RouteState, SearchMode
from core.retrieval.lookup import lookup_knowledge
from tests.builders import a_list
from tests.core.retrieval.scripted import ScriptedEmbedder, ScriptedPort, a_configuration

STAGES = list(Stage)
NAMES = st.lists(st.sampled_from([f"d{number}" for number in range(12)]), unique=True, max_size=8)


def looked_up(port, **changes):
    trace = changes.pop("trace", True)
    return lookup_knowledge(port, ScriptedEmbedder(), "query", a_configuration(**changes), trace=trace)


def ends(result):
    return {entry.evidence_key: entry.end for entry in result.ledger}


def listed(route, names, top, limit=20):
    return a_list(route, {name: top - place / 100 for place, name in enumerate(names)}, limit=limit)


def candidates(result):
    """Count them from the lists alone: copies in the chosen list, and every other key once."""
    counts = Counter(evidence_key(hit) for hit in result.retrieval.chosen.hits)
    for attempt in result.retrieval.attempts:
        response = attempt.response
        for hit in (*attempt.hits, *response.dense.hits, *response.sparse.hits, *response.fused.hits):
            counts.setdefault(evidence_key(hit), 1)
    return counts


def test_each_stage_names_what_it_dropped():
    def chunks(route, names):
        made = a_list(route, {name: 0.9 - place / 100 for place, name in enumerate(names)}, limit=7)
        hits = tuple(
            replace(
                hit,
                doc_id=name.partition(":")[0],
                chunk_index=int(name.partition(":")[2]),
                content="x" * 100,
            )
            for hit, name in zip(made.hits, names, strict=True)
        )
        return replace(made, hits=hits)

    fused = chunks(Route.FUSED, ["a:0", "a:1", "b:0", "c:0", "d:0"])
    copy = replace(fused.hits[0], rank=6, fused=replace(fused.hits[0].fused, rank=6))
    port = ScriptedPort(
        {
            (Route.FUSED, None): replace(fused, hits=(*fused.hits, copy)),
            (Route.DENSE, None): chunks(Route.DENSE, ["a:0", "e:0"]),
            (Route.SPARSE, None): chunks(Route.SPARSE, ["f:0"]),
        }
    )
    result = looked_up(
        port, retrieve_k=7, return_n=3, max_chunks_per_document=1, context_budget_characters=220
    )

    # a:0 and b:0 take 105 each (title "Title"), 10 are left for c:0.
    assert [(entry.evidence_key, entry.end) for entry in result.ledger] == [
        ("a#chunk-0", Stage.KEPT), ("b#chunk-0", Stage.KEPT),
        ("e#chunk-0", Stage.FUSE), ("f#chunk-0", Stage.FUSE),
        ("a#chunk-0", Stage.DEDUP),
        ("a#chunk-1", Stage.CAP),
        ("d#chunk-0", Stage.RETURN_N),
        ("c#chunk-0", Stage.PACK),
    ]  # fmt: skip
    assert result.ledger[0].reason == "kept whole, 105 characters"


def test_a_cut_piece_says_so_in_the_ledger():
    answers = {(Route.DENSE, None): a_list(Route.DENSE, {"x" * 90: 0.9})}
    result = looked_up(ScriptedPort(answers), mode=SearchMode.DENSE, context_budget_characters=100)

    # "Title" and "Content of xxx...x.": 5 + 12 + 90 code points, of which 100 fit.
    assert [entry.reason for entry in result.ledger] == ["kept, 100 of 107 characters"]


def test_a_chunk_outside_the_fused_list_is_told_by_how_much():
    port = ScriptedPort(
        {
            (Route.DENSE, None): a_list(Route.DENSE, {"a": 0.9, "b": 0.8}, limit=2),
            (Route.SPARSE, None): a_list(Route.SPARSE, {"a": 5.0, "c": 4.0}, limit=2),
            (Route.FUSED, None): a_list(Route.FUSED, {"a": 2 / 61, "b": 1 / 62}, limit=2),
        }
    )
    result = looked_up(port, retrieve_k=2, return_n=2)

    (entry,) = [entry for entry in result.ledger if entry.end is Stage.FUSE]
    assert entry.evidence_key == "c#chunk-0"
    assert entry.reason == "fused rank 3 (0.016129), the list ends at rank 2 (0.016129)"


def test_what_only_the_other_attempt_found_ends_at_retrieve():
    port = ScriptedPort(
        {
            (Route.DENSE, "ops"): a_list(Route.DENSE, {"a": 0.3, "b": 0.2}),
            (Route.DENSE, None): a_list(Route.DENSE, {"x": 0.9, "a": 0.3}),
        }
    )
    result = looked_up(port, mode=SearchMode.DENSE, category="ops")

    assert ends(result) == {
        "x#chunk-0": Stage.KEPT, "a#chunk-0": Stage.KEPT, "b#chunk-0": Stage.RETRIEVE,
    }  # fmt: skip
    assert result.ledger[-1].reason == "only attempt 'filtered' found it, and 'unfiltered' goes on"


def test_in_a_merge_the_routes_of_both_attempts_were_in_the_running():
    port = ScriptedPort(
        {
            (Route.FUSED, "ops"): a_list(Route.FUSED, {"a": 0.03}),
            (Route.DENSE, "ops"): a_list(Route.DENSE, {"a": 0.9, "b": 0.6}),
            (Route.FUSED, None): a_list(Route.FUSED, {"x": 0.03}),
            (Route.DENSE, None): a_list(Route.DENSE, {"x": 0.9, "y": 0.6}),
        }
    )
    result = looked_up(port, category="ops", policy=FilterPolicy.PARALLEL)

    assert ends(result) == {
        "a#chunk-0": Stage.KEPT, "x#chunk-0": Stage.KEPT, "b#chunk-0": Stage.FUSE, "y#chunk-0": Stage.FUSE,
    }  # fmt: skip


def test_an_empty_lookup_has_an_empty_ledger():
    assert looked_up(ScriptedPort({}), category="ops").ledger == ()


@settings(deadline=None, max_examples=60)
@given(
    lists=st.fixed_dictionaries(
        {(route, category): NAMES for route in Route for category in ("ops", None)}
    ),
    tops=st.tuples(st.sampled_from([0.2, 0.6, 0.95]), st.sampled_from([0.2, 0.6, 0.95])),
    policy=st.sampled_from(FilterPolicy),
    mode=st.sampled_from(SearchMode),
    category=st.sampled_from(["ops", None]),
    limits=st.tuples(st.integers(1, 6), st.integers(1, 3), st.sampled_from([30, 100, 6000])),
    copies=st.integers(0, 2),
)
def test_the_ends_add_up_to_the_candidates(*, lists, tops, policy, mode, category, limits, copies):
    answers = {}
    for (route, asked), names in lists.items():
        made = listed(route, names, tops[asked is None] if route is Route.DENSE else 0.9)
        twice = tuple(
            replace(hit, rank=len(names) + extra, content="a copy",
                    **{route.value: replace(getattr(hit, route.value), rank=len(names) + extra)})
            for extra, hit in enumerate(made.hits[:copies], start=1)
        )  # fmt: skip
        answers[route, asked] = replace(made, hits=(*made.hits, *twice))
    result = looked_up(
        ScriptedPort(answers, counts={"ops": 3}),
        policy=policy, mode=mode, category=category,
        return_n=limits[0], max_chunks_per_document=limits[1], context_budget_characters=limits[2],
    )  # fmt: skip

    assert Counter(entry.evidence_key for entry in result.ledger) == candidates(result)
    per_stage = Counter(entry.end for entry in result.ledger)
    assert sum(per_stage.values()) == sum(candidates(result).values())
    assert per_stage[Stage.KEPT] == len(result.packing.packed) == len(result.projection.evidence)
    order = [STAGES.index(entry.end) for entry in result.ledger if entry.end is not Stage.KEPT]
    assert order == sorted(order)
    assert all(entry.end is Stage.KEPT for entry in result.ledger[: per_stage[Stage.KEPT]])
    assert all(entry.reason for entry in result.ledger)
    documents = [piece.document_id for piece in result.projection.evidence]
    assert len(documents) == len(set(documents))


def test_a_failed_route_adds_no_candidate():
    failed = RouteList(Route.SPARSE, RouteState.FAILED, limit=20, reason="broken")
    port = ScriptedPort(
        {
            (Route.FUSED, None): a_list(Route.FUSED, {"a": 0.03}),
            (Route.DENSE, None): a_list(Route.DENSE, {"a": 0.9}),
            (Route.SPARSE, None): failed,
        }
    )

    assert ends(looked_up(port)) == {"a#chunk-0": Stage.KEPT}
