"""Differences to one sentence: what changed first on the line, and why it probably did.

In: what differs in the results and in what surrounds them. Out: a sentence. Invariant: "Nothing
changed." only when nothing differs at all; a cause is named only when it can act on a replay, which
uses the saved configuration whatever the settings say today.
"""

from collections.abc import Iterable, Sequence

from core.retrieval.replay.comparison import AttemptChange, Change, Differences, ListChange, Ran
from core.retrieval.replay.surroundings import acts_on_a_replay

NOTHING = "Nothing changed."
MOST_NAMES = 4


def explain(
    found: Differences,
    *,
    build: Sequence[Change],
    settings: Sequence[Change],
    versions: Sequence[Change],
) -> str:
    """Say in one sentence what changed.

    Args:
        found: in the results.
        build: what differs between the builds.
        settings: what differs in the settings.
        versions: what differs in the versions.
    """
    acting = [change for change in settings if acts_on_a_replay(change.name)]
    surroundings = [
        *_differ("the build differs", build),
        *_differ("settings differ", settings if found.none else acting),
        *_differ("versions differ", versions),
    ]
    if found.none:
        return f"The lookup is the same, although {_joined(surroundings)}." if surroundings else NOTHING
    agent = "the agent gets the same" if found.projection.same else "the agent gets something else"
    causes = [*_texts(found), *surroundings]
    cause = (
        f"probably because {_joined(causes)}"
        if causes
        else "neither build, settings nor versions differ, so the store itself answers otherwise"
    )
    return f"{_first(found)} changed first, and {agent}; {cause}."


def _differ(what: str, changed: Sequence[Change]) -> list[str]:
    return [f"{what} ({_some([change.name for change in changed])})"] if changed else []


def _texts(found: Differences) -> list[str]:
    documents = dict.fromkeys(change.document or change.evidence_key for change in found.contents)
    return [f"the chunks of {_some(list(documents))} hold something else"] if documents else []


def _first(found: Differences) -> str:
    """Name the first change in the order of the line, from navigation to what the agent gets."""
    if found.navigation:
        return f"What the words of the query say ({_some([change.name for change in found.navigation])})"
    if found.attempts:
        return _attempt(found.attempts[0])
    later = (
        ("The text of chunks that both found", found.contents),
        ("The decision between the attempts", found.decision),
        ("The end of candidates in the ledger", found.ends),
    )
    return next((what for what, changed in later if changed), "What the agent gets")


def _attempt(change: AttemptChange) -> str:
    if change.ran is not Ran.BOTH:
        return f"Attempt '{change.name}', which ran {change.ran.value},"
    if change.lists:
        first = change.lists[0]
        return f"The {_list_name(first)} list of attempt '{change.name}' ({_counts(first)})"
    names = [item.name for item in change.verdict] or [item.evidence_key for item in change.levels]
    return f"The verdict of attempt '{change.name}' ({_some(names)})"


def _list_name(change: ListChange) -> str:
    return "BM25" if change.name == "sparse" else change.name


def _counts(change: ListChange) -> str:
    if change.state is not None:
        return f"{change.state.before}, now {change.state.after}"
    counted = (
        (len(change.added), "new"),
        (len(change.removed), "gone"),
        (len(change.moved), "moved"),
        (len(change.rescored), "with another score"),
    )
    return ", ".join(f"{count:,} {what}" for count, what in counted if count)


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:MOST_NAMES])} and {more:,} more"


def _joined(parts: Iterable[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
