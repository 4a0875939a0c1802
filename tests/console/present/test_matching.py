from console.present.matching import matches


def found(query: str, text: str) -> list[str]:
    return [text[start:end] for start, end in matches(query, text)]


def test_words_match_without_case_and_only_as_whole_words():
    assert found("pool size", "The POOL has a size; pools resize.") == ["POOL", "size"]


def test_an_error_code_matches_as_a_whole():
    assert found("fix E-1043", "E-1043, not E-10431") == ["E-1043"]


def test_common_words_are_not_marked():
    assert found("what is the limit", "the limit is what it is") == ["limit"]


def test_parts_of_a_joined_word_match_on_their_own():
    assert found("db_pool.max_size", "set db_pool now") == ["db", "pool"]
    assert found("order-core", "core order order-core") == ["core", "order", "order-core"]


def test_the_longest_shared_parts_of_a_chinese_run_are_marked():
    assert found("数据库连接池耗尽怎么办", "当连接池耗尽时，数据库会拒绝") == ["连接池耗尽", "数据库"]


def test_a_single_shared_chinese_character_is_no_match():
    assert found("证书", "书面") == []


def test_spans_are_in_order_and_never_overlap():
    spans = matches("连接池 连接 E-1042", "连接池 E-1042 连接")
    assert spans == ((0, 3), (4, 10), (11, 13))


def test_texts_without_a_shared_word_have_no_span():
    assert matches("alpha", "") == ()
    assert matches("", "alpha") == ()
