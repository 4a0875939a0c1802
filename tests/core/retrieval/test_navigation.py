"""Which category the words of a query set, and why."""

import pytest

from core.errors import SettingsInvalid
from core.model.lookup import MatchedDomain
from core.retrieval.navigation import Domain, DomainDictionary, navigate, navigate_lookup, read_domains
from tests.core.retrieval.scripted import ScriptedPort, a_configuration

PAYMENTS = Domain("payments", ("PAY-3107", "refund", "退款"))
DATABASE = Domain("database", ("E-1042", "连接池", "连接池耗尽"))
BOTH = DomainDictionary((PAYMENTS, DATABASE))
HELD = {"payments", "database"}


@pytest.mark.parametrize(
    ("query", "category"),
    [
        ("what does PAY-3107 mean", "payments"),
        ("pay-3107", "payments"),
        ("REFUND is stuck", "payments"),
        ("客户退款没到账", "payments"),
        ("why E-1042 again", "database"),
    ],
)
def test_exactly_one_matching_domain_sets_the_category(query, category):
    assert navigate(query, BOTH, HELD).category == category


@pytest.mark.parametrize("query", ["PAY-31070", "XPAY-3107", "refunds", "E-10422", "nothing of it"])
def test_a_word_inside_a_longer_one_matches_nothing(query):
    found = navigate(query, BOTH, HELD)
    assert (found.matched, found.category) == ((), None)
    assert "no word of the domain dictionary" in found.reason


def test_several_domains_set_no_category_and_are_named_with_their_words():
    found = navigate("refund after E-1042", BOTH, HELD)
    assert found.category is None
    assert found.matched == (MatchedDomain("payments", ("refund",)), MatchedDomain("database", ("E-1042",)))
    assert found.reason.startswith("2 domains match: ")
    assert "refund" in found.reason
    assert "E-1042" in found.reason


def test_a_domain_whose_category_holds_nothing_is_named_and_sets_none():
    found = navigate("refund", BOTH, {"database"})
    assert found.category is None
    assert "payments" in found.reason


def test_an_empty_dictionary_sets_none():
    assert navigate("refund", DomainDictionary(()), HELD).category is None


def test_a_category_asked_for_by_hand_stays():
    port = ScriptedPort({}, counts={"payments": 3})
    asked = a_configuration(navigate=True, category="database")
    found = navigate_lookup(port, "refund", asked, BOTH)
    assert found.category is None
    assert "by hand" in found.reason
    assert port.counted == []


def test_documents_are_counted_in_the_knowledge_base_asked_for_only():
    port = ScriptedPort({}, counts={"payments": 3})
    found = navigate_lookup(port, "refund", a_configuration(navigate=True, kb_scope="team-a"), BOTH)
    assert found.category == "payments"
    assert port.counted == [("payments", "team-a")]


def test_without_being_asked_for_nothing_is_navigated():
    assert navigate_lookup(ScriptedPort({}), "refund", a_configuration(), BOTH) is None


def test_a_missing_dictionary_says_which_setting_names_one():
    found = navigate_lookup(ScriptedPort({}), "refund", a_configuration(navigate=True), None)
    assert (found.category, found.matched) == (None, ())
    assert "retrieval.navigation.domains" in found.reason


def test_a_file_is_read_in_its_order_without_repeats(tmp_path):
    file = tmp_path / "domains.toml"
    file.write_text('[domains]\npayments = ["PAY-3107", "pay-3107", "退款"]\nops = []\n', encoding="utf-8")
    assert read_domains(file).domains == (Domain("payments", ("PAY-3107", "退款")), Domain("ops", ()))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[domain]\nx = ["a"]\n', "domain: there is no such entry"),
        ('domains = "x"\n', "this must be a table"),
        ('[domains]\npayments = "refund"\n', "payments"),
        ('[domains]\npayments = ["  "]\n', "payments"),
        ("[domains\n", "domains.toml"),
    ],
)
def test_a_file_with_faults_is_refused_with_their_names(tmp_path, text, fault):
    file = tmp_path / "domains.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsInvalid) as caught:
        read_domains(file)
    assert fault in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsInvalid, match=r"nowhere\.toml"):
        read_domains(tmp_path / "nowhere.toml")


def test_another_dictionary_has_another_hash():
    assert BOTH.hash != DomainDictionary((PAYMENTS,)).hash
    assert BOTH.hash == DomainDictionary((PAYMENTS, DATABASE)).hash
