"""Metrics at the level of documents, with expected values worked out by hand."""

import json
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RequestInvalid
from core.evaluation.metrics import Scores, document_of, first_occurrences, mean, measure


def test_a_repeated_document_counts_once_evl_01():
    scores = measure(
        {"q1": ["c1", "c1", "c2"], "q2": ["c9"]}, {"q1": {"c1": 1, "c3": 1}, "q2": {"c9": 1}}, k=3
    )

    assert scores["q1"].recall == 1 / 2
    assert scores["q1"].mrr == 1
    assert scores["q1"].ndcg == pytest.approx(1 / (1 + 1 / log2(3)))
    assert scores["q1"].precision == pytest.approx(1 / 3)
    assert scores["q2"] == Scores(ndcg=1, recall=1, mrr=1, precision=pytest.approx(1 / 3))
    assert mean(scores.values()).recall == (1 / 2 + 1) / 2


def test_the_shared_run_with_duplicates_stays_within_one_evl_01(shared):
    case = json.loads((shared / "cases/files/eval_dup_run.json").read_text(encoding="utf-8"))
    grades = {query: dict.fromkeys(relevant, 1) for query, relevant in case["qrels"].items()}

    scores = measure(case["run"], grades, k=case["k"])

    assert [scores["q1"].recall, scores["q2"].recall] == [1 / 2, 1]


@pytest.mark.parametrize("order", [("a", "b", "c"), ("b", "a", "c")])
def test_the_order_shown_decides_and_not_the_names_evl_03(order):
    at_one = measure({"q": order}, {"q": {"c": 1}}, k=1)["q"]
    at_three = measure({"q": order}, {"q": {"c": 1}}, k=3)["q"]

    assert at_one == Scores(ndcg=0, recall=0, mrr=0, precision=0)
    assert at_three == Scores(
        ndcg=pytest.approx(1 / log2(4)), recall=1, mrr=pytest.approx(1 / 3), precision=pytest.approx(1 / 3)
    )


def test_three_chunks_of_the_right_document_are_one_document_evl_04():
    chunks = ["docA#chunk-0", "docA#chunk-1", "docA#chunk-2", "docB#chunk-0"]
    documents = [document_of(chunk) for chunk in chunks]

    assert first_occurrences(documents) == ("docA", "docB")
    assert measure({"q1": documents}, {"q1": {"docA": 1}}, k=3)["q1"] == Scores(
        ndcg=1, recall=1, mrr=1, precision=pytest.approx(1 / 3)
    )


def test_repeated_documents_do_not_use_up_the_k_ranks():
    assert measure({"q": ["a", "a", "b"]}, {"q": {"b": 1}}, k=2)["q"].recall == 1


def test_only_a_chunk_number_at_the_end_is_taken_off_a_key():
    assert document_of("ops/a#chunk-1.md#chunk-12") == "ops/a#chunk-1.md"
    assert document_of("vector:17") == "vector:17"
    assert document_of("a.md#chunk-x") == "a.md#chunk-x"


def test_gain_is_linear_in_the_grade():
    scores = measure({"q": ["low", "other", "high"]}, {"q": {"high": 2, "low": 1}}, k=3)["q"]

    assert scores.ndcg == pytest.approx((1 + 2 / log2(4)) / (2 + 1 / log2(3)))
    assert scores.precision == pytest.approx(2 / 3)


@pytest.mark.parametrize("rankings", [{}, {"q": []}])
def test_a_query_without_results_scores_zero(rankings):
    assert measure(rankings, {"q": {"a": 1}}, k=10)["q"] == Scores(0, 0, 0, 0)


def test_a_query_without_relevant_documents_is_not_measured():
    grades = {"judged": {"a": 1}, "only zero": {"a": 0}, "not judged": {}}

    assert list(measure({query: ["a"] for query in grades}, grades, k=5)) == ["judged"]


def test_nothing_to_measure_gives_nothing():
    assert measure({"q": ["a"]}, {}, k=5) == {}
    assert mean([]) is None


def test_k_below_one_is_refused():
    with pytest.raises(RequestInvalid, match="k is 0; it must be at least 1"):
        measure({}, {"q": {"a": 1}}, k=0)


def test_the_mean_is_taken_over_each_number():
    means = mean([Scores(ndcg=1, recall=1, mrr=1, precision=0.5), Scores(0, 0.5, 0.25, 0)])

    assert means == Scores(ndcg=0.5, recall=0.75, mrr=0.625, precision=0.25)


names = st.sampled_from([f"文件 {i}.md" for i in range(12)])


@given(
    ranking=st.lists(names, max_size=20),
    grades=st.dictionaries(names, st.integers(0, 10), min_size=1),
    k=st.integers(1, 15),
)
def test_numbers_agree_with_the_formulas_written_out(ranking, grades, k):
    relevant = {document for document, grade in grades.items() if grade > 0}
    top = list(dict.fromkeys(ranking))[:k]
    ideal = sorted(grades.values(), reverse=True)[:k]
    scores = measure({"q": ranking}, {"q": grades}, k=k)

    if not relevant:
        assert scores == {}
        return
    gained = sum(grades.get(document, 0) / log2(rank + 1) for rank, document in enumerate(top, 1))
    possible = sum(grade / log2(rank + 1) for rank, grade in enumerate(ideal, 1))
    first = next((1 / rank for rank, document in enumerate(top, 1) if document in relevant), 0)
    assert scores["q"] == Scores(
        ndcg=pytest.approx(gained / possible),
        recall=pytest.approx(len(relevant & set(top)) / len(relevant)),
        mrr=pytest.approx(first),
        precision=pytest.approx(len(relevant & set(top)) / k),
    )
