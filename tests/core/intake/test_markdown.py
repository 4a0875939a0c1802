from core.intake.markdown import FrontMatter, front_matter, has_body, markdown_blocks
from core.intake.structure import Block, BlockKind


def pieces(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, text[block.start : block.end]) for block in markdown_blocks(text)]


def headings(text: str) -> list[tuple[int, str]]:
    return [
        (block.level, block.heading) for block in markdown_blocks(text) if block.kind is BlockKind.HEADING
    ]


def test_front_matter_gives_its_title_and_where_the_body_starts() -> None:
    text = '---\ntitle: "重启 手册"\nweight: 20\n---\n# H\n'
    assert front_matter(text) == FrontMatter("重启 手册", text.index("# H"))


def test_a_title_is_taken_as_it_is_written() -> None:
    assert front_matter("---\ntitle: 1.10\n---\n").title == "1.10"
    assert front_matter("---\ntitle: 2024-02-30\n---\n").title == "2024-02-30"
    assert front_matter('---\ntitle: "a\\0b\\ud800c\\nd"\n---\n').title == "abc d"


def test_front_matter_without_a_usable_title_has_none() -> None:
    for line in ("weight: 1", "title:", "title: ~", "title: [a, b]", ""):
        assert front_matter(f"---\n{line}\n---\nx") == FrontMatter("", len(f"---\n{line}\n---\n"))


def test_rules_around_text_are_no_front_matter() -> None:
    for text in (
        "---\nJust text.\n---\nx",
        "---\n\n- a\n---\nx",
        "---\ntitle: a\n",
        "--- x\na: b\n---\n",
        "\n---\na: b\n---\n",
    ):
        assert front_matter(text) == FrontMatter()


def test_broken_yaml_is_reported_and_never_raised() -> None:
    broken = front_matter("---\ntitle: a\nkey: [1\n---\nx")
    assert (broken.title, len(broken.warnings)) == ("a", 1)
    deep = front_matter("---\nkey: " + "[" * 5000 + "\n---\nx")
    assert deep.warnings[0].startswith("The front matter is not valid YAML (it is nested too deep)")


def test_a_hash_in_a_code_fence_is_no_heading() -> None:
    """Case chk-01."""
    text = (
        "# 部署\n\n```bash\n# install deps\n```\n\n~~~python\n# comment\n~~~\n\n"
        "    # indented code comment\n\n## 回滚\n\n执行。\n"
    )
    assert headings(text) == [(1, "部署"), (2, "回滚")]


def test_a_fence_inside_a_longer_fence_is_code() -> None:
    """Case chk-01."""
    text = "# 外层\n\n````md\n```\n# 里面的井号\n```\n# 仍在代码里\n````\n\n## 真标题\n\n正文。\n"
    assert headings(text) == [(1, "外层"), (2, "真标题")]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    """Case chk-01."""
    text = "# 未闭合\n\n```\n# 代码里\n\n## 也在代码里\n\n最后一行。\n"
    assert pieces(text) == [("heading", "# 未闭合"), ("code", text[text.index("```") :].rstrip())]


def test_headings_follow_commonmark_to_the_letter() -> None:
    """Case chk-05."""
    text = (
        "#不是标题\n\n# 是标题 #\n\n####### 七个\n\n# \n\n空标题之后。\n\n\\# 转义\n\n> # 引用里的标题\n\n"
        "<!--\n# 注释里\n-->\n\n# 带[链接](http://x.test)和`代码`的标题\n\n正文。\n"
    )
    assert headings(text) == [(1, "是标题"), (1, ""), (1, "带链接和代码的标题")]


def test_a_heading_is_reduced_to_what_a_reader_sees() -> None:
    text = (
        "# *One* **two** [three][x] ![four](a.png) <b>five</b> &amp; \\# six\n\n"
        "Underlined\ntwice\n===\n\n[x]: http://x.test\n"
    )
    assert headings(text) == [(1, "One two three four five & # six"), (1, "Underlined twice")]


def test_blocks_are_the_top_level_blocks_with_list_items_one_by_one() -> None:
    text = "Para\nwrapped\n\n- a\n- b\n\n  - c\n\n1. d\n\n> quote\n\n---\n\n<div>\nhtml\n</div>\n"
    assert pieces(text) == [
        ("prose", "Para\nwrapped"),
        ("lines", "- a"),
        ("lines", "- b\n\n  - c"),
        ("lines", "1. d"),
        ("prose", "> quote"),
        ("rule", "---"),
        ("lines", "<div>\nhtml\n</div>"),
    ]


def test_a_table_knows_where_its_header_ends() -> None:
    text = "x\n\n| a |\n|---|\n| 1 |\n| 2 |\n\nafter\n"
    table = markdown_blocks(text)[1]
    assert table == Block(BlockKind.TABLE, 3, 26, header_end=14)
    assert text[table.start : table.header_end] == "| a |\n|---|"


def test_a_table_without_rows_has_no_header_to_repeat() -> None:
    assert markdown_blocks("| a |\n|---|\n")[0].header_end is None


def test_link_definitions_are_not_lost() -> None:
    text = "# H\n\n[x]: http://x.test\n\nText [x].\n\n[y]: http://y.test\n"
    assert pieces(text) == [
        ("heading", "# H"),
        ("prose", "[x]: http://x.test"),
        ("prose", "Text [x]."),
        ("prose", "[y]: http://y.test"),
    ]


def test_what_is_nested_too_deep_for_the_parser_is_not_lost() -> None:
    text = "> " * 200 + "deep\n\nafter\n"
    blocks = markdown_blocks(text)
    assert "".join(text[b.start : b.end] for b in blocks).replace("\n", "") == text.replace("\n", "")


def test_headings_rules_and_comments_are_no_body() -> None:
    for text in ("# a\n\n---\n", "<!-- c -->\n", "<!-- a\n\nb", "\u200b\n"):
        assert not has_body(text, markdown_blocks(text))
    for text in ("# a\n\nb", "<!-- c --> d\n", "![alt](x.png)", "[x]: http://x.test"):
        assert has_body(text, markdown_blocks(text))
