"""Run a tool: checked arguments in, a JSON object out; knows nothing of the protocol.

In: services, the configuration of the server and the arguments an agent gave. Out: plain JSON values.
Invariant: a knowledge base that the configuration names is the only one asked, whatever the arguments.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from core.errors import RequestInvalid
from core.model.lookup import FilterPolicy
from core.model.why import End, Ending, Explanation
from core.retrieval.configuration import Configuration
from core.retrieval.projection import projection_json
from core.retrieval.why.explaining import explain_absence
from core.retrieval.why.sentences import missing_sentence, outlook_sentence
from core.serving.offers import LOOKUP, Offer
from core.wiring import Services

JsonObject = dict[str, Any]


def answer(
    services: Services, configuration: Configuration, offer: Offer, given: Mapping[str, object]
) -> JsonObject:
    """Run one tool.

    Args:
        services: of the base.
        configuration: of the server; its kb_scope, when it names one, is the one that is asked.
        offer: the tool.
        given: arguments as they came; None counts as left out.

    Returns:
        `lookup_knowledge`: the projection, valid under `projection_schema()`. `why`: the explanation.

    Raises:
        RequestInvalid: an argument is unknown, missing, no text or outside its range.
        CategoryUnknown: nobody has the category, and the filter policy is strict.
        EmbeddingFailed: the model cannot embed the query.
        StoreError: no build is published, it does not fit the settings, or the store does not answer.
    """
    arguments = read_arguments(offer, given)
    asked = replace(
        configuration,
        category=arguments.get("category"),
        kb_scope=configuration.kb_scope or arguments.get("kb_scope"),
    )
    if offer.name == LOOKUP:
        return _look_up(services, arguments["query"], asked)
    pinned = configuration.kb_scope is not None
    return _explain(services, arguments["query"], arguments["expected"], asked, pinned=pinned)


def read_arguments(offer: Offer, given: Mapping[str, object]) -> dict[str, str]:
    """Check the names and types of arguments; lengths are checked where the values are used.

    Raises:
        RequestInvalid: names the argument and says what the tool takes.
    """
    takes = f"{offer.name} takes {', '.join(offer.arguments)}"
    arguments: dict[str, str] = {}
    for name, value in given.items():
        if name not in offer.arguments:
            raise RequestInvalid(f"There is no argument {name!r}. {takes}.")
        if isinstance(value, str):
            arguments[name] = value
        elif value is not None:
            raise RequestInvalid(f"{name} is {json.dumps(value)[:60]}; it must be text in quotes.")
    missing = [name for name in offer.required if name not in arguments]
    if missing:
        raise RequestInvalid(f"{' and '.join(missing)} must be given. {takes}.")
    return arguments


def _look_up(services: Services, query: str, asked: Configuration) -> JsonObject:
    result = services.lookup(
        query,
        asked,
        trace=False,
        # A strict filter finds nothing in a category that nobody has, and an agent would believe it.
        require_known_category=asked.policy is FilterPolicy.STRICT,
    )
    answered: JsonObject = json.loads(projection_json(result.projection))
    return answered


def _explain(
    services: Services, query: str, expected: str, asked: Configuration, *, pinned: bool
) -> JsonObject:
    services.require_scope(asked.kb_scope)

    def in_catalog(name: str) -> bool:
        documents = services.catalog.documents(kb_scope=asked.kb_scope)
        return any(name in (document.doc_id, document.name) for document in documents)

    explanation = explain_absence(
        services.live,
        services.embedder,
        query,
        expected,
        asked,
        domains=services.domains,
        in_catalog=in_catalog,
    )
    if pinned and explanation.ending.end in (End.NOT_IN_BUILD, End.OTHER_SCOPE):
        explanation = _not_in_build(explanation)
    answered: JsonObject = json.loads(json.dumps(asdict(explanation), ensure_ascii=False, allow_nan=False))
    return answered


def _not_in_build(explanation: Explanation) -> Explanation:
    """Make what another knowledge base holds look like what none holds.

    Everything beside the question's own lookup is put anew, so that the two cannot be told apart.
    """
    name, build = explanation.expected, explanation.build
    return replace(
        explanation,
        document_chunks=0,
        in_catalog=None,
        ending=Ending(End.NOT_IN_BUILD),
        sentence=missing_sentence(name, build, name, 0, in_catalog=None),
        outlook=outlook_sentence(End.NOT_IN_BUILD, 0, near=False, failed=False),
    )
