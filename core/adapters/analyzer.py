"""How text becomes terms for BM25: the analyzer of `search_text`, and the same cut in plain Python.

In: a text. Out: its terms in order, with repetitions. Invariant: `analyze` gives the terms that
Milvus Lite stores for the same text, so that a query without terms is known before it is sent.

Why these filters: Milvus Lite knows the tokenizer and the stop words and passes over the rest; a
server needs `lowercase` and `cnalphanumonly`, because its jieba keeps the space as a term that
matches everything.
"""

import json
import logging
from collections.abc import Mapping

STOP_WORDS: tuple[str, ...] = (
    " ",
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    *"，。！？；：、（）《》〈〉【】「」『』〔〕“”‘’…—～·￥",
)

ANALYZER_PARAMETERS: Mapping[str, object] = {
    "tokenizer": "jieba",
    "filter": ["lowercase", "cnalphanumonly", {"type": "stop", "stop_words": list(STOP_WORDS)}],
}

ANALYZER = json.dumps(ANALYZER_PARAMETERS, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
"""Canonical JSON of the analyzer, as it stands in a fingerprint."""

_STOP = frozenset(STOP_WORDS)


def analyze(text: str) -> tuple[str, ...]:
    """Cut a text into terms.

    The search mode of jieba: words, and the dictionary words of two and three characters inside
    longer ones; trimmed, in lower case, without stop words.

    Args:
        text: any text.

    Returns:
        The terms in order of appearance, with repetitions; empty when nothing is left.
    """
    import jieba  # loads a dictionary, which only a search or a write needs

    jieba.setLogLevel(logging.WARNING)
    words = (word.strip().lower() for word in jieba.cut_for_search(text))
    return tuple(word for word in words if word and word not in _STOP)


def has_terms(query: str) -> bool:
    """Tell whether BM25 has anything to look for: a term with at least one letter or digit."""
    return any(any(character.isalnum() for character in term) for term in analyze(query))
