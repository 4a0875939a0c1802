"""Two lookups of one query, side by side: lists, moves, and the finding in one sentence.

In: two `LookupResult`s. Out: cards, counts and sentences. Invariant: moves go from the left list to
the right one; every chunk of either list has exactly one move, so the counts balance.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from console.palette import MOVE_SHAPES, Move
from console.present.hits import Badge, badges, heading_characters, place_of, title_of
from console.present.overlap import jaccard, rank_biased_overlap
from console.texts import chunks, counted, t
from core.model.identity import evidence_key
from core.model.lookup import Level, LookupResult, Stage
from core.model.search import SearchHit


class Listing(StrEnum):
    """Which list of a lookup is compared."""

    AGENT = "agent"
    FOUND = "found"


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one chunk between the lists; a rank is None where the list lacks it."""

    move: Move
    left_rank: int | None
    right_rank: int | None


@dataclass(frozen=True, slots=True)
class Card:
    """One hit of one column.

    Attributes:
        rank: position in the column, from 1.
        place: the headings below the title that lead to the chunk; "" when there are none.
        heading_characters: how much of the start of `content` repeats title and place.
        change_label: the move in words and a shape, for example `▲ from #5`.
        end: what became of it after retrieving, in words.
        outside: its category is not the one that was asked for.
    """

    rank: int
    evidence_key: str
    title: str
    place: str
    source: str
    category: str
    content: str
    heading_characters: int
    badges: tuple[Badge, ...]
    move: Move
    change_label: str
    end: str
    kept: bool
    level: Level | None
    outside: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two lists of one query; `changes` by evidence key, the left list's order first.

    Attributes:
        unseen: keys that are new on the right and were no candidate of any route on the left.
    """

    left_name: str
    right_name: str
    listing: Listing
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    changes: Mapping[str, Change]
    unseen: frozenset[str]

    def count(self, move: Move) -> int:
        """Count the chunks with this move."""
        return Counter(change.move for change in self.changes.values())[move]

    @property
    def same(self) -> bool:
        """Both lists hold the same chunks in the same order."""
        return self.left_keys == self.right_keys


def listed(result: LookupResult, listing: Listing) -> dict[str, SearchHit]:
    """Return the hits of a list by evidence key, best first; the better of two copies counts."""
    if listing is Listing.AGENT:
        return {item.evidence.evidence_key: item.evidence.hit for item in result.packing.packed}
    hits: dict[str, SearchHit] = {}
    for hit in result.retrieval.chosen.hits:
        hits.setdefault(evidence_key(hit), hit)
    return hits


def compare(
    left: LookupResult, right: LookupResult, listing: Listing, *, left_name: str, right_name: str
) -> Comparison:
    """Put the same list of two lookups beside each other."""
    left_keys, right_keys = tuple(listed(left, listing)), tuple(listed(right, listing))
    candidates = {entry.evidence_key for entry in left.ledger}
    return Comparison(
        left_name=left_name,
        right_name=right_name,
        listing=listing,
        left_keys=left_keys,
        right_keys=right_keys,
        changes=changes(left_keys, right_keys),
        unseen=frozenset(key for key in right_keys if key not in candidates and key not in left_keys),
    )


def changes(left: Sequence[str], right: Sequence[str]) -> dict[str, Change]:
    """Return the change of every key of either list, the left list's order first."""
    left_ranks = {key: rank for rank, key in enumerate(left, start=1)}
    right_ranks = {key: rank for rank, key in enumerate(right, start=1)}
    return {
        key: Change(
            _move(left_ranks.get(key), right_ranks.get(key)), left_ranks.get(key), right_ranks.get(key)
        )
        for key in dict.fromkeys([*left, *right])
    }


def _change(left_rank: int | None, right_rank: int | None) -> Change:
    return Change(_move(left_rank, right_rank), left_rank, right_rank)


def _move(left_rank: int | None, right_rank: int | None) -> Move:
    if left_rank is None:
        return Move.NEW
    if right_rank is None:
        return Move.LOST
    if left_rank == right_rank:
        return Move.SAME
    return Move.UP if right_rank < left_rank else Move.DOWN


def headline(comparison: Comparison) -> str:
    """Say the finding in one or two sentences."""
    left, right = comparison.left_name, comparison.right_name
    if not comparison.left_keys and not comparison.right_keys:
        return t("Neither {left} nor {right} finds a chunk for this query.").format(left=left, right=right)
    if comparison.same:
        text = t("{right} changes nothing here: the same {chunks} in the same order.")
        return text.format(right=_start(right), chunks=chunks(len(comparison.right_keys)))
    parts = [_brought(comparison)] if comparison.count(Move.NEW) else []
    parts += _moved(comparison)
    sentence = "; ".join(parts)
    if not comparison.count(Move.NEW):
        sentence = t("{right} brings no new chunk: {moves}").format(right=_start(right), moves=sentence)
    return sentence + "."


def _brought(comparison: Comparison) -> str:
    new, unseen = comparison.count(Move.NEW), len(comparison.unseen)
    right, left = _start(comparison.right_name), comparison.left_name
    if comparison.listing is Listing.FOUND:
        return t("{right} brings {chunks} that {left} does not find").format(
            right=right, chunks=chunks(new), left=left
        )
    text = t("{right} brings the agent {chunks} that {left} does not give it").format(
        right=right, chunks=chunks(new), left=left
    )
    if unseen == 0:
        return text
    if unseen == 1 and new == 1:
        return t("{finding}: {left} does not find it at all").format(finding=text, left=left)
    if unseen == new:
        return t("{finding}: {left} does not find them at all").format(finding=text, left=left)
    return t("{finding} ({unseen} of them {left} does not find at all)").format(
        finding=text, unseen=unseen, left=left
    )


def _moved(comparison: Comparison) -> list[str]:
    counts = (
        (comparison.count(Move.UP), "{count} moved up", "{count} moved up"),
        (comparison.count(Move.DOWN), "{count} moved down", "{count} moved down"),
        (comparison.count(Move.LOST), "{count} is lost", "{count} are lost"),
    )
    return [counted(one, many, count) for count, one, many in counts if count]


def _start(name: str) -> str:
    return name[:1].upper() + name[1:]


def overlap(comparison: Comparison) -> str:
    """Write how much both lists share."""
    shared = {*comparison.left_keys} & {*comparison.right_keys}
    share = jaccard(comparison.left_keys, comparison.right_keys)
    biased = rank_biased_overlap(comparison.left_keys, comparison.right_keys)
    if share is None or biased is None:
        return t("No overlap to measure: a list is empty.")
    return t("{shared} in both lists · Jaccard {share:.2f} · RBO {biased:.2f}").format(
        shared=chunks(len(shared)), share=share, biased=biased
    )


def cards(
    result: LookupResult, comparison: Comparison, *, right: bool, category: str | None
) -> tuple[Card, ...]:
    """Return the cards of one column, best first."""
    response = result.retrieval.chosen.response
    judgements = result.retrieval.chosen.judgements
    ends = {entry.evidence_key: entry for entry in reversed(result.ledger) if entry.end is not Stage.DEDUP}
    made = []
    for rank, (key, hit) in enumerate(listed(result, comparison.listing).items(), start=1):
        change, entry = comparison.changes[key], ends.get(key)
        judgement = judgements.get(key)
        kept = entry is not None and entry.end is Stage.KEPT
        made.append(
            Card(
                rank=rank,
                evidence_key=key,
                title=title_of(hit),
                place=place_of(hit),
                source=hit.source or "",
                category=hit.category,
                content=hit.content,
                heading_characters=heading_characters(hit),
                badges=badges(hit, response),
                move=change.move,
                change_label=change_label(change, comparison, right=right),
                end=t("reaches the agent") if kept else (entry.reason if entry else ""),
                kept=kept,
                level=judgement.level if judgement else None,
                outside=category is not None and hit.category != category,
            )
        )
    return tuple(made)


def change_label(change: Change, comparison: Comparison, *, right: bool) -> str:
    """Write a move as a shape and words, from the column's point of view."""
    shape = MOVE_SHAPES[change.move]
    other = comparison.left_name if right else comparison.right_name
    if change.move is Move.NEW:
        return t("{shape} new, not in {other}").format(shape=shape, other=other)
    if change.move is Move.LOST:
        return t("{shape} lost, not in {other}").format(shape=shape, other=other)
    if change.move is Move.SAME:
        return t("{shape} same rank").format(shape=shape)
    if right:
        return t("{shape} from #{rank}").format(shape=shape, rank=change.left_rank)
    return t("{shape} to #{rank}").format(shape=shape, rank=change.right_rank)
