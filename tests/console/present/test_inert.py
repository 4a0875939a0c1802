from console.present.inert import cell, label


def test_a_label_has_no_markdown_directive_formula_or_link_left():
    assert label(":red[$x$](u) ![i] `c`") == r"\:red\[\$x\$\]\(u\) \!\[i\] \`c\`"


def test_line_breaks_in_a_label_become_spaces_and_letters_stay():
    assert label("数据库\n连接池") == "数据库 连接池"


def test_a_cell_that_starts_like_a_formula_gets_an_apostrophe():
    assert [cell(text) for text in ("=1+1", "+1", "-1", "@x", "a=1", "")] == [
        "'=1+1",
        "'+1",
        "'-1",
        "'@x",
        "a=1",
        "",
    ]
