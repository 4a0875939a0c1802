import pytest

from core.intake.cutting import measure
from core.intake.markdown import markdown_blocks
from core.intake.packing import Packer
from core.intake.structure import sections


@pytest.fixture
def packed(characters):
    def pack(text: str, room: int, overlap: int = 0) -> list[str]:
        (section,) = sections(markdown_blocks(text), split_levels=1)
        packer = Packer(text, measure(text, 0, len(text), characters), room, overlap)
        return [piece.content(text) for piece in packer.pack(section)]

    return pack


def test_blocks_stay_whole_where_they_fit(packed) -> None:
    assert packed("aaaa\n\nbbbb\n\ncccc\n\n- d\n- e\n", 8) == ["aaaa\n\nbbbb", "cccc\n\n- d\n- e"]


def test_prose_is_cut_behind_sentences(packed) -> None:
    assert packed("One two. Three four. Five six. Seven.", 18) == [
        "One two. Three four.",
        "Five six. Seven.",
    ]


def test_the_last_two_pieces_are_even_rather_than_full_and_scrap(packed) -> None:
    assert packed("abcdefghijklmnopqrstu", 20) == ["abcdefghijk", "lmnopqrstu"]


def test_code_is_cut_between_lines(packed) -> None:
    assert packed("```\nx = 1. 2\nyyyyyy\nzzzzzz\n```\n", 14) == ["```\nx = 1. 2\nyyyyyy", "zzzzzz\n```"]


def test_every_piece_of_a_table_starts_with_header_and_separator(packed) -> None:
    """Case chk-08: header 3 + 5, row 5; so 18 tokens hold the header and two rows."""
    rows = [f"| {i}{i}{i} |" for i in range(5)]
    text = "| k |\n|---|\n" + "\n".join(rows) + "\n\nafter.\n"
    assert packed(text, 18) == [
        "| k |\n|---|\n| 000 |\n| 111 |",
        "| k |\n|---|\n| 222 |\n| 333 |",
        "| k |\n|---|\n| 444 |",
        "after.",
    ]


def test_a_header_that_takes_more_than_half_the_room_is_not_repeated(packed) -> None:
    assert packed("| k |\n|---|\n| 000 |\n| 111 |\n| 222 |\n", 14) == [
        "| k |\n|---|\n| 000 |",
        "| 111 |\n| 222 |",
    ]


def test_a_heading_is_never_left_alone_at_the_end_of_a_piece(packed) -> None:
    assert packed("aaaaaa\n\n## h\n\nbbbbbb\n", 10) == ["aaaaaa", "## h\n\nbbbbbb"]


def test_a_short_lead_in_stays_with_the_block_that_must_be_cut(packed) -> None:
    assert packed("Run:\n\n```\naaaa\nbbbb\ncccc\n```\n", 16) == ["Run:\n\n```\naaaa\nbbbb", "cccc\n```"]


def test_a_piece_repeats_the_last_sentence_of_the_one_before(packed) -> None:
    assert packed("Aaaa. Bbb. Cccc. Ddd. Eeee.", 13, overlap=4) == [
        "Aaaa. Bbb.",
        "Bbb. Cccc. Ddd.",
        "Ddd. Eeee.",
    ]


def test_a_sentence_longer_than_the_overlap_is_not_repeated(packed) -> None:
    assert packed("Aaaaaaaa. Bbbbbbbb. Cccccccc.", 10, overlap=4) == ["Aaaaaaaa.", "Bbbbbbbb.", "Cccccccc."]


def test_code_and_tables_are_not_repeated(packed) -> None:
    assert packed("```\na\n```\n\nBbbbbbbb.\n", 14, overlap=5) == ["```\na\n```", "Bbbbbbbb."]


def test_the_overlap_shrinks_so_that_a_block_stays_whole(packed) -> None:
    assert packed("Aa. Bb.\n\nCcccccc.\n", 10, overlap=5) == ["Aa. Bb.", "Ccccccc."]
    assert packed("Aa. Bb.\n\nCccccc.\n", 10, overlap=5) == ["Aa. Bb.", "Bb.\n\nCccccc."]
    # Ten tokens for the block leave three of fifteen: one sentence of the two that the overlap allows.
    assert packed("A. Bb. Cc.\n\nDddddddddd. E\n", 15, overlap=6) == ["A. Bb. Cc.", "Cc.\n\nDddddddddd. E"]


def test_the_overlap_is_never_more_than_half_the_room(packed) -> None:
    text = "A. B. C. D. E. F. Gg. Hh. Ii. Jj. Kk."
    assert packed(text, 12, overlap=9)[:2] == ["A. B. C. D. E. F.", "D. E. F. Gg. Hh."]


def test_no_sentence_is_broken_for_the_sake_of_overlap(packed) -> None:
    text = "Aa. Bb. Cc. Dddddddd. Eeeeeeee."
    assert packed(text, 12, overlap=6) == ["Aa. Bb. Cc.", "Dddddddd.", "Eeeeeeee."]


def test_a_heading_is_not_cut_off_the_block_that_it_announces(packed) -> None:
    assert packed("## h\n\n" + "a" * 30 + "\n", 15) == ["## h\n\n" + "a" * 12, "a" * 9, "a" * 9]
