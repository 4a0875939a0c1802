from core.intake.markdown import markdown_blocks
from core.intake.structure import Block, BlockKind, join_small, paragraphs, sections


def outline(text: str, split_levels: int = 3) -> list[tuple[tuple[str, ...], str]]:
    found = sections(markdown_blocks(text), split_levels=split_levels)
    return [(section.path, text[section.start : section.end]) for section in found]


def test_going_back_up_closes_the_deeper_headings() -> None:
    """Case chk-03."""
    text = (
        "# 目录\n\n### 表甲\n\n甲。\n\n### 表乙\n\n乙。\n\n## 章节\n\n章。\n\n#### 深层\n\n深。\n\n"
        "# 第二篇\n\n二。\n"
    )
    assert outline(text) == [
        (("目录", "表甲"), "# 目录\n\n### 表甲\n\n甲。"),
        (("目录", "表乙"), "### 表乙\n\n乙。"),
        (("目录", "章节"), "## 章节\n\n章。\n\n#### 深层\n\n深。"),
        (("第二篇",), "# 第二篇\n\n二。"),
    ]
    assert [path for path, _ in outline(text, 4)][3] == ("目录", "章节", "深层")
    assert [path for path, _ in outline(text, 1)] == [("目录",), ("第二篇",)]


def test_equal_headings_under_different_parents_have_different_paths() -> None:
    """Case chk-03."""
    text = "# 安装\n\n## 步骤\n\n装。\n\n# 卸载\n\n## 步骤\n\n卸。\n"
    assert [path for path, _ in outline(text)] == [("安装", "步骤"), ("卸载", "步骤")]


def test_an_empty_heading_closes_the_section_and_is_not_in_the_path() -> None:
    """Case chk-05."""
    assert [path for path, _ in outline("# a\n\nx\n\n# \n\ny\n\n## b\n\nz\n")] == [("a",), (), ("b",)]


def test_text_before_the_first_heading_has_no_path() -> None:
    assert outline("x\n\n# a\n\ny\n") == [((), "x"), (("a",), "# a\n\ny")]


def test_a_heading_without_text_joins_the_section_after_it() -> None:
    assert outline("# a\n\n# b\n\ny\n") == [(("b",), "# a\n\n# b\n\ny")]


def test_headings_without_text_at_the_end_join_the_section_before() -> None:
    assert outline("# a\n\nx\n\n# b\n\n## c\n") == [(("a",), "# a\n\nx\n\n# b\n\n## c")]


def test_headings_alone_are_one_section() -> None:
    """Case int-09: never one piece for each heading."""
    assert outline("# a\n## b\n") == [(("a", "b"), "# a\n## b")]


def test_plain_text_is_cut_at_blank_lines() -> None:
    text = "\n\none\ntwo\n \n\nthree\n\u200b\n\n  four"
    assert [text[block.start : block.end] for block in paragraphs(text)] == [
        "one\ntwo",
        "three\n\u200b",
        "  four",
    ]
    assert paragraphs("x") == (Block(BlockKind.PROSE, 0, 1),)


def joined(text: str, limit_tokens: int = 100) -> list[tuple[tuple[str, ...], int]]:
    parts = sections(markdown_blocks(text), split_levels=3)
    tokens = [part.end - part.start for part in parts]
    pairs = join_small(parts, tokens, small_tokens=12, limit_tokens=limit_tokens)
    return [(part.path, count) for part, count in pairs]


def test_a_small_section_joins_its_neighbour_below_the_nearest_shared_heading() -> None:
    # Sections of 10, 10 and 11 characters, all of them small until two are one.
    text = "# a\n\nxxxxx\n\n## b\n\nyyyy\n\n## c\n\n" + "z" * 5
    assert joined(text) == [(("a",), 31)]
    assert joined(text, limit_tokens=30) == [(("a",), 20), (("a", "c"), 11)]


def test_chapters_never_join_and_deeper_sections_without_a_chapter_do() -> None:
    assert joined("# a\n\nx\n\n# b\n\ny") == [(("a",), 6), (("b",), 6)]
    assert joined("x\n\n# b\n\ny") == [((), 1), (("b",), 6)]
    assert joined("x\n\n## a\n\nx\n\n## b\n\ny") == [((), 15)]


def test_two_sections_that_are_not_small_stay_apart() -> None:
    assert joined("# a\n\n## b\n\nyyyyyy\n\n## c\n\nzzzzzz") == [(("a", "b"), 17), (("a", "c"), 12)]
