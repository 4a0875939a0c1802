import pytest

from core.adapters.embedders.texts import is_blank, refuse_unusable
from core.errors import EmbeddingFailed


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t", "\u3000", "\u200b\u200d", "\ufeff", "\x00\x01", "\u00ad"]
)
def test_text_without_a_visible_character_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " 数 ", ".", "🚀", "\u200ba"])
def test_one_visible_character_is_enough(text: str) -> None:
    assert not is_blank(text)


def test_the_first_bad_text_is_named_by_its_place() -> None:
    with pytest.raises(EmbeddingFailed, match=r"The passage 2 of 3 is blank \('  '\)"):
        refuse_unusable(["a", "  ", ""], what="passage")


def test_half_of_a_surrogate_pair_is_named_by_its_position() -> None:
    with pytest.raises(EmbeddingFailed, match=r"The query 1 of 1 holds half of a character at position 2"):
        refuse_unusable(["ab\ud83d"], what="query")


def test_good_texts_pass() -> None:
    refuse_unusable(["a", "数据库", "🚀"], what="passage")
    refuse_unusable([], what="passage")
