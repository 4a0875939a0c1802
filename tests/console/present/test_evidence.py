from console.present.evidence import attempt_cards, packing_finding, portions, route_counts
from tests.console.fakes import a_lookup, a_scored

LONG = "word " * 100


def test_a_budget_that_holds_everything_says_that_nothing_was_cut():
    result = a_lookup((a_scored("a", dense=0.9, content="12345", title="123"),), budget=100)
    assert packing_finding(result.packing) == "8 of 100 characters used (8%); nothing was cut"


def test_what_was_cut_and_left_out_is_told_and_kept_in_pack_order():
    rows = tuple(
        a_scored(name, dense=score, content=LONG) for name, score in (("a", 0.9), ("b", 0.8), ("c", 0.7))
    )
    result = a_lookup(rows, budget=700)
    pieces = portions(result.packing)
    assert [piece.evidence_key for piece in pieces] == [f"default/{name}.md#chunk-0" for name in "abc"]
    assert pieces[0].characters == pieces[0].full_characters
    assert pieces[-1].characters == 0
    assert "1 chunk left out" in packing_finding(result.packing)


def test_the_attempt_that_was_returned_is_marked():
    rows = (a_scored("a", dense=0.9, category="ops"),)
    cards = attempt_cards(a_lookup(rows, category="net"))
    assert [(card.name, card.filter_label, card.selected) for card in cards] == [
        ("filtered", "category = net", False),
        ("unfiltered", "all categories", True),
    ]
    assert cards[0].reason.endswith("The filter admits 0 chunks.")


def test_counts_of_each_route_that_was_asked():
    rows = (a_scored("a", dense=0.9), a_scored("b", sparse=1.0))
    assert route_counts(a_lookup(rows)) == "dense 1 · BM25 1 · fused 2"
