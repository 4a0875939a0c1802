"""All HTML of the console: cards, badges, strips; every value that is not ours is escaped here.

In: view-models and document text. Out: HTML text for `st.html`. Invariant: only tags and classes
spelled in this module reach the page; whatever stands in a document stays text.
"""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Final

from console.palette import Move
from console.present.compare import Card
from console.present.evidence import AttemptCard, Portion
from console.present.hits import Badge, level_name
from console.present.matching import matches
from console.texts import t
from core.model.documents import Chunk

STYLE: Final = Path(__file__).with_name("style.css")
_PREVIEW_CHARACTERS: Final = 300


def marked(text: str, query: str) -> str:
    """Return the escaped text with the query's words inside `<mark>`."""
    parts, done = [], 0
    for start, end in matches(query, text):
        parts += [escape(text[done:start]), f"<mark>{escape(text[start:end])}</mark>"]
        done = end
    return "".join([*parts, escape(text[done:])])


def _badge(badge: Badge) -> str:
    state = "" if badge.found else " rl-missing"
    return f'<span class="rl-badge rl-{badge.route}{state}">{escape(badge.label)}</span>'


def _text(text: str, heading_characters: int, query: str) -> str:
    """Show the beginning of a text below its headings, and all of it on request."""
    body = text[heading_characters:]
    if len(body) <= _PREVIEW_CHARACTERS:
        return f'<div class="rl-text">{marked(_squeezed(body), query)}</div>'
    cut = _cut(body, query)
    lead = "… " if cut else ""
    start = marked(_squeezed(body[cut : cut + _PREVIEW_CHARACTERS]), query)
    return (
        f'<div class="rl-text">{lead}{start} …</div><details><summary>{escape(t("whole chunk"))}</summary>'
        f'<div class="rl-text">{marked(text, query)}</div></details>'
    )


def _cut(text: str, query: str) -> int:
    """Return where the preview starts: at the line of the first match when the beginning has none."""
    found = matches(query, text)
    if not found or found[0][0] < _PREVIEW_CHARACTERS // 2:
        return 0
    return text.rfind("\n", 0, found[0][0]) + 1


def _squeezed(text: str) -> str:
    """Leave out blank lines, for a preview only."""
    return "\n".join(line for line in text.split("\n") if line.strip())


def _meta(parts: Iterable[str]) -> str:
    return " · ".join(escape(part) for part in parts if part)


def hit_card(card: Card, query: str) -> str:
    """Return one hit as a list item: rank, title, move, place, badges, text, and its end."""
    kept = " rl-kept" if card.kept else ""
    level = level_name(card.level) if card.level else ""
    outside = f'<span class="rl-outside">{escape(t("outside the category"))}</span>' if card.outside else ""
    return (
        f'<li class="rl-card rl-move-{card.move}{kept}">'
        f'<div class="rl-head"><span class="rl-rank">{card.rank}</span>'
        f'<span class="rl-title">{marked(card.title, query)}</span>'
        f"{_chip(card.move, card.change_label)}</div>"
        f'<div class="rl-meta">{_place(card, query)}{outside}</div>'
        f'<div class="rl-badges">{"".join(_badge(badge) for badge in card.badges)}</div>'
        f"{_text(card.content, card.heading_characters, query)}"
        f'<div class="rl-end">{_meta((level, card.end))}</div></li>'
    )


def _place(card: Card, query: str) -> str:
    place = f'<span class="rl-place">{marked(card.place, query)}</span>' if card.place else ""
    return place + _meta((card.source, card.category))


def _chip(move: Move, label: str) -> str:
    return f'<span class="rl-chip rl-chip-{move}">{escape(label)}</span>'


def hit_list(cards: Sequence[Card], query: str) -> str:
    """Return a column of hits, or a sentence that there is none."""
    if not cards:
        return f'<div class="rl-empty">{escape(t("No chunk in this list."))}</div>'
    return f'<ol class="rl-cards">{"".join(hit_card(card, query) for card in cards)}</ol>'


def finding(sentence: str, *, quiet: bool) -> str:
    """Return the headline of a comparison; quiet when nothing changed."""
    state = " rl-quiet" if quiet else ""
    return f'<div class="rl-finding{state}" role="status">{escape(sentence)}</div>'


def facts(lines: Iterable[str | None]) -> str:
    """Return short lines of conditions under a headline; None is left out."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines if line)
    return f'<ul class="rl-facts">{items}</ul>'


def figures(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a strip of (name, value) pairs, for example a build and its chunks."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="rl-figures">{items}</dl>'


def attempt(card: AttemptCard) -> str:
    """Return one attempt with its verdict."""
    state = " rl-selected" if card.selected else ""
    mark = f'<span class="rl-chip rl-chip-up">{escape(t("returned"))}</span>' if card.selected else ""
    meta = _meta((card.filter_label, card.hits_label, card.level, card.time_label))
    return (
        f'<div class="rl-attempt{state}"><div class="rl-head">'
        f'<span class="rl-title">{escape(card.name)}</span>{mark}</div>'
        f'<div class="rl-meta">{meta}</div>'
        f'<div class="rl-reason">{escape(card.reason)}</div></div>'
    )


def attempts(cards: Iterable[AttemptCard]) -> str:
    """Return the attempts side by side, in the order they ran."""
    return f'<div class="rl-attempts">{"".join(attempt(card) for card in cards)}</div>'


def chunk(item: Chunk) -> str:
    """Return one chunk of a document: position, place, tokens, text."""
    tokens = t("{count} tokens").format(count=item.token_count)
    return (
        f'<li class="rl-card"><div class="rl-head"><span class="rl-rank">{item.chunk_index}</span>'
        f'<span class="rl-title">{escape(item.breadcrumb or item.title)}</span>'
        f'<span class="rl-chip">{escape(tokens)}</span></div>'
        f'<div class="rl-text">{escape(item.content)}</div></li>'
    )


def chunks(items: Iterable[Chunk]) -> str:
    """Return the chunks of a document in order."""
    return f'<ol class="rl-cards">{"".join(chunk(item) for item in items)}</ol>'


def quoted(title: str, text: str) -> str:
    """Return a text under a title, for two texts side by side."""
    return (
        f'<div class="rl-quote"><div class="rl-meta">{escape(title)}</div>'
        f'<div class="rl-text">{escape(text)}</div></div>'
    )


def trouble(heading: str, message: str) -> str:
    """Return an error: a heading of ours and the error's own sentences, lines kept."""
    return (
        f'<div class="rl-trouble" role="alert"><div class="rl-title">{escape(heading)}</div>'
        f'<div class="rl-text">{escape(message)}</div></div>'
    )


def notice(heading: str, message: str) -> str:
    """Return a calm statement, for example what to do in an empty base."""
    return (
        f'<div class="rl-notice"><div class="rl-title">{escape(heading)}</div>'
        f'<div class="rl-text">{escape(message)}</div></div>'
    )


def job(title: str, line: str) -> str:
    """Return a running job: its title and its progress in numbers."""
    return (
        f'<div class="rl-job" role="status"><span class="rl-title">{escape(title)}</span>'
        f'<span class="rl-meta">{escape(line)}</span></div>'
    )


def outcome(sentence: str, *, good: bool) -> str:
    """Return how a job ended, with a mark in shape and colour."""
    state, mark = ("good", "✓") if good else ("bad", "×")
    return f'<div class="rl-outcome rl-{state}"><b>{mark}</b> {escape(sentence)}</div>'


def refusals(reasons: Iterable[str]) -> str:
    """Return why files are refused, one whole sentence a line; a table's cell would cut it."""
    items = "".join(f"<li><b>×</b> {escape(reason)}</li>" for reason in reasons)
    return f'<ul class="rl-refused">{items}</ul>' if items else ""


def column_head(name: str, stamp: str, times: str) -> str:
    """Return the head of a column: its mode, its configuration, and its times below."""
    return (
        f'<div class="rl-column"><span class="rl-title">{escape(name)}</span>'
        f'<span class="rl-meta">{escape(stamp)}</span>'
        f'<span class="rl-meta rl-times">{escape(times)}</span></div>'
    )


def portions(pieces: Iterable[Portion]) -> str:
    """Return the legend of the packing bar: number, title, characters, what was cut."""
    items = "".join(f"<li>{_meta(_portion(piece))}</li>" for piece in pieces)
    return f'<ol class="rl-portions">{items}</ol>'


def _portion(piece: Portion) -> tuple[str, ...]:
    if not piece.characters:
        return piece.title, t("left out"), piece.reason
    whole = t("{count:,} characters").format(count=piece.characters)
    if not piece.truncated:
        return piece.title, whole
    return piece.title, t("{count:,} of {full:,} characters").format(
        count=piece.characters, full=piece.full_characters
    )


def lead(sentence: str) -> str:
    """Return a sentence that leads to what stands below it."""
    return f'<div class="rl-lead">{escape(sentence)}</div>'


def example(title: str, explanation: str) -> str:
    """Return what an example shows and what to watch."""
    return (
        f'<div class="rl-example"><div class="rl-title">{escape(title)}</div>'
        f'<div class="rl-meta">{escape(explanation)}</div></div>'
    )
