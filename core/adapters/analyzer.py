"""How text becomes terms for BM25: the analyzer of `search_text`, and the same cut in plain Python.

In: a text. Out: its terms in order, with repetitions. Invariant: `analyze` gives the terms that
Milvus Lite stores for the same text, so that a query without terms is known before it is sent.

Why these filters: Milvus Lite knows the tokenizer and the stop words and passes over the rest; a
server needs `lowercase` and `cnalphanumonly`, because its jieba keeps the space as a term that
matches everything.

Why function words: on 124 judged questions about 108 English runbooks they raised the nDCG@10 of BM25
from 0.819 to 0.836 and of hybrid search from 0.843 to 0.851; "how do I" says nothing about an answer.
"""

import json
import logging
from collections.abc import Mapping

from core.model.token_lens import Term, kept_terms

PUNCTUATION: tuple[str, ...] = (
    " ",
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    *"，。！？；：、（）《》〈〉【】「」『』〔〕“”‘’…—～·￥",
)

_QUESTION_TEXT = """
a an and are as at be but by for if in into is it of on or such that the their then there these they
this to was will with i me my we our you your he she its what which who whom how why when where do does
did been being have has had am were can could should would may might must from than just about any some
的 了 吗 呢 吧 啊 是 在 和 与 及 或 就 也 都 而 把 被 让 给 对 这 那 有 我 你 他 她 它 我们 你们 他们
怎么 怎么办 怎样 如何 什么 哪 哪个 哪些 为什么 请问 一下
"""

FUNCTION_WORDS: tuple[str, ...] = tuple(_QUESTION_TEXT.split())
"""Words that a question has and an answer needs not; none that names a thing or its state (no, not)."""

STOP_WORDS = (*PUNCTUATION, *FUNCTION_WORDS)

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
    return kept_terms(terms_of(text))


def terms_of(text: str) -> tuple[Term, ...]:
    """Cut a text into terms as `analyze` does, the dropped stop words and punctuation among them."""
    import jieba  # loads a dictionary, which only a search or a write needs

    quieten_tokenizer()
    words = (word.strip().lower() for word in jieba.cut_for_search(text))
    return tuple(Term(word, dropped=word in _STOP) for word in words if word)


def quieten_tokenizer() -> None:
    """Keep jieba from printing that it loads its dictionary; its warnings and errors still show.

    Milvus Lite uses jieba of its own accord, so whoever opens Milvus Lite asks for this first.
    """
    import jieba  # as above

    jieba.setLogLevel(logging.WARNING)


def has_terms(query: str) -> bool:
    """Tell whether BM25 has anything to look for: a term with at least one letter or digit."""
    return any(any(character.isalnum() for character in term) for term in analyze(query))
