"""Token counters whose numbers can be worked out by hand."""

from collections.abc import Sequence

import pytest

from core.adapters.embedders.hashing import WordCounter


class CharacterCounter:
    """Every character that is not white space is one token."""

    def __init__(self, max_tokens: int = 10_000, overhead_tokens: int = 0) -> None:
        self.max_tokens = max_tokens
        self.overhead_tokens = overhead_tokens
        self.calls = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        self.calls += 1
        return [len(self._spans(text)) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        self.calls += 1
        return self._spans(text)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        return [(i, i + 1) for i, character in enumerate(text) if not character.isspace()]


@pytest.fixture(scope="session")
def words() -> WordCounter:
    """A window of 512 tokens, 4 of them for prompt and special tokens."""
    return WordCounter()


@pytest.fixture
def characters() -> CharacterCounter:
    return CharacterCounter()
