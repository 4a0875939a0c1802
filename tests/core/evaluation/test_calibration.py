"""The cuts, from a base whose cosines are written down."""

import numpy as np
import pytest

from core.errors import RequestInvalid
from core.evaluation.calibration import Material, calibrate
from core.evaluation.query_sets import Judgment, Query, QuerySet
from core.model.search import Route, RouteList, RouteState, SearchRequest
from core.retrieval.configuration import Configuration
from core.retrieval.levels import Thresholds
from tests.builders import a_hit

COSINES = {
    "known": {"ops/a.md": 0.9, "ops/b.md": 0.7, "net/c.md": 0.5},
    "strange": {"ops/a.md": 0.6, "ops/b.md": 0.5, "net/c.md": 0.4},
}
ANY = Thresholds("none", False, -1.0, 1.0, related_margin=0.0, precise_margin=0.0)


class WrittenBase:
    """Answers dense searches from the table; whatever else is asked fails."""

    def __init__(self) -> None:
        self.asked: list[SearchRequest] = []

    def search_dense(self, request, vector):
        self.asked.append(request)
        wanted = request.category_filter
        found = [item for item in COSINES[request.query].items() if wanted in (None, item[0][:3])]
        hits = tuple(
            a_hit(f"default/{name}", 0, rank=rank, source=name, category=name[:3], dense=(rank, cosine))
            for rank, (name, cosine) in enumerate(found, start=1)
        )
        return RouteList(Route.DENSE, RouteState.OK, hits, limit=20)


class OneVector:
    name = "written"

    def embed_query(self, text):
        return np.array([1.0], dtype=np.float32)


def a_material(base: WrittenBase) -> Material:
    return Material(
        name="written",
        searcher=base,
        questions=QuerySet("written", (Query("q1", "known"),), (Judgment("q1", "ops/a.md", 2),)),
        categories=("net", "ops"),
        category_of={"ops/a.md": "ops", "ops/b.md": "ops", "net/c.md": "net"},
    )


def a_calibration(unrelated=("strange",), base=None):
    return calibrate(
        [a_material(base or WrittenBase())], unrelated, OneVector(), Configuration(thresholds=ANY)
    )


def test_each_question_gets_the_numbers_that_the_levels_are_made_of():
    found = a_calibration()
    # background of "known": mean (0.9 + 0.7 + 0.5) / 3 = 0.7, deviation sqrt((0.2^2 + 0 + 0.2^2) / 3)
    deviation = (0.08 / 3) ** 0.5
    assert found.unrelated.positives == pytest.approx((0.9,))
    assert found.unrelated.negatives == pytest.approx((0.6,))
    assert found.category.positives == pytest.approx((0.2 / deviation,))
    assert found.category.negatives == pytest.approx((-0.2 / deviation,))
    assert found.single_hit.positives == pytest.approx((0.2 / deviation,))
    assert found.single_hit.negatives == pytest.approx((-0.2 / deviation, 0.0))


def test_the_cuts_lie_between_the_groups_and_precise_is_never_below_related():
    cuts = a_calibration().thresholds
    assert (cuts.model, cuts.calibrated) == ("written", True)
    assert cuts.reference_threshold == pytest.approx((0.9 + 0.6) / 2)
    # the highest unrelated cosine is 0.6, below the floor of RELATED
    assert cuts.precise_threshold == pytest.approx(0.75)
    assert cuts.related_margin == pytest.approx(0.0)
    # 19 of 20 stray hits do not exceed the second of two, 0.0
    assert cuts.precise_margin == pytest.approx(0.0)


def test_only_the_category_changes_between_the_searches_of_one_question():
    base = WrittenBase()
    a_calibration(base=base)
    assert [(r.query, r.category_filter) for r in base.asked] == [
        ("known", None),
        ("known", "net"),
        ("known", "ops"),
        ("strange", None),
    ]


def test_without_unrelated_questions_there_is_nothing_to_cut():
    with pytest.raises(RequestInvalid, match="no negative example"):
        a_calibration(unrelated=())
