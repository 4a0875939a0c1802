"""Project: the one form in which evidence leaves the package for an agent.

In: a packing and the retrieval it came from. Out: a `Projection`, and its JSON. Invariants: no score
and no rank in it; unique by `document_id`, the evidence key, so two chunks of one source are two
pieces of evidence; it validates against `projection_schema()`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from core.model.lookup import Level, Packing, ProjectedEvidence, Projection, Retrieval

SCHEMA_ID = "https://ranklens.example/schemas/lookup_knowledge.json"

MEANINGS: Mapping[str, Mapping[str, str]] = {
    "Projection": {
        "found": "Something in `evidence` is at least `related`. False: do not answer from the evidence; "
        "say that the knowledge base has nothing on this.",
        "relevance_level": "The best level among the evidence; `weak` when there is none.",
        "selected_attempt": "Which search gave the evidence: `filtered` (the category asked for), "
        "`unfiltered` (all categories) or `merged` (both).",
        "filter_relaxed": "A category was asked for, by the caller or by the words of the question, and "
        "evidence of other categories was allowed. The knowledge base (kb_scope) never relaxes.",
        "evidence": "Best first; empty when nothing was found. No two have the same `document_id`.",
    },
    "ProjectedEvidence": {
        "document_id": "Names this piece of evidence: the document and the chunk, `DOC_ID#chunk-N` for "
        "documents that RankLens indexed. Two chunks of one document are two pieces. Cite it as it is; "
        "do not take it apart.",
        "source": "Name of the file it came from; null when the store has none.",
        "title": "Title of the document; null when it has none.",
        "breadcrumb": "Headings above the chunk, outermost first; null or empty when there are none.",
        "category": "Business domain of the document.",
        "excerpt": "The text of the chunk as it stands in the document, or its beginning.",
        "truncated": "The excerpt was cut at the end, because the evidence together may take only so many "
        "characters.",
    },
    "Level": {
        "": "How close the evidence is to the question. `precise`: close enough to answer it. `related`: "
        "on its topic, may answer it. `weak`: nothing that the knowledge base should be quoted for.",
    },
}
"""What an agent reads of each value and field; "" is the value itself."""


def project(packing: Packing, retrieval: Retrieval) -> Projection:
    """Turn packed evidence into what the agent sees.

    `relevance_level` is the best level among the packed evidence, WEAK when there is none;
    `found` says that it is at least RELATED.
    """
    level = max(
        (item.evidence.judgement.level for item in packing.packed),
        key=lambda level: level.order,
        default=Level.WEAK,
    )
    return Projection(
        found=level is not Level.WEAK,
        relevance_level=level,
        selected_attempt=retrieval.selected,
        filter_relaxed=retrieval.filter_relaxed,
        evidence=tuple(
            ProjectedEvidence(
                document_id=item.evidence.evidence_key,
                source=item.evidence.hit.source,
                title=item.evidence.hit.title,
                breadcrumb=item.evidence.hit.breadcrumb,
                category=item.evidence.hit.category,
                excerpt=item.excerpt,
                truncated=item.truncated,
            )
            for item in packing.packed
        ),
    )


def projection_json(projection: Projection) -> str:
    """Write the projection as the JSON text the agent gets; keys in schema order, two-space indent."""
    return json.dumps(asdict(projection), ensure_ascii=False, indent=2, allow_nan=False)


def projection_schema() -> dict[str, Any]:
    """Return the JSON Schema of the projection; no other keys are allowed in it."""
    from pydantic import TypeAdapter  # only the schema needs it, a lookup does not

    schema = TypeAdapter(Projection).json_schema(mode="serialization")
    for part in (schema, *schema["$defs"].values()):
        for name, meaning in MEANINGS[part["title"]].items():
            (part["properties"][name] if name else part)["description"] = meaning
        if part.get("type") == "object":
            part["additionalProperties"] = False
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}
