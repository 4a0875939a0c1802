"""The whole line, over scripted lists and over the reference store with the hashing embedder."""

import json

import jsonschema
import pytest

from core.adapters.analyzer import ANALYZER
from core.adapters.embedders.hashing import HashingEmbedder
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.errors import CollectionMissing, RequestInvalid
from core.model.builds import Fingerprint
from core.model.identity import evidence_key
from core.model.lookup import FilterPolicy, Level, Stage
from core.model.search import AuditVerdict, Ranker, Route, RouteState, SearchMode
from core.retrieval.levels import Thresholds
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.projection import projection_json, projection_schema
from tests.builders import a_chunk, a_list
from tests.core.retrieval.scripted import ScriptedEmbedder, ScriptedPort, a_configuration

EMBEDDER = HashingEmbedder()
CUTS = Thresholds("hashing", True, 0.3, 0.6, related_margin=-100.0, precise_margin=-100.0)

OPS = (
    ("ops/ports.md", "Milvus listens on port 19530 for clients."),
    ("ops/ports.md", "Restart the proxy when clients cannot connect."),
    ("ops/ports.md", "Metrics are served on port 9091 of every node."),
    ("ops/errors.md", "错误码E-1042说明：连接池已满，请增大 max_connections。"),
    ("ops/errors.md", "Error E-104 means that the disk is full."),
)
HR = (
    ("hr/leave.md", "Employees ask for leave in the portal, two weeks ahead."),
    ("hr/leave.md", "Sick leave needs a note from a doctor."),
)


def chunks_of(pieces, category, kb_scope):
    numbers: dict[str, int] = {}
    for name, content in pieces:
        numbers[name] = numbers.get(name, -1) + 1
        yield a_chunk(
            content, doc_id=f"{kb_scope}/{name}", chunk_index=numbers[name], title="", source=name,
            category=category, kb_scope=kb_scope,
        )  # fmt: skip


@pytest.fixture(scope="module")
def searcher():
    store = MemoryStore("kb")
    fingerprint = Fingerprint(1, "hashing", "1", "", "", EMBEDDER.dimension, "COSINE", ANALYZER, "{}")
    MemoryBuilds(store).create("kb_1", fingerprint, expected_rows=20)
    chunks = [
        *chunks_of(OPS, "ops", "base-a"),
        *chunks_of(HR, "hr", "base-a"),
        *chunks_of([("secret.md", "Port 9091 of the secret base, error E-1042.")], "ops", "base-b"),
    ]
    vectors = EMBEDDER.embed_passages([chunk.search_text for chunk in chunks])
    MemoryWriter(store).upsert("kb_1", chunks, vectors)
    MemoryBuilds(store).publish("kb_1")
    return MemorySearcher(store)


def look_up(searcher, query, *, trace=True, **changes):
    configuration = a_configuration(**{"thresholds": CUTS, "kb_scope": "base-a", **changes})
    return lookup_knowledge(searcher, EMBEDDER, query, configuration, trace=trace)


def found(result):
    return [piece.document_id for piece in result.projection.evidence]


def test_two_far_apart_sections_of_one_document_are_both_evidence_ret_01(searcher):
    keys = found(look_up(searcher, "port"))

    assert {"base-a/ops/ports.md#chunk-0", "base-a/ops/ports.md#chunk-2"} <= set(keys)
    assert sum(key.startswith("base-a/ops/ports.md#") for key in keys) == 2


def test_an_exact_code_is_found_by_hybrid_search_and_its_neighbour_is_not_taken_for_it(searcher):
    result = look_up(searcher, "E-1042")
    judgements = result.retrieval.chosen.judgements

    assert found(result)[0] == "base-a/ops/errors.md#chunk-0"
    assert result.projection.found
    assert judgements["base-a/ops/errors.md#chunk-0"].lexically_complete
    assert not judgements["base-a/ops/errors.md#chunk-1"].lexically_complete


@pytest.mark.parametrize("ranker", Ranker)
@pytest.mark.parametrize(
    "query", ["port", "E-1042", "连接池已满怎么办", "leave the portal", "clients connect port"]
)
def test_the_reference_store_passes_the_fusion_audit(searcher, query, ranker):
    audit = look_up(searcher, query, ranker=ranker).retrieval.chosen.response.audit

    assert audit.verdict in (AuditVerdict.EQUAL, AuditVerdict.EQUAL_UP_TO_TIES), audit.first_difference
    assert audit.compared > 0


def test_a_query_without_terms_skips_bm25_says_so_and_is_still_audited(searcher):
    response = look_up(searcher, "???").retrieval.chosen.response

    assert response.sparse.state is RouteState.NOT_RUN
    assert response.sparse.reason
    assert response.audit.verdict in (AuditVerdict.EQUAL, AuditVerdict.EQUAL_UP_TO_TIES)


@pytest.mark.parametrize("policy", FilterPolicy)
@pytest.mark.parametrize("mode", SearchMode)
@pytest.mark.parametrize("category", [None, "ops", "hr", "财务"])
def test_no_chunk_of_another_knowledge_base_is_seen_under_any_policy(searcher, policy, mode, category):
    result = look_up(searcher, "port 9091 E-1042", policy=policy, mode=mode, category=category)

    assert {entry.hit.kb_scope for entry in result.ledger} <= {"base-a"}


def test_a_right_category_keeps_its_filter(searcher):
    result = look_up(searcher, "Sick leave needs a note", category="hr")

    assert result.projection.selected_attempt == "filtered"
    assert result.projection.filter_relaxed is False
    assert result.outside_category == 0
    assert {piece.category for piece in result.projection.evidence} == {"hr"}


def test_a_category_without_chunks_falls_back_and_it_shows_ret_06(searcher):
    result = look_up(searcher, "Metrics are served on port 9091", category="财务")

    assert result.retrieval.reason.startswith("category '财务' holds no chunk, and without the filter")
    assert (result.projection.selected_attempt, result.projection.filter_relaxed) == ("unfiltered", True)
    assert result.outside_category == len(result.projection.evidence) > 0


def test_a_wrong_category_falls_back_or_stays_as_configured_ret_06(searcher):
    query = "Metrics are served on port 9091 of every node"
    cuts = Thresholds("hashing", True, 0.6, 0.8, related_margin=-100.0, precise_margin=-100.0)
    saved = look_up(searcher, query, category="hr", thresholds=cuts)
    stays = look_up(searcher, query, category="hr", thresholds=cuts, retry_unfiltered_on_low_quality=False)

    assert saved.projection.filter_relaxed
    assert saved.retrieval.attempts[0].category_chunks == 2
    assert saved.retrieval.reason.startswith("the chunks of category 'hr' are not good enough")
    assert (stays.projection.found, stays.low_quality) == (False, True)
    assert {piece.category for piece in stays.projection.evidence} <= {"hr"}


def test_a_blank_at_the_end_of_a_category_does_not_matter_ret_06(searcher):
    plain, blank = (look_up(searcher, "Sick leave", category=name) for name in ("hr", " hr "))

    assert plain.projection == blank.projection
    assert plain.configuration_hash == blank.configuration_hash


@pytest.mark.parametrize("mode", SearchMode)
def test_a_smaller_return_n_gives_a_prefix_and_a_larger_one_than_the_base_gives_all_ret_08(searcher, mode):
    def keys(n):
        return found(
            look_up(
                searcher, "port of the portal", mode=mode, retrieve_k=50, return_n=n,
                max_chunks_per_document=50,
            )
        )  # fmt: skip

    everything = keys(50)
    for n in (1, 3, 5, 10):
        assert keys(n) == everything[:n]
    if mode is SearchMode.DENSE:
        assert len(everything) == len(OPS) + len(HR)


@pytest.mark.parametrize("category", [None, "ops", "hr"])
@pytest.mark.parametrize("policy", FilterPolicy)
@pytest.mark.parametrize("query", ["port", "leave", "E-1042"])
def test_the_trace_changes_nothing_that_an_agent_gets(searcher, query, policy, category):
    traced, plain = (
        look_up(searcher, query, policy=policy, category=category, trace=trace) for trace in (True, False)
    )

    assert traced.projection == plain.projection
    assert traced.configuration_hash == plain.configuration_hash


def test_ten_runs_give_one_list(searcher):
    assert len({tuple(found(look_up(searcher, "port"))) for _ in range(10)}) == 1


def test_the_projection_of_a_whole_line_fits_the_schema_and_is_part_of_the_trace_ret_11(searcher):
    result = look_up(searcher, "E-1042", category="ops")
    value = json.loads(projection_json(result.projection))
    kept = [entry.evidence_key for entry in result.ledger if entry.end is Stage.KEPT]

    jsonschema.Draft202012Validator(projection_schema()).validate(value)
    assert [piece["document_id"] for piece in value["evidence"]] == kept
    assert result.low_quality is not result.projection.found


def test_the_result_names_its_build_its_query_and_its_stages(searcher):
    result = look_up(searcher, "  ｐｏｒｔ ")

    assert result.build == "kb_1"
    assert result.query == "port"
    assert set(result.milliseconds) == {"embed", "retrieve", "refine", "pack", "project", "total"}
    assert all(value >= 0 for value in result.milliseconds.values())


def test_a_level_is_judged_by_the_cosine_and_bm25_alone_is_never_precise(searcher):
    result = look_up(searcher, "port", retrieve_k=5)
    chosen = result.retrieval.chosen

    for hit in chosen.hits:
        if hit.dense is None:
            assert chosen.judgements[evidence_key(hit)].level is not Level.PRECISE


def test_a_bad_query_costs_no_call_and_no_embedding():
    port, embedder = ScriptedPort({}), ScriptedEmbedder()
    for query in ("", "\u3000", "q" * 2001):
        with pytest.raises(RequestInvalid):
            lookup_knowledge(port, embedder, query, a_configuration())

    assert (port.asked, embedder.embedded) == ([], [])


def test_the_normalised_query_is_what_is_embedded_and_asked():
    port, embedder = ScriptedPort({}), ScriptedEmbedder()
    lookup_knowledge(port, embedder, " Ｅ－１０４２ ", a_configuration())

    assert embedder.embedded == ["E-1042"]
    assert {request.query for _, request in port.asked} == {"E-1042"}


def test_a_base_that_was_never_published_says_so():
    with pytest.raises(CollectionMissing):
        lookup_knowledge(MemorySearcher(MemoryStore("kb")), EMBEDDER, "port", a_configuration())


def test_hits_outside_the_category_are_counted_among_the_returned_ones():
    port = ScriptedPort(
        {
            (Route.DENSE, "ops"): a_list(Route.DENSE, {"a": 0.6}, category="ops"),
            (Route.DENSE, None): a_list(Route.DENSE, {"x": 0.9, "y": 0.8, "z": 0.7}, category="hr"),
        }
    )
    configuration = a_configuration(
        mode=SearchMode.DENSE, category="ops", policy=FilterPolicy.PARALLEL, return_n=3
    )
    result = lookup_knowledge(port, ScriptedEmbedder(), "query", configuration)

    assert found(result) == ["a#chunk-0", "x#chunk-0", "y#chunk-0"]
    assert result.outside_category == 2
    assert result.projection.filter_relaxed
