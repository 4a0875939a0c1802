from core.intake.headers import Header, fit_headers


def test_what_fits_is_left_as_it_is_and_all_is_counted_in_one_call(characters) -> None:
    paths = [("安装", "步骤"), (), ("安装", "步骤")]
    assert fit_headers("手册", paths, 100, characters) == (
        Header("手册", "安装 > 步骤", 7),
        Header("手册", "", 2),
        Header("手册", "安装 > 步骤", 7),
    )
    assert characters.calls == 1


def test_levels_of_the_middle_go_first(characters) -> None:
    # 40 % of 50 are 20 tokens: "T" and "aaaa>…>cccc>dddd" (16) are 17; with "bbbb" it would be 22.
    found = fit_headers("T", [("aaaa", "bbbb", "cccc", "dddd", "eeee")], 50, characters)
    assert found == (Header("T", "aaaa > … > dddd > eeee", 17),)


def test_long_levels_are_shortened_themselves_and_first_and_last_stay(characters) -> None:
    # 40 % of 100 are 40 tokens. A third (13) for each of title, first and last level makes 42 with the
    # two ">" and the "…" between; 12 each makes 39.
    (header,) = fit_headers("t" * 50, [("a" * 50, "b" * 50, "c" * 50)], 100, characters)
    assert header == Header("t" * 11 + "…", f"{'a' * 11}… > … > {'c' * 11}…", 39)


def test_a_field_has_at_most_1024_bytes(characters) -> None:
    """Case chk-16."""
    levels = tuple("非常长的标题" * 30 + str(i) for i in range(6))
    (header,) = fit_headers("长" * 1000, [levels], 10_000, characters)
    assert header.title == "长" * 340 + "…"
    # 477 bytes are left for each level beside its own "…": 159 characters.
    level = ("非常长的标题" * 30)[:159] + "…"
    assert header.breadcrumb == f"{level} > … > {level}"


def test_a_title_is_not_cut_inside_a_character(characters) -> None:
    family = "👨\u200d👩\u200d👧"
    # 40 % of 45 are 18 tokens, one of them the "…"; three families of five code points fit in 17.
    assert fit_headers(family * 10, [()], 45, characters) == (Header(family * 3 + "…", "", 16),)
