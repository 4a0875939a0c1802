"""The identity of a hit: one key for dedup, traces, judgments and the agent.

In: a hit. Out: its evidence key. Invariant: two hits share a key only when they are the same chunk.
A chunk's key is split at its last `#chunk-`, because the index after it is digits only, so a
document whose name holds `#chunk-` cannot collide with a chunk of another document.
"""

from core.model.search import SearchHit


def chunk_key(doc_id: str, chunk_index: int) -> str:
    """Return the evidence key of a chunk: `doc_id#chunk-<index>`."""
    return f"{doc_id}#chunk-{chunk_index}"


def evidence_key(hit: SearchHit) -> str:
    """Name a hit by its chunk, else by its primary key, else by its rank in the list it came from."""
    if hit.doc_id and hit.chunk_index is not None:
        return chunk_key(hit.doc_id, hit.chunk_index)
    if hit.id:
        return f"vector:{hit.id}"
    return f"rank:{hit.rank}"


def is_named(hit: SearchHit) -> bool:
    """Tell whether the key names the chunk itself; a rank names only a place in one list."""
    return bool(hit.id) or bool(hit.doc_id and hit.chunk_index is not None)
