"""What must hold for any text: nothing lost, nothing too long, an end to it."""

from itertools import pairwise

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.adapters.embedders.hashing import WordCounter
from core.intake.characters import is_blank
from core.intake.chunking import ChunkRules, chunk
from core.model.documents import Chunk, Document
from tests.builders import a_document

HEADINGS = ["# 部署", "## Steps", "### `code` [link](http://x.test)", "#### deep", "# ", "===", "---"]
MARKUP = [
    "- item one",
    "  - nested",
    "1. first",
    "> quote",
    "<!-- c",
    "-->",
    "[x]: http://x.test",
    "",
    "",
    "",
]
TABLES_AND_CODE = ["| a | b |", "|---|---|", "| 1 | 2 |", "```", "~~~", "    indented"]
PROSE = ["A sentence. Another one! A third?", "第一句。第二句！第三句？", "word " * 40, "...... !!"]
RUNS = [
    "长" * 70,
    "x" * 150,
    "a\u0301" * 30,
    "👨\u200d👩\u200d👧" * 12,
    "🇩🇪🇫🇷" * 10,
    "\u200b",
    "   ",
    "a \u0301b",
]
LINES = st.sampled_from([*HEADINGS, *MARKUP, *TABLES_AND_CODE, *PROSE, *RUNS])
ANY_TEXT = st.one_of(
    st.lists(LINES, min_size=1, max_size=25).map("\n".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=300),
)
RULES = st.builds(
    ChunkRules,
    size_tokens=st.sampled_from([32, 40, 64, 120]),
    overlap_tokens=st.sampled_from([0, 4, 16]),
    split_levels=st.integers(1, 6),
)
TITLES = st.sampled_from(["T", "很长的标题" * 20, "word " * 60])
COUNTER = WordCounter(max_tokens=100, overhead_tokens=4)


def cut(text: str, markup: str, rules: ChunkRules, title: str = "T") -> tuple[Document, tuple[Chunk, ...]]:
    document = a_document(text, markup=markup, title=title)
    return document, chunk(document, rules, COUNTER)


MARKUPS = st.sampled_from(["markdown", "text"])
CASES = settings(deadline=None, max_examples=150)


@given(ANY_TEXT.filter(lambda text: not is_blank(text)), MARKUPS, RULES)
@CASES
def test_nothing_that_can_be_seen_is_lost(text: str, markup: str, rules: ChunkRules) -> None:
    document, chunks = cut(text, markup, rules)
    covered = [False] * len(text)
    for each in chunks:
        start, end = each.metadata["start"], each.metadata["end"]
        assert each.content[each.metadata["repeated_characters"] :] == document.text[start:end]
        covered[start:end] = [True] * (end - start)
    assert [c for c, kept in zip(text, covered, strict=True) if not kept and not is_blank(c)] == []
    assert chunks


@given(ANY_TEXT.filter(lambda text: not is_blank(text)), MARKUPS, RULES, TITLES)
@CASES
def test_nothing_is_too_long_and_nothing_is_empty(
    text: str, markup: str, rules: ChunkRules, title: str
) -> None:
    _, chunks = cut(text, markup, rules, title)
    budget = min(rules.size_tokens, 100) - 4
    for index, each in enumerate(chunks):
        assert each.chunk_index == index
        assert not is_blank(each.content)
        assert each.token_count == COUNTER.count([each.search_text])[0] + 4
        header = COUNTER.count([f"{each.title}\n{each.breadcrumb}"])[0]
        assert header <= budget * 0.4
        # A single character that costs more than the room is all that may stand above the limit.
        assert each.token_count <= budget + 4 or len(regex.findall(r"\X", each.content)) == 1


@example(text="   \n# 部署\n" + "word " * 40, markup="text", rules=ChunkRules(32, 4, 1))
@given(ANY_TEXT.filter(lambda text: not is_blank(text)), MARKUPS, RULES)
@CASES
def test_chunks_go_forward_and_repeat_no_more_than_the_overlap(
    text: str, markup: str, rules: ChunkRules
) -> None:
    _, chunks = cut(text, markup, rules)
    for before, after in pairwise(chunks):
        assert before.metadata["start"] < after.metadata["start"]
        assert before.metadata["end"] < after.metadata["end"]
        repeated = text[after.metadata["start"] : before.metadata["end"]]
        assert COUNTER.count([repeated])[0] <= rules.overlap_tokens


@given(ANY_TEXT.filter(lambda text: not is_blank(text)), MARKUPS, RULES)
@CASES
def test_no_chunk_ends_or_starts_inside_a_character(text: str, markup: str, rules: ChunkRules) -> None:
    _, chunks = cut(text, markup, rules)
    borders = {each.metadata[side] for each in chunks for side in ("start", "end")}
    for cluster in regex.finditer(r"\X", text):
        inside = [b for b in borders if cluster.start() < b < cluster.end()]
        assert not [
            b
            for b in inside
            if not is_blank(text[cluster.start() : b]) and not is_blank(text[b : cluster.end()])
        ]


@given(ANY_TEXT.filter(lambda text: not is_blank(text)), MARKUPS, RULES)
@CASES
def test_the_same_text_always_gives_the_same_chunks(text: str, markup: str, rules: ChunkRules) -> None:
    assert cut(text, markup, rules) == cut(text, markup, rules)
