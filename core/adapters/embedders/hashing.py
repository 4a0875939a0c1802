"""An embedder and a token counter without a model, for tests and trials.

In: texts. Out: vectors and token counts that depend on the text alone, the same on every machine.
Invariant: texts that share words or character runs are closer than texts that do not; meaning is not
understood, so nothing here is fit for a real knowledge base.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from core.adapters.embedders.texts import refuse_unusable
from core.ports import Progress, Vector, Vectors

DIMENSION = 64
GRAM_CHARACTERS = 3
WORD_WEIGHT = 1.0
GRAM_WEIGHT = 0.5
LONGEST_WORD_TOKEN = 20

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]{{1,{LONGEST_WORD_TOKEN}}}|[^\w\s]")
WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")


class HashingEmbedder:
    """`Embedder` of dimension 64: words and character trigrams, hashed with a sign and summed.

    A query and a passage with the same text have the same vector: there are no prompts. Letter
    case and width of characters do not matter.

    Source: Weinberger et al., Feature Hashing for Large Scale Multitask Learning, 2009.
    """

    def __init__(self, *, batch_size: int = 32) -> None:
        self._batch_size = batch_size

    @property
    def name(self) -> str:
        """Always `hashing`."""
        return "hashing"

    @property
    def revision(self) -> str:
        """Changes when the features do."""
        return "1"

    @property
    def dimension(self) -> int:
        """Always 64."""
        return DIMENSION

    @property
    def query_prompt(self) -> str:
        """No prompt."""
        return ""

    @property
    def passage_prompt(self) -> str:
        """No prompt."""
        return ""

    def embed_query(self, text: str) -> Vector:
        """Embed one text.

        Raises:
            EmbeddingFailed: the text is blank.
        """
        refuse_unusable([text], what="query")
        return _hashed(text)

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Embed texts; row i belongs to text i; `(0, 64)` for none.

        Raises:
            EmbeddingFailed: a text is blank.
        """
        refuse_unusable(texts, what="passage")
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), self._batch_size):
            batch = texts[start : start + self._batch_size]
            for row, text in enumerate(batch, start=start):
                vectors[row] = _hashed(text)
            if progress is not None:
                progress(start + len(batch), len(texts))
        return vectors


class WordCounter:
    """`TokenCounter` that counts words, and characters where there are no words.

    One token is a Chinese, Japanese or Korean character, a run of other letters and digits (up to
    20; a longer run is cut, as a model would), or another visible sign.
    """

    def __init__(self, *, max_tokens: int = 512, overhead_tokens: int = 4) -> None:
        self._max_tokens = max_tokens
        self._overhead_tokens = overhead_tokens

    @property
    def max_tokens(self) -> int:
        """As given; 512 by default."""
        return self._max_tokens

    @property
    def overhead_tokens(self) -> int:
        """As given; 4 by default."""
        return self._overhead_tokens

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count tokens of each text alone; [] for no texts."""
        return [sum(1 for _ in TOKEN.finditer(text)) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span `[start, end)` of each token, in order; spaces lie in none."""
        return [match.span() for match in TOKEN.finditer(text)]


def _hashed(text: str) -> Vector:
    vector = np.zeros(DIMENSION, dtype=np.float64)
    for feature, weight in _features(text):
        hashed = zlib.crc32(feature.encode("utf-8"))
        # One bit chooses the sign, others the place, so the two do not depend on each other.
        vector[hashed % DIMENSION] += weight if hashed & 0x80000000 else -weight
    norm = float(np.linalg.norm(vector))
    if norm == 0.0:
        vector[zlib.crc32(text.encode("utf-8")) % DIMENSION] = norm = 1.0
    return (vector / norm).astype(np.float32)


def _features(text: str) -> Iterator[tuple[str, float]]:
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    for word in WORD.findall(plain):
        yield f"word {word}", WORD_WEIGHT
    for start in range(len(plain) - GRAM_CHARACTERS + 1):
        yield f"gram {plain[start : start + GRAM_CHARACTERS]}", GRAM_WEIGHT
