"""A search port that returns prepared lists and records what it was asked."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from core.errors import StoreError
from core.model.builds import BuildDescription, BuildIdentity
from core.model.search import Route, RouteList, RouteState, SearchRequest
from core.model.token_lens import Term
from core.retrieval.configuration import Configuration
from core.retrieval.levels import Thresholds

VECTOR = np.array([1.0, 0.0], dtype=np.float32)

Answers: TypeAlias = Mapping[tuple[Route, str | None], RouteList | StoreError]
"""By route and category filter; what is not there is an empty list."""

FLOORS_ONLY = Thresholds("test", True, 0.5, 0.8, related_margin=-100.0, precise_margin=-100.0)
"""Cosine 0.5 is RELATED, 0.8 is PRECISE, whatever the margin."""


class ScriptedPort:
    def __init__(
        self, answers: Answers, *, counts: Mapping[str, int] | None = None, metric: str = "COSINE"
    ):
        self.answers = answers
        self.counts = counts or {}
        self.metric = metric
        self.asked: list[tuple[Route, SearchRequest]] = []
        self.counted: list[tuple[str | None, str | None]] = []

    @property
    def calls(self) -> list[tuple[str, str | None]]:
        return [(route.value, request.category_filter) for route, request in self.asked]

    def search_dense(self, request, vector):
        assert vector is VECTOR
        return self._answer(Route.DENSE, request)

    def search_sparse(self, request):
        return self._answer(Route.SPARSE, request)

    def search_hybrid(self, request, vector):
        assert vector is VECTOR
        return self._answer(Route.FUSED, request)

    def count(self, *, category=None, kb_scope=None):
        self.counted.append((category, kb_scope))
        return self.counts.get(category, 0)

    def find(self, name):
        found = {}
        for answer in self.answers.values():
            for hit in () if isinstance(answer, StoreError) else answer.hits:
                if name in (hit.doc_id, hit.source):
                    found.setdefault((hit.doc_id, hit.chunk_index), hit)
        return tuple(found[key] for key in sorted(found))

    def terms(self, text):
        return tuple(Term(word) for word in text.split())

    def document_frequencies(self, terms):
        return dict.fromkeys(terms)

    def match_terms(self, query, chunk_id):
        return None

    def identify(self):
        return BuildIdentity("build", self.metric)

    def describe(self):
        return BuildDescription("build", True, None, True, 100, "FLAT", self.metric, 2)

    def _answer(self, route: Route, request: SearchRequest) -> RouteList:
        self.asked.append((route, request))
        empty = RouteList(
            route, RouteState.EMPTY, (), request.retrieve_k, 1.0, "The store returned no chunk."
        )
        answer = self.answers.get((route, request.category_filter), empty)
        if isinstance(answer, StoreError):
            raise answer
        return answer


class ScriptedEmbedder:
    name, revision, dimension, query_prompt, passage_prompt = "test", "1", 2, "", ""

    def __init__(self):
        self.embedded: list[str] = []

    def embed_query(self, text):
        self.embedded.append(text)
        return VECTOR

    def embed_passages(self, texts, *, progress=None):
        raise NotImplementedError


def a_configuration(**changes) -> Configuration:
    return Configuration(**{"thresholds": FLOORS_ONLY, **changes})
