"""What holds for every lookup, over generated bases, generated route lists and generated settings."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import jsonschema
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from core.adapters.analyzer import ANALYZER
from core.adapters.embedders.hashing import HashingEmbedder
from core.adapters.embedders.texts import is_blank
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.adapters.scoring import fuse_ranks, fuse_weighted
from core.model.builds import Fingerprint
from core.model.identity import evidence_key
from core.model.lookup import FilterPolicy, Level, LookupResult, Stage
from core.model.search import Ranker, Route, RouteList, RouteScore, RouteState, SearchHit, SearchMode
from core.retrieval.configuration import Configuration
from core.retrieval.evidence import refine
from core.retrieval.levels import Thresholds
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.packing import cut
from core.retrieval.projection import projection_json, projection_schema
from tests.builders import a_chunk, a_hit
from tests.core.retrieval.scripted import ScriptedEmbedder, ScriptedPort

REPEATABLE = settings(deadline=None, derandomize=True, database=None, max_examples=60)

EMBEDDER = HashingEmbedder()
VALIDATOR = jsonschema.Draft202012Validator(projection_schema())
CUTS = Thresholds("hashing", True, 0.3, 0.6, related_margin=-100.0, precise_margin=-100.0)

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PIECES = (
    "disk ", "磁盘", "E-1042 ", "mysql ", "连接池", "\n", "。", FAMILY, "e\u0301", "\U0001f1e8\U0001f1f3",
    "\u0600 ", "각", "\U0001f44d\U0001f3fd", "\r\n", "a\u0308\u0323",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
# Long enough to be cut: a cut shorter than 80 characters is dropped whole.
CONTENTS = st.builds(lambda text, times: text * times, TEXTS, st.sampled_from([40, 20, 7, 1]))
VISIBLE = CONTENTS.filter(lambda content: not is_blank(content))
QUERIES = st.lists(
    st.sampled_from(("disk", "磁盘", "E-1042", "mysql", "连接池", "how", "。", "xyzzy")),
    min_size=1, max_size=3,
).map(" ".join)  # fmt: skip
CATEGORIES = ("ops", "hr", '" or 1==1')


@st.composite
def configurations(draw):
    retrieve_k = draw(st.sampled_from([8, 8, 8, 4, 2, 1]))
    return Configuration(
        CUTS,
        mode=draw(st.sampled_from([SearchMode.HYBRID, SearchMode.HYBRID, SearchMode.DENSE])),
        retrieve_k=retrieve_k,
        ranker=draw(st.sampled_from(Ranker)),
        rrf_k=draw(st.sampled_from([1, 60])),
        weight_dense=draw(st.sampled_from([0.0, 0.5, 1.0])),
        weight_sparse=draw(st.sampled_from([0.0, 0.8, 1.0])),
        policy=draw(st.sampled_from(FilterPolicy)),
        retry_unfiltered_on_low_quality=draw(st.booleans()),
        category=draw(st.sampled_from([None, "ops", "hr", "none such", '" or 1==1'])),
        kb_scope=draw(st.sampled_from([None, "x", "y", '" or 1==1'])),
        return_n=min(retrieve_k, draw(st.sampled_from([8, 8, 5, 3, 1]))),
        max_chunks_per_document=draw(st.integers(1, 3)),
        context_budget_characters=draw(st.sampled_from([95, 150, 250, 400, 6000, 60, 1])),
        fine_order_places=draw(st.sampled_from([0, 2])),
    )


@st.composite
def bases(draw):
    """A reference store of 4 to 15 chunks, some with the text of another."""
    chunks = [
        a_chunk(
            content,
            doc_id=f"kb/{number // 3}",
            chunk_index=number % 3,
            title=draw(st.sampled_from(["", "E-1042", "手册 e\u0301"])),
            category=draw(st.sampled_from(CATEGORIES)),
            kb_scope=draw(st.sampled_from(["x", "x", "y"])),
        )
        for number, content in enumerate(draw(st.lists(VISIBLE, min_size=2, max_size=12)))
    ]
    chunks += [replace(chunk, doc_id=f"{chunk.doc_id}-copy") for chunk in chunks[:3]]
    store = MemoryStore("kb")
    fingerprint = Fingerprint(1, "hashing", "1", "", "", EMBEDDER.dimension, "COSINE", ANALYZER, "{}")
    MemoryBuilds(store).create("kb_1", fingerprint, expected_rows=len(chunks))
    vectors = EMBEDDER.embed_passages([chunk.search_text for chunk in chunks])
    MemoryWriter(store).upsert("kb_1", chunks, vectors)
    MemoryBuilds(store).publish("kb_1")
    return MemorySearcher(store)


@st.composite
def route_lists(draw, route, category):
    """Copies of one chunk, chunks of one document, and rows of a collection without documents."""
    hits = []
    score = draw(st.sampled_from([0.2, 0.4, 0.9]))
    names = st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from([0, 1, None]))
    for rank, (doc_id, index) in enumerate(
        draw(st.lists(names, min_size=draw(st.sampled_from([5, 3, 0])), max_size=8)), start=1
    ):
        hit = a_hit(
            doc_id, index, rank=rank, content=draw(CONTENTS), hit_id=f"{doc_id}-{index}",
            category=category or draw(st.sampled_from(CATEGORIES)), kb_scope="x",
        )  # fmt: skip
        hits.append(replace(hit, **{route.value: RouteScore(rank, score - rank / 100)}))
    return RouteList(route, RouteState.OK if hits else RouteState.EMPTY, tuple(hits), 8, 1.0)


@st.composite
def scripted_ports(draw, category):
    answers = {
        (route, asked): draw(route_lists(route, asked)) for route in Route for asked in {category, None}
    }
    return ScriptedPort(answers, counts={category: draw(st.integers(0, 2))})


def hits_of(result: LookupResult) -> Iterator[tuple[SearchHit, ...]]:
    for attempt in result.retrieval.attempts:
        response = attempt.response
        yield from (attempt.hits, response.dense.hits, response.sparse.hits, response.fused.hits)


def assert_the_ledger_balances(result: LookupResult) -> None:
    chosen = Counter(map(evidence_key, result.retrieval.chosen.hits))
    others = {evidence_key(hit) for hits in hits_of(result) for hit in hits} - set(chosen)
    assert Counter(entry.evidence_key for entry in result.ledger) == chosen + Counter(others)
    kept = [entry.evidence_key for entry in result.ledger if entry.end is Stage.KEPT]
    packed = [item.evidence.evidence_key for item in result.packing.packed]
    shown = [piece.document_id for piece in result.projection.evidence]
    assert kept == packed == shown
    assert len(set(kept)) == len(kept)
    assert all(entry.reason for entry in result.ledger)


def assert_refined_within_limits(result: LookupResult, configuration: Configuration) -> None:
    kept = result.refinement.kept
    documents = Counter(item.hit.doc_id for item in kept if item.hit.doc_id)
    assert len(kept) <= configuration.return_n
    assert max(documents.values(), default=0) <= configuration.max_chunks_per_document
    again = refine(
        [item.hit for item in kept],
        {item.evidence_key: item.judgement for item in kept},
        return_n=configuration.return_n,
        max_chunks_per_document=configuration.max_chunks_per_document,
    )
    assert again == replace(result.refinement, dropped=())


def assert_packed_within_the_budget(result: LookupResult, configuration: Configuration) -> None:
    used = 0
    for item in result.packing.packed:
        hit = item.evidence.hit
        used += len(hit.title or "") + len(hit.breadcrumb or "") + len(item.excerpt)
        ends = {match.end() for match in regex.finditer(r"\X", hit.content)}
        assert hit.content.startswith(item.excerpt)
        assert len(item.excerpt) in ends
        assert item.truncated is (item.excerpt != hit.content)
    assert used == result.packing.used_characters <= configuration.context_budget_characters


def assert_the_contract_of_the_agent(result: LookupResult) -> None:
    value = json.loads(projection_json(result.projection), parse_float=pytest.fail, parse_int=pytest.fail)
    VALIDATOR.validate(value)
    levels = [item.evidence.judgement.level for item in result.packing.packed]
    assert result.projection.found is any(level is not Level.WEAK for level in levels)
    assert result.projection.filter_relaxed or result.outside_category == 0


def assert_sound(result: LookupResult, configuration: Configuration) -> None:
    assert_the_ledger_balances(result)
    assert_refined_within_limits(result, configuration)
    assert_packed_within_the_budget(result, configuration)
    assert_the_contract_of_the_agent(result)


@REPEATABLE
@given(base=bases(), query=QUERIES, configuration=configurations())
def test_every_lookup_over_the_reference_store_is_sound(base, query, configuration):
    result = lookup_knowledge(base, EMBEDDER, query, configuration)

    assert_sound(result, configuration)
    scopes = {hit.kb_scope for hits in hits_of(result) for hit in hits}
    assert configuration.kb_scope is None or scopes <= {configuration.kb_scope}
    untraced = lookup_knowledge(base, EMBEDDER, query, configuration, trace=False)
    assert untraced.projection == result.projection
    assert untraced.refinement.kept == tuple(
        replace(item, hit=replace(item.hit, sparse=None)) for item in result.refinement.kept
    )


@REPEATABLE
@given(data=st.data(), configuration=configurations())
def test_every_lookup_over_any_lists_of_a_store_is_sound(data, configuration):
    port = data.draw(scripted_ports(configuration.category))

    assert_sound(lookup_knowledge(port, ScriptedEmbedder(), "disk", configuration), configuration)


@REPEATABLE
@given(base=bases(), query=QUERIES, configuration=configurations())
def test_weights_one_and_zero_give_the_order_of_dense_mode(base, query, configuration):
    """mil-33: up to chunks of equal cosine, which hybrid orders by evidence key."""
    weights = {"ranker": Ranker.WEIGHTED, "weight_dense": 1.0, "weight_sparse": 0.0}
    request = replace(configuration, **weights).request(query, category_filter=configuration.category)
    vector = EMBEDDER.embed_query(query)
    dense, fused = base.search_dense(request, vector), base.search_hybrid(request, vector)

    cosines = {hit.id: hit.dense.score for hit in dense.hits}
    found = [cosines.get(hit.id, cosines[dense.hits[-1].id]) for hit in fused.hits]
    assert found == pytest.approx(list(cosines.values()), abs=2e-6)


KEYS = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=7)


@REPEATABLE
@given(KEYS, KEYS, st.integers(0, 7), st.sampled_from([1, 60]))
def test_a_further_hit_on_a_route_lowers_no_fused_score_but_those_of_the_hits_it_passes(
    first, second, place, rrf_k
):
    longer = [*second[:place], "new", *second[place:]]
    for route in (first, ["new", *first]):
        before, after = fuse_ranks([route, second], rrf_k), fuse_ranks([route, longer], rrf_k)
        assert after["new"] > before.get("new", 0.0)
        assert all(after[key] == before[key] for key in before if key not in {"new", *second[place:]})
        assert all(after[key] < before[key] for key in second[place:])


@REPEATABLE
@given(
    st.dictionaries(st.sampled_from("abcdefg"), st.floats(0, 1)),
    st.dictionaries(st.sampled_from("abcdefg"), st.floats(0, 1)),
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)),
)
def test_a_further_hit_on_a_route_lowers_no_weighted_score(first, second, numbers):
    score, *weights = numbers
    for route in (first, {**first, "new": 0.5}):
        before, after = (
            fuse_weighted([(route, weights[0]), (other, weights[1])])
            for other in (second, {**second, "new": score})
        )
        assert after["new"] >= before.get("new", 0.0)
        assert {key: after[key] for key in before if key != "new"} == {
            key: value for key, value in before.items() if key != "new"
        }


def test_a_space_that_belongs_to_a_character_is_not_cut_off_it():
    # The Arabic number sign stands before what it numbers, and makes one character with it.
    assert cut("\u0600 and more", 2) == "\u0600 "
    assert cut("one two", 4) == "one"
