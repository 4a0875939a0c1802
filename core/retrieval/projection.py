"""Project: the one form in which evidence leaves the package for an agent.

In: a packing and the retrieval it came from. Out: a `Projection`, and its JSON. Invariants: no score
and no rank in it; unique by `document_id`, the evidence key, so two chunks of one source are two
pieces of evidence; it validates against `projection_schema()`.
"""

import json
from dataclasses import asdict
from typing import Any

from core.model.lookup import Level, Packing, ProjectedEvidence, Projection, Retrieval

SCHEMA_ID = "https://ranklens.example/schemas/lookup_knowledge.json"


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
    for part in (schema, *schema.get("$defs", {}).values()):
        if part.get("type") == "object":
            part["additionalProperties"] = False
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}
