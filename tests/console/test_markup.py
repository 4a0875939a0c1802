from dataclasses import replace
from html.parser import HTMLParser

import pytest

from console import markup
from console.present.compare import Listing, cards, compare
from console.present.evidence import attempt_cards, portions
from tests.builders import a_chunk
from tests.console.fakes import a_lookup, a_scored

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> & \"quoted\" 'it' </div> :red[x] $y$ ![a](b)"
)
OURS = {"div", "span", "ol", "ul", "li", "mark", "details", "summary", "dl", "dt", "dd", "b"}


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.names, self.attributes, self.text, self.open = set(), set(), [], []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    return tags


def hostile_page() -> str:
    scored = a_scored("a", dense=0.9, sparse=1.0, content=HOSTILE * 6, title=HOSTILE, category=HOSTILE)
    chunk = replace(scored.chunk, breadcrumb=HOSTILE, source=HOSTILE)
    result = a_lookup((replace(scored, chunk=chunk),), query="alert script quoted")
    made = compare(result, result, Listing.FOUND, left_name="dense", right_name="hybrid")
    shown = cards(result, made, right=True, category="other")
    return "".join(
        [
            markup.hit_list(shown, "alert script img"),
            markup.chunks([a_chunk(HOSTILE, breadcrumb=HOSTILE)]),
            markup.attempts(attempt_cards(result)),
            markup.portions(portions(result.packing)),
            markup.quoted(HOSTILE, HOSTILE),
            markup.trouble(HOSTILE, HOSTILE),
            markup.refusals([HOSTILE]),
            markup.notice(HOSTILE, HOSTILE),
            markup.finding(HOSTILE, quiet=False),
            markup.facts([HOSTILE, None]),
            markup.figures([(HOSTILE, HOSTILE)]),
            markup.job(HOSTILE, HOSTILE),
            markup.outcome(HOSTILE, good=False),
            markup.column_head(HOSTILE, HOSTILE, HOSTILE),
            markup.example(HOSTILE, HOSTILE),
            markup.lead(HOSTILE),
        ]
    )


def test_hostile_text_brings_no_tag_and_no_attribute_into_the_page():
    tags = read(hostile_page())
    assert tags.names <= OURS
    assert tags.attributes <= {"class", "role"}


def test_hostile_text_is_still_read_as_it_was_written():
    assert "<script>alert(1)</script><img src=x onerror=alert(1)> & \"quoted\" 'it' </div>" in "".join(
        read(markup.chunks([a_chunk(HOSTILE)])).text
    )


@pytest.mark.parametrize("query", ["amp", "lt gt", "quot", "x27"])
def test_marking_never_cuts_into_an_escape(query):
    assert markup.marked("a & b < c \"d\" 'e'", query) == "a &amp; b &lt; c &quot;d&quot; &#x27;e&#x27;"


def test_matched_words_are_marked_and_the_rest_stays():
    assert markup.marked("E-1043 <b>", "e-1043") == "<mark>E-1043</mark> &lt;b&gt;"


def test_a_long_chunk_starts_at_the_line_of_its_first_match_and_can_be_read_whole():
    text = "opening line\n" * 40 + "the needle is here\n" + "closing line\n" * 40
    html = markup.hit_list(_cards(text), "needle")
    preview = html.split("<details>")[0]
    assert "<mark>needle</mark>" in preview
    assert preview.count("opening line") == 0
    assert html.split("<details>")[1].count("opening line") == 40


def test_a_preview_leaves_out_headings_that_title_and_place_show_and_the_whole_chunk_keeps_them():
    text = "# Guide\n\n## Check\n\n" + "long body " * 40
    html = markup.hit_list(_cards(text, heading_characters=19), "body")
    preview, whole = html.split("<details>")
    assert "# Guide" not in preview
    assert whole.count("# Guide") == 1
    short = markup.hit_list(_cards("# Guide\n\nShort.", heading_characters=9), "x")
    assert '<div class="rl-text">Short.</div>' in short


def test_words_of_the_query_are_marked_in_the_place_too():
    assert '<span class="rl-place"><mark>Check</mark> &gt; Pool</span>' in markup.hit_list(
        _cards("Text.", breadcrumb="Title a > Check > Pool"), "check"
    )


def test_nothing_refused_draws_nothing():
    assert markup.refusals([]) == ""


def test_an_empty_list_says_so():
    assert "No chunk in this list." in markup.hit_list((), "x")


def _cards(text: str, *, heading_characters: int = 0, breadcrumb: str = ""):
    scored = a_scored("a", dense=0.9, content=text)
    metadata = {"heading_characters": heading_characters}
    chunk = replace(scored.chunk, metadata=metadata, breadcrumb=breadcrumb)
    result = a_lookup((replace(scored, chunk=chunk),))
    made = compare(result, result, Listing.FOUND, left_name="dense", right_name="hybrid")
    return cards(result, made, right=True, category=None)
