"""A lookup with everything that shaped it, as one value.

In: a result, its configuration and its surroundings. Out: a `Bundle`. Invariant: a bundle holds plain
values only, no secret, and enough to ask the same question in the same way again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from core.model.builds import BuildDescription
from core.model.lookup import LookupResult
from core.retrieval.configuration import Configuration

SCHEMA_VERSION = 1
"""One more whenever a value inside a bundle gets, loses or renames a part."""

Plain: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What shapes a lookup beside the question and its configuration.

    Attributes:
        build: the build that answers, with its fingerprint and its rows counted at that time.
        settings: dotted name to value, see `effective_settings`; never a secret.
        versions: of RankLens, Python, the libraries and the Milvus server; None where it is unknown.
    """

    build: BuildDescription
    settings: Mapping[str, Plain]
    versions: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Bundle:
    """One saved lookup.

    Attributes:
        schema_version: of this form, from 1.
        created_at: ISO 8601 in UTC with seconds, for example `2026-01-31T12:00:00+00:00`.
        query: after normalising.
        configuration: the effective one, with the category, mode and policy that were asked for.
        result: both lists, attempts, ledger, projection and milliseconds; of a lookup with a trace.
    """

    schema_version: int
    created_at: str
    query: str
    configuration: Configuration
    surroundings: Surroundings
    result: LookupResult


def bundle_of(
    result: LookupResult, configuration: Configuration, surroundings: Surroundings, *, now: datetime
) -> Bundle:
    """Put a lookup together with what shaped it.

    Args:
        result: of a lookup with a trace.
        configuration: the one that made the result.
        surroundings: of the build that the result names.
        now: with a time zone.
    """
    return Bundle(
        schema_version=SCHEMA_VERSION,
        created_at=now.astimezone(UTC).isoformat(timespec="seconds"),
        query=result.query,
        configuration=configuration,
        surroundings=surroundings,
        result=result,
    )
