from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FileRefused
from core.intake.loading import load
from core.model.documents import Document, content_hash


def loaded(name: str, data: bytes | str, **changes: object) -> Document:
    raw = data.encode() if isinstance(data, str) else data
    options = {"category": "ops", "kb_scope": "default", "limit_bytes": 1_000_000} | changes
    return load(name, raw, **options)


def refusal(name: str, data: bytes | str, **changes: object) -> str:
    with pytest.raises(FileRefused) as refused:
        loaded(name, data, **changes)
    return str(refused.value)


def test_a_markdown_file_becomes_a_document() -> None:
    assert loaded("ops/a.md", "# 标题\r\n\r\n正文。") == Document(
        doc_id="default/ops/a.md",
        name="ops/a.md",
        title="标题",
        text="# 标题\n\n正文。",
        markup="markdown",
        category="ops",
        kb_scope="default",
        content_hash=content_hash("# 标题\n\n正文。"),
        encoding="utf-8",
        warnings=(),
    )


def test_plain_text_takes_its_title_from_the_name_and_keeps_its_hashes() -> None:
    document = loaded("ops/notes.v2.TXT", "# no heading")
    assert (document.title, document.markup, document.text) == ("notes.v2", "text", "# no heading")


def test_the_title_is_front_matter_then_heading_then_name() -> None:
    both = "---\ntitle: From the top\n---\n\n# Heading\n\nText."
    assert loaded("a.md", both).title == "From the top"
    assert loaded("a.md", both).text == "\n# Heading\n\nText."
    assert loaded("a.md", "---\nweight: 3\n---\n# Heading\n\nText.").title == "Heading"
    assert loaded("ops/a.b.md", "Text.").title == "a.b"
    assert loaded("back\\slash.md", "Text.").title == "slash"


def test_a_byte_order_mark_hides_no_heading() -> None:
    """Case int-04."""
    document = loaded("a.md", b"\xef\xbb\xbf" + "# 发布流程\n\n先灰度百分之五。".encode())
    assert document.title == "发布流程"
    assert "\ufeff" not in document.text + document.title


def test_broken_front_matter_is_a_warning_and_its_title_line_still_counts() -> None:
    document = loaded("a.md", "---\ntitle: Alerts: what now\nweight: 3\n---\nText.")
    assert (document.title, document.text) == ("Alerts: what now", "Text.")
    assert document.warnings == (
        "The front matter is not valid YAML (mapping values are not allowed here); nothing but its title "
        "line was read.",
    )


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.txt", b"", "a.txt is empty (0 bytes), so there is no text to index."),
        ("a.txt", b"\xef\xbb\xbf", "a.txt holds nothing but white space, so there is no text to index."),
        (
            "a.md",
            "  \n\u3000\u00a0\u200b\ufeff\n",
            "a.md holds nothing but white space, so there is no text to index.",
        ),
        (
            "a.md",
            "# 一\n## 二\n### 三\n# 四\n",
            "a.md holds headings but no text, so there is nothing to index.",
        ),
        (
            "_index.md",
            "---\ntitle: node\nweight: 10\n---\n\n",
            "_index.md holds front matter but no text, so there is nothing to index.",
        ),
        (
            "a.md",
            "---\ntitle: node\n---\n<!-- todo -->\n\n***\n",
            "a.md holds rules or comments but no text, so there is nothing to index.",
        ),
    ],
)
def test_a_file_without_text_is_refused_with_what_it_holds(
    name: str, data: bytes | str, sentence: str
) -> None:
    """Cases int-09 and int-04."""
    assert refusal(name, data) == sentence


def test_the_limit_is_inclusive_and_the_refusal_has_both_numbers() -> None:
    """Case int-17."""
    assert loaded("a.txt", b"x" * 1999, limit_bytes=2000).text == "x" * 1999
    assert loaded("a.txt", b"x" * 2000, limit_bytes=2000).text == "x" * 2000
    assert refusal("a.txt", b"x" * 2001, limit_bytes=2000).startswith(
        "a.txt has 2,001 bytes; at most 2,000 are allowed."
    )


def test_an_unsupported_ending_is_refused_with_the_supported_ones() -> None:
    """Case int-18."""
    assert refusal("a.exe", b"x") == (
        "a.exe has the ending .exe, which is not supported. Supported are: .md, .markdown, .txt."
    )
    assert refusal("v1.2/no_extension", b"x").startswith("v1.2/no_extension has no ending,")
    assert refusal(".md", b"x") == ".md has nothing before its ending. Give the file a name."


def test_the_case_of_the_ending_does_not_matter() -> None:
    """Case int-18."""
    assert loaded("REPORT.MD", "x").markup == "markdown"
    assert loaded("a.Markdown", "x").markup == "markdown"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.7\nx", "its first bytes are those of a PDF file"),
        (b"PK\x03\x04rest", "a zip archive or an Office file"),
        (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
        (b"text\0text", "holds NUL characters"),
        (b"\x01\x02\x03abc", "3 of its 6 characters are control characters"),
    ],
)
def test_binary_content_is_refused_whatever_the_name_says(data: bytes, reason: str) -> None:
    assert reason in refusal("a.txt", data)


def test_colour_codes_of_a_log_are_no_binary_content() -> None:
    assert loaded("a.txt", "\x1b[31merror: disk full on node-7\x1b[0m").text.startswith("\x1b[31m")


def test_the_encoding_can_be_chosen_by_hand() -> None:
    """Case int-06."""
    document = loaded("a.txt", "café".encode("cp1252"), encoding="windows-1252")
    assert (document.text, document.encoding) == ("café", "windows-1252")


def test_the_warning_about_bad_bytes_reaches_the_document() -> None:
    """Case int-06."""
    document = loaded("a.md", "# 日志说明\n\n正常段落一。\n".encode() + b"\xff")
    assert document.warnings == ("1 undecodable bytes were replaced by U+FFFD; the rest is UTF-8.",)


def test_line_ends_do_not_change_the_hash() -> None:
    """Case chk-06."""
    assert (
        loaded("a.md", "# 甲\n\n乙。\n").content_hash == loaded("c.md", "# 甲\r\n\r\n乙。\r\n").content_hash
    )


def test_a_new_version_keeps_the_identity_and_a_second_base_has_its_own() -> None:
    """Cases int-21 and int-23."""
    first, second = loaded("政策.md", "一百元"), loaded("政策.md", "一百五十元")
    assert first.doc_id == second.doc_id == "default/政策.md"
    assert first.content_hash != second.content_hash
    assert loaded("政策.md", "一百元", kb_scope="other").doc_id == "other/政策.md"


def test_category_and_base_are_cleaned() -> None:
    document = loaded("a.txt", "x", category=" ", kb_scope=" hr ")
    assert (document.category, document.kb_scope, document.doc_id) == ("uncategorized", "hr", "hr/a.txt")


def test_the_runbooks_load_and_exactly_their_stubs_are_refused(shared: Path) -> None:
    root = shared / "data/runbooks/raw"
    files = sorted(root.rglob("*.md"))
    refused, documents = [], []
    for file in files:
        try:
            documents.append(loaded(file.relative_to(root).as_posix(), file.read_bytes()))
        except FileRefused as error:
            refused.append(str(error).rsplit("/", 1)[-1])
    assert (len(files), len(documents)) == (117, 108)
    assert refused == ["_index.md holds front matter but no text, so there is nothing to index."] * 9
    assert all(document.warnings == () for document in documents)


def test_every_named_file_of_the_cases_loads_under_its_own_name(shared: Path) -> None:
    """Case int-18."""
    for file in (shared / "cases/files/names").iterdir():
        if file.name == "no_extension":
            assert "no ending" in refusal(file.name, file.read_bytes())
        else:
            assert loaded(file.name, file.read_bytes()).name == file.name


def test_the_text_files_among_the_formats_hold_what_they_must(shared: Path) -> None:
    folder = shared / "data/formats"
    for name, text in (
        ("md_frontmatter.md", "KubePodCrashLooping"),
        ("md_frontmatter_zh.md", "TiDB Lightning 故障处理"),
        ("txt_utf16_bom.txt", "This is a test document"),
        ("txt_gb18030_docs.txt", "监控"),
    ):
        assert text in loaded(name, (folder / name).read_bytes()).text
    assert "is empty" in refusal("txt_empty.txt", (folder / "txt_empty.txt").read_bytes())


@given(st.text(max_size=80), st.sampled_from(["a.md", "a.txt"]))
@settings(deadline=None)
def test_any_text_is_loaded_with_something_to_see_or_refused(text: str, name: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    try:
        document = loaded(name, data)
    except FileRefused:
        return
    assert document.text.strip()
    assert document.title.strip()
    assert "\n" not in document.title
    assert not set(document.text) & set("\0\r\ufeff")
