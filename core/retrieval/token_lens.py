"""A query, and if asked one chunk, as BM25 sees them.

In: a search port, a question, and the evidence key of a chunk. Out: a `TokenLens`. Invariant: the
analyzer, the counts and the scores are those of the build that answers; nothing is computed from the
settings, and a part that the store cannot tell is None.

BM25 is a sum over the terms of the query, so a term's part is the chunk's score for that term alone
times its repetitions in the query; the parts add up to the chunk's score.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from core.errors import RequestInvalid
from core.model.documents import chunk_id
from core.model.search import SearchRequest
from core.model.token_lens import (
    ChunkLens,
    LensWarning,
    LensWarningKind,
    QueryTerm,
    SharedTerm,
    TermMatch,
    TokenLens,
    can_be_searched,
    kept_terms,
)
from core.ports import KnowledgeSearchPort
from core.retrieval.query import normalise_query

LONGEST_TERM_CHARACTERS = 64
"""A SHA-256 in hex digits; the longest alert name of the judged runbooks has 47 characters."""

LONGEST_UNSPACED_CHARACTERS = 16
"""The longest entry of jieba's dictionary, for scripts that put no space between words."""

_UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
_CHUNK_KEY = re.compile(r"(?P<document>.+)#chunk-(?P<index>[0-9]{1,18})", re.DOTALL)
_ROW_KEY = re.compile(r"vector:(?P<id>.+)", re.DOTALL)
_SHOWN_CHARACTERS = 24


def look_through(port: KnowledgeSearchPort, question: str, key: str | None = None) -> TokenLens:
    """Put a question, and with `key` one chunk, under the lens.

    Args:
        port: reads the live build, or one by name.
        question: as it was typed; normalised as a lookup does.
        key: evidence key of a chunk in any category and knowledge base; None for the question alone.

    Raises:
        RequestInvalid: the question is empty or too long, or the key names no chunk of the build.
        HybridUnsupported: the build has no BM25 field.
        StoreError: see `KnowledgeSearchPort`.
    """
    query = SearchRequest(normalise_query(_valid("question", question))).query
    build = port.identify().name
    chunks = port.count()
    terms = port.terms(query)
    times = Counter(kept_terms(terms))
    found = port.document_frequencies(tuple(times))
    asked = tuple(QueryTerm(term, n, found[term], is_giant(term)) for term, n in times.items())
    chunk = None if key is None else _chunk_lens(port, query, times, key, build)
    warnings = _query_warnings(asked, chunks) if can_be_searched(terms) else (_no_terms(),)
    if chunk is not None and not chunk.shared and can_be_searched(terms):
        warnings = (*warnings, _nothing_shared(chunk.evidence_key))
    return TokenLens(query, build, chunks, terms, asked, chunk, warnings)


def is_giant(term: str) -> bool:
    """Tell whether a term is a long run that the analyzer did not cut.

    More than 64 characters; more than 16 when one of them belongs to a script that puts no space
    between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese). Such a term finds only a chunk that
    holds the very same run.
    """
    if len(term) > LONGEST_TERM_CHARACTERS:
        return True
    return len(term) > LONGEST_UNSPACED_CHARACTERS and any(map(_is_unspaced, term))


def _is_unspaced(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_UNSPACED_SCRIPTS)


def _chunk_lens(
    port: KnowledgeSearchPort, query: str, times: Counter[str], key: str, build: str
) -> ChunkLens:
    clean = unicodedata.normalize("NFC", _valid("evidence key", key)).strip()
    match = port.match_terms(query, _primary_key(clean))
    if match is None:
        raise RequestInvalid(
            f"Build {build} holds no chunk {clean!r}. Take the key from the column evidence of a search."
        )
    terms = port.terms(match.search_text)
    return ChunkLens(clean, terms, _shared(match, times, Counter(kept_terms(terms))), match.score)


def _shared(match: TermMatch, times: Counter[str], held: Counter[str]) -> tuple[SharedTerm, ...]:
    """Weigh the units by their repetitions; the only unknown part is what the others leave."""
    parts = {term: None if unit is None else times[term] * unit for term, unit in match.unit_scores.items()}
    unknown = [term for term, part in parts.items() if part is None]
    if len(unknown) == 1:
        known = sum(part for part in parts.values() if part is not None)
        parts[unknown[0]] = match.score - known
    return tuple(SharedTerm(term, times[term], held[term], part) for term, part in parts.items())


def _primary_key(key: str) -> str:
    """Derive the primary key of a chunk from its evidence key."""
    chunk = _CHUNK_KEY.fullmatch(key)
    if chunk is not None:
        return chunk_id(chunk["document"], int(chunk["index"]))
    row = _ROW_KEY.fullmatch(key)
    if row is not None:
        return row["id"]
    raise RequestInvalid(
        f"{key!r} is no evidence key. Give one such as base/guide.md#chunk-3, as a search prints it."
    )


def _valid(name: str, text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RequestInvalid(f"The {name} is not valid Unicode ({error.reason}). Type it again.") from error
    return text


def _query_warnings(asked: Sequence[QueryTerm], chunks: int) -> tuple[LensWarning, ...]:
    warnings = [
        LensWarning(
            LensWarningKind.GIANT_TERM,
            f"The term {term.text[:_SHOWN_CHARACTERS] + '…'!r} has {len(term.text):,} characters: the "
            "analyzer did not cut this run, so it finds only chunks with the very same one. Put spaces "
            "between its words.",
        )
        for term in asked
        if term.giant
    ]
    if all(term.document_frequency == 0 for term in asked):
        warnings.append(
            LensWarning(
                LensWarningKind.NONE_IN_BASE,
                f"None of the {chunks:,} chunks holds a term of the question, so BM25 finds nothing. Use "
                "the words of the documents, or index documents on this topic.",
            )
        )
    return tuple(warnings)


def _no_terms() -> LensWarning:
    return LensWarning(
        LensWarningKind.NO_TERMS,
        "The analyzer leaves no word or number of the question, so BM25 is not asked. Name what you look "
        "for.",
    )


def _nothing_shared(key: str) -> LensWarning:
    return LensWarning(
        LensWarningKind.NOTHING_SHARED,
        f"The chunk {key!r} holds no term of the question: BM25 cannot find it, only dense search can.",
    )
