"""The form of a bundle and its version belong together."""

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import get_args, get_type_hints

from core.retrieval.replay.bundles import SCHEMA_VERSION, Bundle

FORMS = {1: "a803aa6445e8"}
"""Version to the digest of its form. A changed form needs a new version, or old files read wrongly."""


def parts(kind: object) -> Iterator[type]:
    """Yield every dataclass inside a type."""
    if is_dataclass(kind):
        yield kind
        for hint in get_type_hints(kind).values():
            yield from parts(hint)
    for argument in get_args(kind):
        yield from parts(argument)


def form() -> str:
    """Write each dataclass with its fields and their types, one a line."""
    return "\n".join(sorted({line(kind) for kind in parts(Bundle)}))


def line(kind: type) -> str:
    hints = get_type_hints(kind)
    return f"{kind.__name__}: {', '.join(f'{each.name} {hints[each.name]}' for each in fields(kind))}"


def test_a_changed_form_has_a_new_schema_version():
    digest = hashlib.sha256(form().encode()).hexdigest()[:12]

    assert FORMS.get(SCHEMA_VERSION) == digest, f"raise SCHEMA_VERSION and add its form:\n{form()}"


def test_every_part_of_a_lookup_is_in_the_form():
    names = {each.partition(":")[0] for each in form().splitlines()}

    assert {"Bundle", "Configuration", "Thresholds", "Fingerprint", "LedgerEntry", "RouteScore"} <= names
