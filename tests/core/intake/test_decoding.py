from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FileRefused
from core.intake.decoding import ENCODINGS, decode

RARE = "# 产线名称登记\n\n镕炉线、㐂品线、𠮷祥线 由值班组负责。\n"
BAD_BYTE = "# 日志说明\n\n正常段落一。\n".encode() + b"\xff" + "\n正常段落二。\n".encode()


def test_gb18030_with_rare_characters_is_read_whole() -> None:
    """Case int-01."""
    for narrower in ("gb2312", "gbk"):
        with pytest.raises(UnicodeEncodeError):
            RARE.encode(narrower)
    decoded = decode("a.md", RARE.encode("gb18030"))
    assert (decoded.text, decoded.encoding, decoded.warnings) == (RARE, "gb18030", ())


def test_the_gb18030_files_of_the_cases_are_read(shared: Path) -> None:
    """Cases int-01 and int-02."""
    files = shared / "cases/files"
    rare = decode("a", (files / "enc_gb18030_rare.md").read_bytes())
    assert all(name in rare.text for name in ("镕炉线", "㐂品线", "𠮷祥线"))
    assert "\ufffd" not in rare.text
    assert decode("a", (files / "enc_gbk.txt").read_bytes()).text.startswith("订单退款规则\n")
    assert decode("a", (files / "enc_short_gbk.txt").read_bytes()).text == "中文"


def test_four_bytes_of_gbk_are_chinese_and_the_reader_is_asked_to_check() -> None:
    """Case int-02."""
    decoded = decode("a.txt", "中文".encode("gbk"))
    assert decoded.text == "中文"
    assert decoded.encoding == "gb18030"
    assert decoded.warnings == (
        "Read as GB18030: 2 of 2 characters outside ASCII are everyday Chinese. Check the preview; choose "
        "the encoding by hand if it looks wrong.",
    )


def test_one_stray_byte_costs_one_replacement_character_and_a_warning() -> None:
    """Case int-06."""
    decoded = decode("a.md", BAD_BYTE)
    assert decoded.text == "# 日志说明\n\n正常段落一。\n\ufffd\n正常段落二。\n"
    assert decoded.encoding == "utf-8"
    assert decoded.warnings == ("1 undecodable bytes were replaced by U+FFFD; the rest is UTF-8.",)


def test_a_file_cut_inside_its_last_character_is_still_utf8() -> None:
    decoded = decode("a.md", ("正常段落" * 10).encode()[:-1])
    assert decoded.text == "正常段落" * 9 + "正常段\ufffd"
    assert decoded.warnings[0].startswith("2 undecodable bytes")


@pytest.mark.parametrize(
    "text", ["café façade naïve – prix: 30 €", "façade", "Größe und Maß", "über", "señor, mañana"]
)
def test_western_text_is_never_read_as_chinese(text: str) -> None:
    """Case int-06: some of these bytes are valid GB18030."""
    with pytest.raises(FileRefused) as refusal:
        decode("a.txt", text.encode("cp1252"))
    assert str(refusal.value) == (
        "a.txt is not readable text: it is neither UTF-8 nor GB18030 (tried in that order, and there is no "
        "byte order mark). Save it as UTF-8, or choose its encoding by hand."
    )


def test_big5_is_refused_and_not_read_as_other_chinese() -> None:
    text = "這是一份關於資料庫備份與還原的說明文件，請於值班前閱讀。"
    with pytest.raises(FileRefused, match="neither UTF-8 nor GB18030"):
        decode("a.txt", text.encode("big5"))
    assert decode("a.txt", text.encode("big5"), encoding="big5").text == text


def test_an_encoding_chosen_by_hand_is_used_strictly() -> None:
    """Cases int-02 and int-06: the choice can be made by hand."""
    assert decode("a", "café".encode("cp1252"), encoding="windows-1252").text == "café"
    with pytest.raises(FileRefused, match="a is not utf-8: byte 3 of 4 cannot be read"):
        decode("a", b"caf\xe9", encoding="utf-8")
    with pytest.raises(FileRefused, match="'latin-9' chosen for a is not known"):
        decode("a", b"x", encoding="latin-9")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_is_not_part_of_the_text(encoding: str) -> None:
    """Case int-04."""
    decoded = decode("a.md", "# 发布流程\n".encode(encoding))
    assert decoded.text == "# 发布流程\n"


def test_big_endian_marks_are_known() -> None:
    assert decode("a", b"\xfe\xff" + "甲".encode("utf-16-be")).encoding == "utf-16-be"
    assert decode("a", b"\x00\x00\xfe\xff" + "甲".encode("utf-32-be")).text == "甲"


def test_bytes_that_break_the_promise_of_their_mark_are_refused() -> None:
    with pytest.raises(FileRefused, match="mark of utf-16-le, but byte 2 of 3"):
        decode("a", b"\xff\xfe" + b"a\0b")
    with pytest.raises(FileRefused, match="mark of UTF-8, but its bytes are not UTF-8"):
        decode("a", b"\xef\xbb\xbf" + "订单退款规则".encode("gbk"))


def test_marks_inside_the_text_go_too() -> None:
    """Case int-04."""
    assert decode("a", "甲\ufeff乙".encode()).text == "甲乙"


def test_every_kind_of_line_end_becomes_a_line_feed() -> None:
    """Case chk-06."""
    assert decode("a", b"one\r\ntwo\rthree\n\r\n").text == "one\ntwo\nthree\n\n"


def test_a_nul_is_refused() -> None:
    with pytest.raises(FileRefused, match="holds NUL characters"):
        decode("a", "甲".encode("utf-16-le") + b"a\0")
    with pytest.raises(FileRefused, match="holds NUL characters"):
        decode("a", b"a\0b")


def test_replacement_characters_that_were_there_before_are_mentioned() -> None:
    assert decode("a", "坏\ufffd字".encode()).warnings == (
        "The text holds 1 replacement characters (U+FFFD).",
    )


@given(st.binary(max_size=60), st.sampled_from([None, *ENCODINGS]))
@settings(deadline=None)
def test_any_bytes_become_clean_text_or_are_refused(data: bytes, encoding: str | None) -> None:
    try:
        decoded = decode("a", data, encoding=encoding)
    except FileRefused:
        return
    decoded.text.encode("utf-8")
    assert not set(decoded.text) & set("\0\r\ufeff")


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff\ufffd"), max_size=60)
)
@settings(deadline=None)
def test_utf8_is_given_back_unchanged(text: str) -> None:
    decoded = decode("a", text.encode("utf-8"))
    assert (decoded.text, decoded.encoding, decoded.warnings) == (text, "utf-8", ())
