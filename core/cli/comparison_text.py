"""What a replay found, as terminal text.

In: a `Comparison`. Out: its sentence, then a section for each kind of change. Invariant: a section
without a change is left out; what was not there is `-`, never 0.
"""

from collections.abc import Iterable, Sequence

from core.cli.tables import printable, table
from core.retrieval.replay.comparison import (
    AttemptChange,
    Change,
    Comparison,
    ContentChange,
    EndChange,
    ListChange,
    PlaceChange,
    ProjectionChange,
    Ran,
)

MOST_CHARACTERS = 60
"""A value that is longer, such as an analyzer, is shown by its beginning."""


def comparison_text(found: Comparison) -> str:
    """Print a comparison; the sentence first, the times last."""
    changed = found.differences
    parts = [
        printable(f"{found.sentence}\nSaved {found.created_at}: {found.query}", kept="\n"),
        _values("Build", found.build),
        _values("Settings", found.settings),
        _values("Versions", found.versions),
        _values("Navigation", changed.navigation),
        _contents(changed.contents),
        *map(_attempt, changed.attempts),
        _values("Decision", changed.decision),
        _ends(changed.ends),
        _projection(changed.projection),
        _times(found.milliseconds),
    ]
    return "\n\n".join(part for part in parts if part)


def _values(title: str, changes: Sequence[Change]) -> str:
    rows = [(change.name, _value(change.before), _value(change.after)) for change in changes]
    return f"{title}\n{table(('what', 'then', 'now'), rows)}" if rows else ""


def _contents(changes: Sequence[ContentChange]) -> str:
    rows = [(change.evidence_key, ", ".join(change.fields)) for change in changes]
    return f"Chunks that hold something else\n{table(('evidence', 'what'), rows)}" if rows else ""


def _attempt(change: AttemptChange) -> str:
    if change.ran is not Ran.BOTH:
        return printable(f"Attempt {change.name}: ran {change.ran.value}")
    levels = [(item.evidence_key, item.before.value, item.after.value) for item in change.levels]
    parts = [
        _values(f"Attempt {change.name}: verdict", change.verdict),
        *(_list(change.name, item) for item in change.lists),
        f"Attempt {change.name}: levels\n{table(('evidence', 'then', 'now'), levels)}" if levels else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _list(attempt: str, change: ListChange) -> str:
    name = "BM25" if change.name == "sparse" else change.name
    head = f"Attempt {attempt}: {name} list"
    if change.state is not None:
        head += printable(f", {change.state.before} then, {change.state.after} now")
    places = {
        item.evidence_key: (_rank(item.before), _rank(item.after))
        for item in (*change.removed, *change.moved, *change.added)
    }
    scores = {item.evidence_key: (f"{item.before:.5f}", f"{item.after:.5f}") for item in change.rescored}
    rows = [
        (key, *places.get(key, ("=", "=")), *scores.get(key, ("=", "=")))
        for key in dict.fromkeys((*places, *scores))
    ]
    header = ("evidence", "rank then", "rank now", "score then", "score now")
    return f"{head}\n{table(header, rows)}" if rows else head


def _ends(changes: Sequence[EndChange]) -> str:
    rows = [
        (
            change.evidence_key,
            change.before.value if change.before else "-",
            change.after.value if change.after else "-",
            change.reason_after or change.reason_before,
        )
        for change in changes
    ]
    return f"Ledger\n{table(('evidence', 'end then', 'end now', 'why'), rows)}" if rows else ""


def _projection(change: ProjectionChange) -> str:
    if change.same:
        return "The agent gets the same, byte for byte."
    rows = [*_places(change.gone), *_places(change.moved), *_places(change.new)]
    rows += [(key, "other text", "other text") for key in change.rewritten]
    parts = [
        _values("What the agent gets", change.fields),
        f"Evidence of the agent\n{table(('evidence', 'place then', 'place now'), rows)}" if rows else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _places(changes: Iterable[PlaceChange]) -> list[tuple[str, str, str]]:
    return [(item.evidence_key, _rank(item.before), _rank(item.after)) for item in changes]


def _times(changes: Sequence[Change]) -> str:
    parts = [f"{item.name} {_time(item.before)} / {_time(item.after)}" for item in changes]
    return printable(f"Milliseconds then / now, not compared: {', '.join(parts)}")


def _time(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, int | float) else "-"


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def _value(value: object) -> str:
    text = "-" if value is None or value == "" else str(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
