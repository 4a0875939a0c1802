"""The names of everything the console keeps in a session or in the URL.

Invariant: a name is spelled here and nowhere else. Members of `Url` are bound to query parameters,
so they are short; members of `Session` are prefixed by their page.
"""

from enum import StrEnum


class Url(StrEnum):
    """State that makes a result: whoever opens the address sees the same."""

    QUERY = "q"
    CATEGORY = "cat"
    LEFT = "a"
    RIGHT = "b"
    LISTING = "show"
    CONFIGURATION = "run"


class Session(StrEnum):
    """State of one visitor."""

    ASKED_ON = "question_asked_on"
    UPLOAD_ROUND = "documents_upload_round"
    UPLOAD = "documents_upload"
    UPLOAD_CATEGORY = "documents_upload_category"
    UPLOAD_SCOPE = "documents_upload_scope"
    LIST_SEARCH = "documents_list_search"
    LIST_CATEGORY = "documents_list_category"
    LIST = "documents_list"
    LISTING = "compare_listing"
    BUILDS = "collection_builds"
    LEDGER_END = "evidence_ledger_end"
