"""Files of judged queries: read whole or not at all, with every fault at its line."""

import json
from collections import Counter

import pytest

from core.errors import QuerySetInvalid
from core.evaluation.query_sets import Judgment, Query, QuerySet
from core.evaluation.reading import parse_query_set, read_query_set

FULL = {
    "query_id": "q1",
    "text": " KubeletDown? ",
    "kind": "term",
    "language": "en",
    "category": "ops",
    "right_category": "node",
    "notes": "from a ticket",
    "judgments": [
        {"document": "ops/a.md", "grade": 2, "heading": "Mitigation"},
        {"document": "b.md", "grade": 0},
    ],
}


def jsonl(*records: object) -> bytes:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode()


def faults_of(data: bytes) -> list[str]:
    with pytest.raises(QuerySetInvalid) as caught:
        parse_query_set("ops", data)
    head, *faults = str(caught.value).split("\n  ")
    assert head == "The query set 'ops' was not read; correct the file and give it again:"
    return faults


def test_a_line_holds_a_query_and_its_judgments():
    assert parse_query_set("ops", jsonl(FULL)) == QuerySet(
        "ops",
        (Query("q1", "KubeletDown?", "term", "en", "ops", "node", "from a ticket"),),
        (Judgment("q1", "ops/a.md", 2, "Mitigation"), Judgment("q1", "b.md", 0)),
    )


def test_only_id_and_text_are_needed():
    read = parse_query_set("ops", jsonl({"query_id": "q1", "text": "磁盘满了"}))

    assert read.queries == (Query("q1", "磁盘满了", "unspecified", None, None, None, ""),)
    assert read.judgments == ()


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_are_no_faults_evl_09():
    line = jsonl({"query_id": "q1", "text": "t"})
    other = jsonl({"query_id": "q2", "text": "t"})

    read = parse_query_set("ops", b"\xef\xbb\xbf" + line + b"\r\n\r\n  \n" + other + b"\r\n")

    assert [query.query_id for query in read.queries] == ["q1", "q2"]


def test_a_line_separator_inside_a_text_does_not_end_the_line():
    assert (
        parse_query_set("ops", jsonl({"query_id": "q1", "text": "a\u2028b"})).queries[0].text == "a\u2028b"
    )


def test_all_faults_are_reported_with_their_lines_evl_09():
    data = b"\n".join([
        jsonl({"query_id": "q1", "text": "first"}),
        jsonl({"query_id": "q1", "text": "again"}),
        jsonl({"query_id": "q2", "text": "t", "judgments": [{"document": "a.md", "grade": 0}]}),
        jsonl({"query_id": "q3", "text": "t", "mood": "sad"}),
        b"",
        b'{"query_id": "q4", "text"',
        b'["q5"]',
        jsonl({"query_id": "q6", "text": "  "}),
        jsonl({"query_id": "q7", "text": "t", "judgments": [{"document": "a.md", "grade": "two"}]}),
    ])  # fmt: skip

    assert faults_of(data) == [
        "line 6: not valid JSON (Expecting ':' delimiter at column 26).",
        "line 7: a line must be a JSON object, in braces.",
        "line 8: text: String should have at least 1 character.",
        "line 9: judgments.0.grade: Input should be a valid integer.",
        "line 2: the query id 'q1' stands on line 1 already.",
    ]


def test_grade_zero_and_unknown_keys_are_read_and_unknown_keys_are_said_evl_09():
    read = parse_query_set(
        "ops",
        jsonl(
            {"query_id": "q1", "text": "t", "mood": "sad", "judgments": [{"document": "a.md", "grade": 0}]},
            {
                "query_id": "q2",
                "text": "t",
                "mood": 3,
                "judgments": [{"document": "a", "grade": 1, "by": 1}],
            },
        ),
    )

    assert read.grades() == {"q1": {"a.md": 0}, "q2": {"a": 1}}
    assert read.warnings == (
        "The key 'mood' has no meaning here and was ignored (2 times).",
        "The key 'judgments.by' has no meaning here and was ignored (1 times).",
    )


@pytest.mark.parametrize("grade", [True, 1.0, -1, 11, None, "1"])
def test_a_grade_is_a_whole_number_from_0_to_10(grade):
    record = {"query_id": "q1", "text": "t", "judgments": [{"document": "a.md", "grade": grade}]}

    assert [fault[:27] for fault in faults_of(jsonl(record))] == ["line 1: judgments.0.grade: "]


def test_another_encoding_is_named_with_its_line_evl_09():
    data = (
        jsonl({"query_id": "q1", "text": "t"}) + b"\n" + '{"query_id": "q2", "text": "磁盘"}'.encode("gbk")
    )

    assert faults_of(data) == ["line 2: byte 0xb4 is not UTF-8. Save it as UTF-8."]


def test_an_empty_file_is_refused():
    assert faults_of(b"\xef\xbb\xbf\n\n") == ["It holds no query."]


def test_a_text_that_no_search_would_take_is_refused_at_reading():
    assert faults_of(jsonl({"query_id": "q1", "text": "㎏" * 1001})) == [
        "line 1: text: the text has 2,002 characters; at most 2,000 are allowed."
    ]


@pytest.mark.parametrize(
    "line", [b'{"query_id": "q1", "text": "\\ud800"}', b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"]
)
def test_hostile_lines_are_faults_and_not_crashes(line):  # fmt: skip
    assert [fault.startswith("line 1: ") for fault in faults_of(line)] == [True]


def test_a_judgment_given_twice_counts_once_and_is_said_evl_06():
    twice = [
        {"document": "c1", "grade": 1},
        {"document": "c1", "grade": 1},
        {"document": "c404", "grade": 1},
    ]

    read = parse_query_set("ops", jsonl({"query_id": "q1", "text": "t", "judgments": twice}))

    assert read.judgments == (Judgment("q1", "c1", 1), Judgment("q1", "c404", 1))
    assert read.warnings == ("line 1: 'c1' is judged twice for 'q1'; it counts once.",)


def test_two_grades_for_one_document_are_refused():
    twice = [{"document": "c1", "grade": 1}, {"document": "c1", "grade": 2}]

    assert faults_of(jsonl({"query_id": "q1", "text": "t", "judgments": twice})) == [
        "line 1: 'c1' has grade 2 for 'q1', but 1 on line 1."
    ]


def test_names_are_read_in_composed_form():
    record = {"query_id": "q1", "text": "t", "judgments": [{"document": "cafe\u0301.md", "grade": 1}]}

    assert parse_query_set("ops", jsonl(record)).judgments == (Judgment("q1", "caf\u00e9.md", 1),)


def test_many_faults_are_cut_and_counted():
    faults = faults_of(b"\n".join([b"{"] * 25))

    assert len(faults) == 21
    assert faults[-1] == "and 5 more."


def write_folder(folder, queries, judgments):
    (folder / "queries.jsonl").write_bytes(jsonl(*queries))
    (folder / "qrels.tsv").write_text(judgments, encoding="utf-8")


def test_a_folder_holds_queries_and_judgments_apart(tmp_path):
    write_folder(
        tmp_path,
        [{"query_id": "q1", "text": "t", "lang": "en"}],
        "query_id\tdoc_id\tgrade\r\nq1\ta b.md\t2\r\n",
    )
    (tmp_path / "queries_filter.jsonl").write_bytes(
        jsonl(
            {
                "query_id": "f1",
                "text": "t",
                "kind": "filter",
                "filter": {"category": "etcd"},
                "right_category": "node",
            }
        )
    )
    (tmp_path / "qrels_filter_unfiltered.tsv").write_text(
        "query_id\tdoc_id\tgrade\nf1\tc.md\t1\n", encoding="utf-8"
    )

    assert read_query_set(tmp_path) == QuerySet(
        tmp_path.name,
        (Query("q1", "t", language="en"), Query("f1", "t", "filter", None, "etcd", "node")),
        (Judgment("q1", "a b.md", 2), Judgment("f1", "c.md", 1)),
    )


def test_faults_of_a_folder_name_the_file_and_the_line_evl_09(tmp_path):
    write_folder(
        tmp_path,
        [{"query_id": "q1", "text": "t"}],
        "query_id\tdoc_id\tgrade\nq1\ta.md\t2\nq1\ta.md\t1\nq2\ta.md\t1\n\nq1\tb.md\tyes\nq1\tb.md\nq1\t\t1\nq1\tc.md\t11",
    )
    (tmp_path / "queries_filter.jsonl").write_bytes(b"")

    with pytest.raises(QuerySetInvalid) as caught:
        read_query_set(tmp_path)

    assert str(caught.value).split("\n  ")[1:] == [
        "qrels_filter_unfiltered.tsv is missing.",
        "qrels.tsv line 4: there is no query 'q2'.",
        "qrels.tsv line 6: the grade is 'yes'; it must be a whole number from 0 to 10.",
        "qrels.tsv line 7: 2 columns; 3 are needed.",
        "qrels.tsv line 8: the query id or the document is empty.",
        "qrels.tsv line 9: the grade is '11'; it must be a whole number from 0 to 10.",
        "qrels.tsv line 3: 'a.md' has grade 1 for 'q1', but 2 on qrels.tsv line 2.",
    ]


def test_judgments_are_not_blamed_for_a_broken_query_line(tmp_path):
    write_folder(tmp_path, [{"query_id": "q1"}], "query_id\tdoc_id\tgrade\nq1\ta.md\t2\n")

    with pytest.raises(QuerySetInvalid) as caught:
        read_query_set(tmp_path)

    assert str(caught.value).split("\n  ")[1:] == ["queries.jsonl line 1: text: Field required."]


def test_judgments_need_their_header(tmp_path):
    write_folder(tmp_path, [{"query_id": "q1", "text": "t"}], "q1\ta.md\t2\n")

    with pytest.raises(
        QuerySetInvalid, match="line 1: the header must be query_id, doc_id, grade with tabs between"
    ):
        read_query_set(tmp_path)


def test_a_file_is_named_after_its_stem_and_a_missing_path_is_said(tmp_path):
    (tmp_path / "ops.jsonl").write_bytes(jsonl({"query_id": "q1", "text": "t"}))

    assert read_query_set(tmp_path / "ops.jsonl").name == "ops"
    with pytest.raises(QuerySetInvalid, match=r"none\.jsonl is neither a file nor a folder"):
        read_query_set(tmp_path / "none.jsonl")


def test_the_runbook_set_is_read_whole(shared):
    read = read_query_set(shared / "data/runbooks")

    assert Counter(query.kind for query in read.queries) == {"term": 74, "semantic": 50, "filter": 20}
    assert len(read.judgments) == 157 + 20
    assert sum(query.wrong_category for query in read.queries) == 20
    assert {query.language for query in read.queries} == {"en"}
