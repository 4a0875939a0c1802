"""Builds: what one physical collection was made with, and what is in it."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass

LONGEST_SHOWN_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a build was made with; two builds with equal fingerprints answer alike.

    Attributes:
        schema: version of the field layout, from 1.
        model: name of the embedding model.
        revision: of that model; a hash of its weights where they are local.
        query_prompt: put before a query.
        passage_prompt: put before a passage.
        dimension: of the vectors.
        metric: `COSINE`, `IP` or `L2`.
        analyzer: canonical JSON of the analyzer of `search_text`.
        chunk_rules: canonical JSON of the chunk rules.
    """

    schema: int
    model: str
    revision: str
    query_prompt: str
    passage_prompt: str
    dimension: int
    metric: str
    analyzer: str
    chunk_rules: str

    def differences(self, other: "Fingerprint") -> tuple[str, ...]:
        """Say for every field that differs what it is here and what it is in the other; () when equal.

        A value too long to read, such as an analyzer, is named by the start of its hash.
        """
        mine, theirs = asdict(self), asdict(other)
        return tuple(
            f"{name} {_shown(mine[name])}, now {_shown(theirs[name])}"
            for name in mine
            if mine[name] != theirs[name]
        )


def _shown(value: object) -> str:
    text = str(value)
    if len(text) <= LONGEST_SHOWN_CHARACTERS:
        return repr(value)
    return f"#{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class BuildIdentity:
    """Which build answers, and the metric of its dense index (`COSINE`, `IP` or `L2`)."""

    name: str
    metric: str


@dataclass(frozen=True, slots=True)
class BuildDescription:
    """A physical collection as the store sees it.

    Attributes:
        name: physical name, for example `biz_hybrid_20260131T120000Z`.
        live: the alias points to it.
        fingerprint: None for a foreign or legacy collection that carries none.
        hybrid_ready: it has the BM25 function and the sparse field.
        chunks: rows now, counted by the store.
        index_type: of the dense index, for example `FLAT`.
        metric: of the dense index.
        dimension: of the dense vectors; None when it has no dense field.
        missing_fields: fields of the expected schema that it lacks; empty for our own builds.
    """

    name: str
    live: bool
    fingerprint: Fingerprint | None
    hybrid_ready: bool
    chunks: int
    index_type: str
    metric: str
    dimension: int | None
    missing_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What was checked on a finished build before the alias moves.

    Attributes:
        expected_chunks: by doc_id, what chunking produced.
        stored_chunks: by doc_id, what the store counts.
        probe_failures: sentences of route probes that did not find what they must; empty is good.
        recall: mean recall@20 of the dense index against exact search over the probes, in [0, 1];
            None when nothing was probed.
        probes: how many queries measured it.
    """

    expected_chunks: Mapping[str, int]
    stored_chunks: Mapping[str, int]
    probe_failures: tuple[str, ...]
    recall: float | None
    probes: int

    @property
    def differing(self) -> dict[str, tuple[int, int]]:
        """Return `{doc_id: (expected, stored)}` where the two differ, ghosts included (expected 0)."""
        ids = sorted({*self.expected_chunks, *self.stored_chunks})
        pairs = {i: (self.expected_chunks.get(i, 0), self.stored_chunks.get(i, 0)) for i in ids}
        return {i: pair for i, pair in pairs.items() if pair[0] != pair[1]}

    @property
    def passed(self) -> bool:
        """Every document whole, no ghost, every probe found."""
        return not self.differing and not self.probe_failures
