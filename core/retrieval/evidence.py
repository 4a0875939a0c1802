"""Refine: from the hits of the chosen attempt to the evidence that goes on.

In: hits, best first, and a judgement for each. Out: a `Refinement`: what is kept and an entry for
everything dropped. The order of the steps is fixed: identity, dedup by evidence key, per-document
cap, return-n. Invariants: no kept key twice, at most `max_chunks_per_document` of one document, at
most `return_n` in all; refining what was kept changes nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from core.model.identity import evidence_key
from core.model.lookup import Evidence, Judgement, LedgerEntry, Refinement, Stage
from core.model.search import SearchHit


def refine(
    hits: Sequence[SearchHit],
    judgements: Mapping[str, Judgement],
    *,
    return_n: int,
    max_chunks_per_document: int,
) -> Refinement:
    """Keep the best hits under the two limits.

    Of two hits with one evidence key the better-ranked one wins and its content stays. A hit without
    a known document counts as a document of its own.

    Args:
        hits: best first; their order decides, not their scores.
        judgements: by evidence key, one for every hit.
        return_n: most hits to keep, at least 1.
        max_chunks_per_document: most hits of one document, at least 1.
    """
    kept: list[Evidence] = []
    dropped: list[LedgerEntry] = []
    ranks: dict[str, int] = {}
    per_document: Counter[str] = Counter()
    for hit in hits:
        key = evidence_key(hit)
        judgement = judgements[key]
        document = hit.doc_id or key
        if key in ranks:
            reason = f"the same chunk stands at rank {ranks[key]}; the better-ranked copy stays"
            dropped.append(LedgerEntry(key, hit, Stage.DEDUP, reason, judgement, ranks[key]))
            continue
        ranks[key] = hit.rank
        if per_document[document] >= max_chunks_per_document:
            reason = (
                f"chunk number {per_document[document] + 1} of its document in this list, "
                f"the cap is {max_chunks_per_document}"
            )
            dropped.append(LedgerEntry(key, hit, Stage.CAP, reason, judgement))
            per_document[document] += 1
            continue
        per_document[document] += 1
        if len(kept) >= return_n:
            reason = f"rank {hit.rank}, and {return_n} better pieces are already kept (return_n {return_n})"
            dropped.append(LedgerEntry(key, hit, Stage.RETURN_N, reason, judgement))
            continue
        kept.append(Evidence(key, hit, judgement))
    return Refinement(tuple(kept), tuple(dropped))
