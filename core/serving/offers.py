"""What the tools are: names, descriptions and the JSON Schemas of what goes in and comes out.

In: whether the operator pinned the knowledge base. Out: `Offer`s. Invariant: a pinned server offers
no kb_scope, so an agent can neither choose another one nor see that there are others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.model.search import MAX_QUERY_CHARACTERS
from core.model.why import Explanation
from core.retrieval.projection import projection_schema
from core.retrieval.why.expecting import MAX_EXPECTED_BYTES

LOOKUP = "lookup_knowledge"
WHY = "why"
MAX_NAME_CHARACTERS = 255
"""A stored category or knowledge base has at most 255 bytes."""


INSTRUCTIONS = (
    "Look facts up with lookup_knowledge before you answer from this knowledge base, and answer from the "
    "excerpts it returns. When `found` is false, say that the knowledge base has nothing on the question. "
    "Cite evidence by its document_id. The tool why is for finding out why a document was not returned; it "
    "gives nothing to answer from."
)

LOOKUP_DESCRIPTION = (
    "Find evidence for a question in the knowledge base. Ask a whole question or exact terms (error codes, "
    "parameter names), in any language. `found` says whether there is anything to answer from; "
    "`relevance_level` how close the best of it is; `evidence` holds the excerpts, best first, each with a "
    "document_id to cite. With a category, that category is asked first; when it has nothing good (or "
    "does not exist) all categories may be asked, and `filter_relaxed` says so."
)

WHY_DESCRIPTION = (
    "Explain what became of a document or a piece of evidence that was expected for a question: the stage "
    "that lost it with the numbers, and the smallest change of a setting that would keep it. For the "
    "people who keep the knowledge base; not a source of facts."
)

_QUERY = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_QUERY_CHARACTERS,
    "description": f"The question or the terms to look for, 1 to {MAX_QUERY_CHARACTERS:,} characters.",
}
_EXPECTED = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_EXPECTED_BYTES,
    "description": "The document_id of a piece of evidence, the doc_id of a document (the part before "
    "`#chunk-`) or a file name; of a document any chunk counts.",
}
_CATEGORY = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_NAME_CHARACTERS,
    "description": "Ask this business domain first. Leave it out to ask all.",
}
_KB_SCOPE = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_NAME_CHARACTERS,
    "description": "Ask this knowledge base only; it never relaxes. Leave it out to ask all.",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool.

    Attributes:
        required: names of the arguments that must be given, in the order they are shown.
        arguments: the JSON Schema of each argument by name, in the order they are shown; all text.
        output_schema: JSON Schema of the structured result.
    """

    name: str
    title: str
    description: str
    required: tuple[str, ...]
    arguments: Mapping[str, Mapping[str, Any]]
    output_schema: Mapping[str, Any]

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments together; no others are allowed."""
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.arguments.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }


def offers(*, pinned: bool) -> tuple[Offer, ...]:
    """List the tools; `pinned` takes the choice of the knowledge base away from the agent."""
    filters: dict[str, dict[str, Any]] = {"category": _CATEGORY}
    if not pinned:
        filters["kb_scope"] = _KB_SCOPE
    return (
        Offer(
            name=LOOKUP,
            title="Look up knowledge",
            description=LOOKUP_DESCRIPTION,
            required=("query",),
            arguments={"query": _QUERY, **filters},
            output_schema=projection_schema(),
        ),
        Offer(
            name=WHY,
            title="Why was it not returned",
            description=WHY_DESCRIPTION,
            required=("query", "expected"),
            arguments={"query": _QUERY, "expected": _EXPECTED, **filters},
            output_schema=_explanation_schema(),
        ),
    )


def _explanation_schema() -> dict[str, Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(Explanation).json_schema(mode="serialization")
