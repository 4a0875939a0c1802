"""Writes groups of whole documents into one build.

In: prepared documents and their vectors. Out: rows in the store. Invariant: after a write a build
holds exactly the chunks of the version that was written, no tail of a longer one.
"""

from collections.abc import Sequence

from core.indexing.base import KnowledgeBase
from core.indexing.preparing import Prepared, embed, groups, retrying, within
from core.ports import StageProgress, Vectors


def write(base: KnowledgeBase, build: str, group: Sequence[Prepared], vectors: Vectors) -> None:
    """Write a group, replacing what the build holds of its documents.

    Args:
        base: whose store holds the build.
        build: its physical name.
        group: documents, each at most once.
        vectors: one row for each chunk, in the order of the group.

    Raises:
        WriteRejected: a row does not fit; nothing of the group was written.
        StoreUnavailable: the store did not answer three times; writing again mends it.
    """
    chunks = [piece for item in group for piece in item.chunks]
    retrying(base, lambda: base.writer.upsert(build, chunks, vectors))


def embed_and_write(
    base: KnowledgeBase, build: str, prepared: Sequence[Prepared], progress: StageProgress
) -> None:
    """Embed and write documents group by group into a build that nobody else writes to."""
    total = sum(len(item.chunks) for item in prepared)
    done = 0
    for group in groups(prepared):
        vectors = embed(base, group, within(progress, "embed", done, total))
        write(base, build, group, vectors)
        done += len(vectors)
        progress("write", done, total)
