"""Builds as figures and rows: the live one, its verification, and all that were made.

In: build descriptions and records. Out: name and value pairs, and `DataFrame`s.
"""

from collections.abc import Sequence

import pandas as pd

from console.present.tables import INTEGER
from console.present.units import MISSING, moment, seconds
from console.texts import counted, t
from core.catalog.records import BuildRecord, BuildState
from core.model.builds import BuildDescription, Verification


def live_figures(
    build: BuildDescription, documents: int, *, fragmented: bool
) -> tuple[tuple[str, str], ...]:
    """Return what a person asks of the live build first."""
    fingerprint = build.fingerprint
    return (
        (t("Live build"), build.name),
        (t("Documents"), f"{documents:,}"),
        (t("Chunks"), f"{build.chunks:,}"),
        (t("Embedding model"), fingerprint.model if fingerprint else t("unknown")),
        (t("Dense index"), f"{build.index_type} · {build.metric} · {build.dimension or MISSING}"),
        (t("Hybrid search"), hybrid_state(build)),
        (t("BM25 statistics"), t("fragmented") if fragmented else t("whole")),
    )


def hybrid_state(build: BuildDescription) -> str:
    """Say whether hybrid search works on a build, or what it lacks."""
    if build.hybrid_ready:
        return t("ready")
    missing = ", ".join(build.missing_fields) or t("the BM25 function")
    return t("not possible: lacks {missing}").format(missing=missing)


def fragmented_sentence() -> str:
    """Explain fragmented statistics and the way out."""
    return t(
        "BM25 statistics are spread over several segments after single uploads, so BM25 scores of "
        "different documents are not comparable. A rebuild makes them whole."
    )


def verification_figures(verification: Verification) -> tuple[tuple[str, str], ...]:
    """Return the checks of a build as name and result."""
    expected, stored = verification.expected_chunks, verification.stored_chunks
    ghosts = sum(1 for wanted, _ in verification.differing.values() if wanted == 0)
    recall = MISSING if verification.recall is None else f"{verification.recall:.3f}"
    failed = len(verification.probe_failures)
    return (
        (t("Verdict"), t("✓ passed") if verification.passed else t("× not passed")),
        (t("Expected chunks"), f"{sum(expected.values()):,}"),
        (t("Stored chunks"), f"{sum(stored.values()):,}"),
        (t("Documents that differ"), f"{len(verification.differing):,}"),
        (t("Ghosts"), f"{ghosts:,}"),
        (t("Recall@20 against exact search"), recall),
        (
            t("Probe queries"),
            counted("{count} failed", "{count} failed", failed) if failed else _probes(verification),
        ),
    )


def _probes(verification: Verification) -> str:
    if not verification.probes:
        return MISSING
    return counted("{count} asked, all found", "{count} asked, all found", verification.probes)


def verification_table(verification: Verification) -> pd.DataFrame:
    """Return expected and stored chunks by document, differing ones first."""
    differing = verification.differing
    ids = [*differing, *(i for i in sorted(verification.expected_chunks) if i not in differing)]
    expected = [verification.expected_chunks.get(i) for i in ids]
    stored = [verification.stored_chunks.get(i) for i in ids]
    return pd.DataFrame(
        {
            t("Document"): pd.Series(ids, dtype="str"),
            t("Expected"): pd.Series(expected, dtype=INTEGER),
            t("Stored"): pd.Series(stored, dtype=INTEGER),
            t("Verdict"): pd.Series([_verdict(i, verification) for i in ids], dtype="str"),
        }
    )


def _verdict(doc_id: str, verification: Verification) -> str:
    if doc_id not in verification.differing:
        return t("✓ whole")
    return t("× differs") if doc_id in verification.expected_chunks else t("× ghost")


def build_state(state: BuildState) -> str:
    """Return what a build's state is called."""
    return {
        BuildState.BUILDING: t("building"),
        BuildState.PUBLISHED: t("published"),
        BuildState.FAILED: t("failed"),
        BuildState.CANCELLED: t("cancelled"),
    }[state]


def build_table(records: Sequence[BuildRecord], live: str | None, present: Sequence[str]) -> pd.DataFrame:
    """Return one row per build, newest first; `present` names those that still exist in the store."""
    return pd.DataFrame(
        {
            t("Build"): pd.Series([record.name for record in records], dtype="str"),
            t("State"): pd.Series([_place(record, live, present) for record in records], dtype="str"),
            t("Started"): pd.Series([moment(record.started_at) for record in records], dtype="str"),
            t("Took"): pd.Series([seconds(_took(record)) for record in records], dtype="str"),
            t("Documents"): pd.Series(
                [_counted(record, record.documents) for record in records], dtype=INTEGER
            ),
            t("Chunks"): pd.Series([_counted(record, record.chunks) for record in records], dtype=INTEGER),
            t("Reason"): pd.Series([record.reason for record in records], dtype="str"),
        }
    )


def _place(record: BuildRecord, live: str | None, present: Sequence[str]) -> str:
    if record.name == live:
        return t("● live")
    state = build_state(record.state)
    if record.state is BuildState.PUBLISHED:
        return t("○ kept") if record.name in present else t("removed")
    return state


def _took(record: BuildRecord) -> float | None:
    return (record.finished_at - record.started_at).total_seconds() if record.finished_at else None


def _counted(record: BuildRecord, count: int) -> int | None:
    return count if record.state is BuildState.PUBLISHED else None
