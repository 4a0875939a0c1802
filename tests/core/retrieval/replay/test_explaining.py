"""The one sentence: what changed first and why it probably did."""

import pytest

from core.retrieval.replay.comparing import differences
from core.retrieval.replay.comparison import Change
from core.retrieval.replay.explaining import NOTHING, explain
from tests.core.retrieval.replay.material import looked_up

DENSE = {"a": 0.9, "b": 0.7}
BUILD = (Change("name", "kb_1", "kb_2"), Change("chunks", 3, 4))
INDEX = (Change("milvus.index", "FLAT", "HNSW"),)
RETURN_N = (Change("rag.return_n", 5, 3),)
DICTIONARY = (Change("retrieval.navigation.domains", "aa", "bb"),)
PYTHON = (Change("python", "3.11.1", "3.12.0"),)

SAME = differences(looked_up(DENSE, {}, DENSE), looked_up(DENSE, {}, DENSE))
MOVED = differences(looked_up(DENSE, {}, DENSE), looked_up({"b": 0.7, "c": 0.6}, {}, DENSE))
RESCORED = differences(looked_up(DENSE, {}, DENSE), looked_up({"a": 0.9, "b": 0.6}, {}, DENSE))
FIRST = "The dense list of attempt 'unfiltered' (1 new, 1 gone, 1 moved) changed first"


def test_nothing_changed_only_when_nothing_differs():
    assert explain(SAME, build=(), settings=(), versions=()) == NOTHING == "Nothing changed."


@pytest.mark.parametrize(
    ("differing", "sentence"),
    [
        ({"build": BUILD}, "The lookup is the same, although the build differs (name, chunks)."),
        ({"settings": RETURN_N}, "The lookup is the same, although settings differ (rag.return_n)."),
        ({"build": BUILD, "settings": INDEX, "versions": PYTHON},
         "The lookup is the same, although the build differs (name, chunks), settings differ "
         "(milvus.index) and versions differ (python)."),
    ],
)  # fmt: skip
def test_the_same_lookup_under_other_conditions_says_so(differing, sentence):
    assert explain(SAME, **{"build": (), "settings": (), "versions": (), **differing}) == sentence


@pytest.mark.parametrize(
    ("differing", "cause"),
    [
        ({"build": BUILD}, "probably because the build differs (name, chunks)"),
        ({"settings": INDEX}, "probably because settings differ (milvus.index)"),
        ({"settings": DICTIONARY}, "probably because settings differ (retrieval.navigation.domains)"),
        ({"versions": PYTHON}, "probably because versions differ (python)"),
        ({"build": BUILD, "settings": INDEX},
         "probably because the build differs (name, chunks) and settings differ (milvus.index)"),
        ({"settings": RETURN_N},
         "neither build, settings nor versions differ, so the store itself answers otherwise"),
        ({}, "neither build, settings nor versions differ, so the store itself answers otherwise"),
    ],
)  # fmt: skip
def test_a_cause_is_named_when_it_can_act_on_a_replay(differing, cause):
    sentence = explain(MOVED, **{"build": (), "settings": (), "versions": (), **differing})

    assert sentence == f"{FIRST}, and the agent gets something else; {cause}."


def test_scores_alone_leave_the_agent_with_the_same():
    assert explain(RESCORED, build=BUILD, settings=(), versions=()) == (
        "The dense list of attempt 'unfiltered' (1 with another score) changed first, and the agent gets "
        "the same; probably because the build differs (name, chunks)."
    )


def test_many_names_are_cut_and_counted():
    settings = tuple(Change(f"chunking.{number}", 1, 2) for number in range(6))

    assert "(chunking.0, chunking.1, chunking.2, chunking.3 and 2 more)" in explain(
        MOVED, build=(), settings=settings, versions=()
    )


def test_what_comes_later_on_the_line_is_first_when_nothing_before_it_changed():
    then = looked_up(DENSE, {}, DENSE)
    now = looked_up(DENSE, {}, DENSE, return_n=1)

    assert explain(differences(then, now), build=(), settings=(), versions=()).startswith(
        "The end of candidates in the ledger changed first, and the agent gets something else; "
    )
