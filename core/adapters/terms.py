"""What one term is worth, from a store that only answers for whole texts.

In: how a store cuts and scores texts. Out: scores of queries that are one term once. Invariant: a
term that no combination of asked texts isolates is None, never guessed.

Why a term cannot simply be asked: the analyzer cuts it again. In search mode the word 数据库 asks for
数据 and 据库 too, so its own share is what is left of its score without theirs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from core.model.token_lens import Term

Cut: TypeAlias = Callable[[Sequence[str]], Sequence[tuple[str, ...]]]
"""Texts to the terms of each that BM25 looks for."""

RowScores: TypeAlias = Mapping[str, float]
"""By primary key; a row without a share of the text is not in it."""

NOISE = 1e-4
"""Share of a text's score below which a difference is rounding.

A word's inner words stand wherever it stands, so they are no rarer and never worth many times more;
scores travel as 32-bit floats, which carry seven digits."""


def aligned(words: Iterable[str], kept: Sequence[str]) -> tuple[Term, ...]:
    """Mark the words that an analyzer drops.

    Args:
        words: all words in order, as the analyzer cuts before it drops any.
        kept: what it leaves of them, in the same order.

    Returns:
        Every word, dropped or not; the kept ones alone when they are no part of the words, because
        an analyzer changed them after cutting.
    """
    terms: list[Term] = []
    position = 0
    for word in words:
        stays = position < len(kept) and kept[position] == word
        position += stays
        terms.append(Term(word, dropped=not stays))
    return tuple(terms) if position == len(kept) else tuple(map(Term, kept))


def unit_scores(
    terms: Sequence[str], cut: Cut, score: Callable[[str], RowScores | None]
) -> dict[str, RowScores | None]:
    """Score rows for each term alone.

    Args:
        terms: as the store's analyzer made them; repetitions count once.
        cut: the store's analyzer.
        score: rows with a share of a text; None when the store does not return all of them.

    Returns:
        By term in the order given, the rows that hold it with their scores. None for a term that the
        analyzer does not make of the term itself, or whose rows are not all known.
    """
    cuts = _closed(terms, cut)
    found: dict[str, RowScores | None] = {}
    for term in sorted(cuts, key=len):
        found[term] = _isolated(term, cuts[term], found, score)
    return {term: found[term] for term in terms}


def _closed(terms: Sequence[str], cut: Cut) -> dict[str, Counter[str]]:
    """Cut the terms, then what they are cut into, until nothing new comes."""
    cuts: dict[str, Counter[str]] = {}
    fresh = list(dict.fromkeys(terms))
    while fresh:
        made = [Counter(each) for each in cut(fresh)]
        cuts.update(zip(fresh, made, strict=True))
        # A term that is not among its own pieces is unknown whatever they are worth.
        inner = (
            piece for term, pieces in zip(fresh, made, strict=True) if pieces[term] for piece in pieces
        )
        fresh = [piece for piece in dict.fromkeys(inner) if piece not in cuts]
    return cuts


def _isolated(
    term: str,
    pieces: Counter[str],
    shorter: Mapping[str, RowScores | None],
    score: Callable[[str], RowScores | None],
) -> RowScores | None:
    if not pieces[term]:
        return None
    others = {piece: times for piece, times in pieces.items() if piece != term}
    known = {piece: shorter.get(piece) for piece in others}
    whole = None if None in known.values() else score(term)
    if whole is None:
        return None
    left = dict(whole)
    for piece, times in others.items():
        for row, value in (known[piece] or {}).items():
            left[row] = left.get(row, 0.0) - times * value
    return {row: value / pieces[term] for row, value in left.items() if value > NOISE * whole.get(row, 0.0)}
