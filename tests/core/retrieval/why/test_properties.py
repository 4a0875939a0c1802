"""Whatever the base and the settings: a rescue that is reported holds, and no smaller change does."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.lookup import FilterPolicy
from core.model.search import Ranker, SearchMode
from core.model.why import End
from core.retrieval.configuration import Configuration
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.why.explaining import explain_absence
from tests.core.retrieval.why.material import CUTS, FixedEmbedder, a_base, a_piece

SMALLEST = ("retrieve_k", "return_n", "max_chunks_per_document")


@st.composite
def cases(draw):
    count = draw(st.integers(4, 18))
    documents = draw(st.integers(1, 6))
    pieces, numbers = [], {}
    for _ in range(count):
        name = f"d{draw(st.integers(0, documents - 1))}.md"
        numbers[name] = numbers.get(name, -1) + 1
        category = "ops" if int(name[1]) % 2 else "hr"
        cosine = draw(st.integers(-9, 99)) / 100
        pieces.append(a_piece(name, cosine, draw(st.integers(0, 9)), numbers[name], category=category))
    k = draw(st.integers(1, 8))
    configuration = Configuration(
        thresholds=CUTS,
        mode=draw(st.sampled_from(SearchMode)),
        retrieve_k=k,
        ranker=draw(st.sampled_from(Ranker)),
        rrf_k=draw(st.sampled_from([1, 10, 60])),
        weight_dense=draw(st.sampled_from([0.0, 0.5, 1.0])),
        weight_sparse=draw(st.sampled_from([0.0, 0.8])),
        policy=draw(st.sampled_from(FilterPolicy)),
        category=draw(st.sampled_from([None, "ops", "hr"])),
        return_n=draw(st.integers(1, k)),
        max_chunks_per_document=draw(st.integers(1, 4)),
        context_budget_characters=draw(st.sampled_from([60, 130, 6000])),
    )
    expected, _ = draw(st.sampled_from(pieces))
    whole = draw(st.booleans())
    return (
        pieces,
        configuration,
        expected.doc_id if whole else f"{expected.doc_id}#chunk-{expected.chunk_index}",
    )


@settings(max_examples=120, deadline=None)
@given(cases())
def test_every_rescue_keeps_the_chunk_and_no_smaller_change_of_the_integer_does(case):
    pieces, configuration, expected = case
    searcher, embedder = a_base(pieces), FixedEmbedder()

    def kept(**changes):
        result = lookup_knowledge(
            searcher, embedder, "port", replace(configuration, **changes), trace=False
        )
        return [piece.document_id for piece in result.projection.evidence]

    found = explain_absence(searcher, embedder, "port", expected, configuration)
    now = kept()
    assert (found.ending.end is End.KEPT) == bool(set(found.evidence_keys) & set(now))
    assert not (found.rescues and found.nearest)
    for rescue in found.rescues:
        then = kept(**{rescue.setting: rescue.new})
        assert then[rescue.position - 1] == rescue.kept_key
        assert rescue.kept_key in found.evidence_keys
        assert rescue.pushed_out == tuple(key for key in now if key not in then)
        assert set(rescue.brought_in) == set(then) - set(now) - set(found.evidence_keys)
        if rescue.setting in SMALLEST:
            low = configuration.return_n if rescue.setting == "retrieve_k" else 1
            high = configuration.retrieve_k if rescue.setting == "return_n" else 1000
            for distance in range(1, abs(rescue.new - rescue.old)):
                for value in (rescue.old - distance, rescue.old + distance):
                    if low <= value <= high:
                        assert not set(found.evidence_keys) & set(kept(**{rescue.setting: value})), value


@settings(max_examples=60, deadline=None)
@given(cases())
def test_where_no_rescue_is_reported_no_small_change_of_an_integer_keeps_the_chunk(case):
    pieces, configuration, expected = case
    searcher, embedder = a_base(pieces), FixedEmbedder()
    found = explain_absence(searcher, embedder, "port", expected, configuration)
    if found.ending.end is End.KEPT:
        return
    rescued = {rescue.setting for rescue in found.rescues}
    tried = {
        "retrieve_k": range(configuration.return_n, 20),
        "return_n": range(1, configuration.retrieve_k + 1),
        "max_chunks_per_document": range(1, 20),
    }
    for setting in tried.keys() - rescued:
        for value in tried[setting]:
            changed = replace(configuration, **{setting: value})
            result = lookup_knowledge(searcher, embedder, "port", changed, trace=False)
            kept = {piece.document_id for piece in result.projection.evidence}
            assert not kept & set(found.evidence_keys), (setting, value)
