import json
from pathlib import Path

import pytest

from core.errors import SettingsInvalid
from core.intake.chunking import ChunkRules, chunk, chunk_rules_key
from core.intake.loading import load
from core.intake.markdown import markdown_blocks
from core.model.documents import Chunk, Document
from tests.builders import a_document
from tests.core.intake.conftest import CharacterCounter


def from_case(shared: Path, name: str) -> Document:
    data = (shared / "cases/files" / name).read_bytes()
    return load(name, data, category="ops", kb_scope="default", limit_bytes=1_000_000)


def shown(chunks: tuple[Chunk, ...]) -> list[tuple[str, str]]:
    return [(each.breadcrumb, each.content) for each in chunks]


def without_repeats(document: Document, chunks: tuple[Chunk, ...]) -> str:
    """Join what each chunk adds to the ones before it."""
    place, added = 0, []
    for each in chunks:
        start, end = each.metadata["start"], each.metadata["end"]
        assert each.content[each.metadata["repeated_characters"] :] == document.text[start:end]
        added.append(document.text[max(place, start) : end])
        place = max(place, end)
    return "".join("".join(added).split())


def test_a_document_becomes_chunks_with_everything_filled_in(words) -> None:
    document = a_document("# Restart\n\nStop it.\n\n# Verify\n\nLook at it.", title="Restart")
    assert chunk(document, ChunkRules(), words) == (
        Chunk(
            doc_id="default/ops/a.md",
            chunk_index=0,
            content="# Restart\n\nStop it.",
            title="Restart",
            breadcrumb="Restart",
            source="ops/a.md",
            category="ops",
            kb_scope="default",
            # 4 of overhead, the word in title and breadcrumb, and "#", "Restart", "Stop", "it", ".".
            token_count=4 + 1 + 1 + 5,
            metadata={"start": 0, "end": 19, "repeated_characters": 0, "heading_characters": 11},
        ),
        Chunk(
            doc_id="default/ops/a.md",
            chunk_index=1,
            content="# Verify\n\nLook at it.",
            title="Restart",
            breadcrumb="Verify",
            source="ops/a.md",
            category="ops",
            kb_scope="default",
            token_count=4 + 1 + 1 + 6,
            metadata={"start": 21, "end": 42, "repeated_characters": 0, "heading_characters": 10},
        ),
    )


def test_a_hash_in_a_code_fence_stays_in_the_chunk_of_its_heading(shared: Path, words) -> None:
    """Case chk-01."""
    chunks = chunk(from_case(shared, "md_fence_hash.md"), ChunkRules(), words)
    (code,) = [each for each in chunks if "# install deps" in each.content]
    assert code.breadcrumb == "部署"
    unclosed = chunk(from_case(shared, "md_fence_unclosed.md"), ChunkRules(), words)
    assert [each.breadcrumb for each in unclosed] == ["未闭合"]


def test_a_chapter_after_a_deep_heading_has_only_itself_as_breadcrumb(shared: Path, words) -> None:
    """Case chk-03."""
    chunks = chunk(from_case(shared, "md_skipped_levels.md"), ChunkRules(), words)
    assert chunks[-1].breadcrumb == "第二篇"
    assert chunks[-1].content == "# 第二篇\n\n第二篇说明。"


def test_equal_headings_keep_their_parents_and_have_different_ids(shared: Path, words) -> None:
    """Case chk-03."""
    chunks = chunk(from_case(shared, "md_dup_headings.md"), ChunkRules(), words)
    assert [each.breadcrumb for each in chunks] == ["安装 > 步骤", "卸载 > 步骤"]
    assert len({each.id for each in chunks}) == 2


def test_breadcrumbs_show_no_link_target_and_no_empty_heading(shared: Path, words) -> None:
    """Case chk-05."""
    chunks = chunk(from_case(shared, "md_atx_edge.md"), ChunkRules(), words)
    assert [each.breadcrumb for each in chunks] == ["", "是标题", "", "带链接和代码的标题"]


def test_a_byte_order_mark_is_in_no_stored_text(shared: Path, words) -> None:
    """Case int-04."""
    (only,) = chunk(from_case(shared, "enc_utf8_bom_heading.md"), ChunkRules(), words)
    assert (only.title, only.breadcrumb) == ("发布流程", "发布流程")
    assert "\ufeff" not in only.search_text


def test_mixed_line_ends_hide_no_heading(shared: Path, words) -> None:
    """Case chk-06."""
    chunks = chunk(from_case(shared, "crlf_mixed.md"), ChunkRules(), words)
    assert [each.breadcrumb for each in chunks] == ["标题一"]
    document = from_case(shared, "crlf_mixed.md")
    headings = [each.heading for each in markdown_blocks(document.text) if each.heading]
    assert headings == ["标题一", "标题二"]
    assert "\r" not in "".join(each.search_text for each in chunks)
    assert "# not heading" in chunks[-1].content


def test_a_long_table_keeps_its_rows_and_repeats_its_header(shared: Path, characters) -> None:
    """Case chk-08: a size of 500 characters."""
    chunks = chunk(from_case(shared, "md_long_table.md"), ChunkRules(500, 50), characters)
    header = "| 错误码 | 含义 | 处理 |\n|---|---|---|\n| E-"
    assert chunks[0].content.startswith("# 错误码表\n\n" + header)
    assert all(each.content.startswith(header) for each in chunks[1:])
    assert all(each.token_count <= 500 for each in chunks)
    rows = [line for each in chunks for line in each.content.splitlines() if line.startswith("| E-")]
    assert rows == [f"| E-{1000 + i} | 第{i}类故障 | 执行预案{i} |" for i in range(120)]
    assert chunks[-1].content.endswith("|\n\n表后说明。")


def test_a_run_without_a_blank_is_cut_evenly_and_rebuilds_exactly(shared: Path) -> None:
    """Case chk-10: the size holds the title as well, and there is no border to repeat from."""
    document = from_case(shared, "long_line_nospace.txt")
    title = len("long_line_nospace")
    chunks = chunk(document, ChunkRules(800, 80), CharacterCounter())
    assert len(chunks) == -(-65_536 // (800 - title))
    assert max(each.token_count for each in chunks) == 800
    assert "".join(each.content for each in chunks) == document.text


@pytest.mark.parametrize(("size", "overlap"), [(500, 500), (500, 600), (0, 0), (500, -1), (1, 0)])
def test_sizes_that_could_not_work_are_refused_before_any_work(size: int, overlap: int) -> None:
    """Case chk-11."""
    with pytest.raises(SettingsInvalid, match=r"chunking\.(size|overlap)_tokens is"):
        ChunkRules(size, overlap)


def test_the_ranges_of_the_rules_are_inclusive() -> None:
    assert ChunkRules(32, 16, 1).split_levels == 1
    assert ChunkRules(8192, 4096, 6).split_levels == 6
    for rules in ((31, 0, 3), (8193, 0, 3), (100, 51, 3), (100, 0, 0), (100, 0, 7)):
        with pytest.raises(SettingsInvalid):
            ChunkRules(*rules)


def test_a_window_that_leaves_no_room_is_refused_with_the_numbers() -> None:
    with pytest.raises(SettingsInvalid, match="takes 40 tokens, 25 of them for its prompt: 15 are left"):
        chunk(a_document(), ChunkRules(), CharacterCounter(max_tokens=40, overhead_tokens=25))


def test_the_window_of_the_model_limits_chunks_when_it_is_smaller_than_the_rules(shared: Path) -> None:
    """Case chk-15: prompt, title and breadcrumb counted, and the tail is in the last chunk."""
    counter = CharacterCounter(max_tokens=256, overhead_tokens=6)
    chunks = chunk(from_case(shared, "one_giant_paragraph.md"), ChunkRules(8000, 80), counter)
    for each in chunks:
        assert each.token_count == counter.count([each.search_text])[0] + 6 <= 256
    assert "escalation code is ZETA-77" in chunks[-1].content


def test_a_deep_breadcrumb_leaves_most_of_the_chunk_to_its_content(shared: Path, words) -> None:
    """Case chk-16."""
    chunks = chunk(from_case(shared, "md_deep_breadcrumb.md"), ChunkRules(320, 32, 6), words)
    budget = 320 - 4
    for each in chunks:
        header = words.count([f"{each.title}\n{each.breadcrumb}"])[0]
        assert header <= budget * 0.4
        assert len(each.breadcrumb.encode()) <= 1024
        assert each.token_count <= 320
    deepest = chunks[-1].breadcrumb.split(" > ")
    assert [deepest[0][:4], deepest[1], deepest[-1][:4]] == ["非常长的", "…", "非常长的"]
    assert len(deepest) == 3


def test_a_heading_that_the_breadcrumb_shows_can_be_left_out_of_the_content(words) -> None:
    """Case chk-16: the packed context shows a heading once."""
    text = "# A\n\n## B\n\n" + "word " * 70 + "\n\n## [C](x)\n\n" + "word " * 70
    first, second = chunk(a_document(text), ChunkRules(), words)
    bodies = [each.content[each.metadata["heading_characters"] :] for each in (first, second)]
    assert [first.breadcrumb, second.breadcrumb] == ["A > B", "A > C"]
    assert bodies == [("word " * 70).strip()] * 2


def test_a_heading_that_the_breadcrumb_does_not_show_counts_as_content(words) -> None:
    (only,) = chunk(a_document("# A\n\n# B\n\ntext"), ChunkRules(), words)
    assert (only.breadcrumb, only.metadata["heading_characters"]) == ("B", 0)


def test_small_sections_join_below_the_heading_they_share(words) -> None:
    text = "# Alert\n\n## Meaning\n\nDisk is full.\n\n## Impact\n\nWrites fail.\n\n# Other\n\nx\n"
    assert shown(chunk(a_document(text), ChunkRules(), words)) == [
        ("Alert", "# Alert\n\n## Meaning\n\nDisk is full.\n\n## Impact\n\nWrites fail."),
        ("Other", "# Other\n\nx"),
    ]


def test_small_sections_below_the_title_alone_join_too(words) -> None:
    text = "Intro.\n\n## Meaning\n\nDisk is full.\n\n## Impact\n\nWrites fail.\n"
    assert [each.breadcrumb for each in chunk(a_document(text), ChunkRules(), words)] == [""]


def test_sections_of_64_tokens_stay_apart(words) -> None:
    def text(count: int) -> str:
        return "".join(f"## {name}\n\n{'word ' * count}\n\n" for name in "AB")

    # "##" is two tokens and the name one, so 61 words make a section of 64.
    assert len(chunk(a_document(text(61)), ChunkRules(), words)) == 2
    assert len(chunk(a_document(text(60)), ChunkRules(), words)) == 1


def test_plain_text_has_no_headings(words) -> None:
    document = a_document("# one\n\n# two", markup="text", title="notes")
    assert shown(chunk(document, ChunkRules(), words)) == [("", "# one\n\n# two")]


def test_a_new_version_of_a_file_leaves_nothing_of_the_old_one(shared: Path, words) -> None:
    """Case int-21."""
    old = chunk(from_case(shared, "same_name_v1/政策.md"), ChunkRules(), words)
    new = chunk(from_case(shared, "same_name_v2/政策.md"), ChunkRules(), words)
    assert len(new) < len(old)
    assert "附录" not in "".join(each.search_text for each in new)


def test_the_same_files_give_the_same_ids_in_any_order(shared: Path, words) -> None:
    """Case chk-18."""
    root = shared / "cases/files/names"
    names = sorted(file.name for file in root.iterdir() if file.name != "no_extension")

    def build(order: list[str]) -> set[tuple[str, str]]:
        documents = (from_case(shared, f"names/{name}") for name in order)
        return {(each.id, each.content) for doc in documents for each in chunk(doc, ChunkRules(), words)}

    assert build(names) == build(names[::-1])


def test_tokens_that_do_not_add_up_still_end_within_the_limit() -> None:
    class EveryCharacter(CharacterCounter):
        """White space costs a token too, so the line ends between title and content come on top."""

        def _spans(self, text: str) -> list[tuple[int, int]]:
            return [(i, i + 1) for i in range(len(text))]

    document = a_document("x" * 1000, markup="text", title="t")
    chunks = chunk(document, ChunkRules(40, 0), EveryCharacter())
    # 40 hold the title, a line end and 38 more; one less for the second try, which takes off twice 1.
    assert [len(each.content) for each in chunks[:3]] == [37, 37, 37]
    assert max(each.token_count for each in chunks) == 39
    assert without_repeats(document, chunks) == document.text


def test_text_that_costs_no_tokens_still_has_a_limit_in_bytes() -> None:
    class Nothing(CharacterCounter):
        """A tokenizer that takes any run of signs it does not know for one token."""

        def _spans(self, text: str) -> list[tuple[int, int]]:
            return [(0, len(text))] if text.strip() else []

    document = a_document("㐂" * 100_000, markup="text", title="t")
    chunks = chunk(document, ChunkRules(), Nothing())
    assert max(len(each.content.encode()) for each in chunks) == 60_000
    assert "".join(each.content for each in chunks) == document.text


def test_tokens_are_counted_in_batches(characters) -> None:
    text = "".join(f"# H{i}\n\n{'word ' * 20}\n\n" for i in range(50))
    assert len(chunk(a_document(text), ChunkRules(), characters)) == 50
    # The sections, the headers, and the searchable texts.
    assert characters.calls == 3


def test_the_key_of_the_rules_is_canonical() -> None:
    assert json.loads(chunk_rules_key(ChunkRules(320, 32, 3))) == {
        "algorithm": 1,
        "overlap_tokens": 32,
        "size_tokens": 320,
        "split_levels": 3,
    }
    assert chunk_rules_key(ChunkRules(64, 0, 1)) == (
        '{"algorithm":1,"overlap_tokens":0,"size_tokens":64,"split_levels":1}'
    )


def test_every_runbook_is_kept_whole(shared: Path, words) -> None:
    root = shared / "data/runbooks/raw"
    for file in sorted(root.rglob("*.md")):
        if file.name == "_index.md":
            continue
        document = load(file.name, file.read_bytes(), category="ops", kb_scope="d", limit_bytes=10**6)
        chunks = chunk(document, ChunkRules(), words)
        assert without_repeats(document, chunks) == "".join(document.text.split())
        assert max(each.token_count for each in chunks) <= 320
