"""JSON text to a bundle, strictly.

In: text or bytes that anybody may have written. Out: a `Bundle`, or an error that names the file, the
place in it and the way out. Invariant: writing what was read gives the same JSON values, so nothing was
left out, filled in or turned into something else. Data is only parsed, never executed.
"""

import json
import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from core.errors import BundleInvalid, RequestInvalid
from core.retrieval.replay.bundles import SCHEMA_VERSION, Bundle
from core.retrieval.replay.writing import MOST_BYTES, bundle_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

REPAIR = "Take the file as it was saved, or save the lookup again."


def read_bundle(text: str | bytes, name: str) -> Bundle:
    """Read a bundle.

    Args:
        text: what `bundle_json` wrote; bytes are UTF-8. At most 64 MiB.
        name: of the file, for the messages.

    Raises:
        BundleInvalid: it is too long, not JSON, not a bundle, of another schema version, a key in it is
            missing, unknown, given twice or has a wrong value, or two of its parts contradict each other.
    """
    if len(text) > MOST_BYTES:
        raise BundleInvalid(
            f"{name} has more than {MOST_BYTES:,} bytes, so it is no saved lookup. Choose another file."
        )
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(
            decoded, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise BundleInvalid(f"{name} is not valid JSON in UTF-8: {error}. {REPAIR}") from error
    _require_version(value, name)
    bundle = _validated(decoded, value, name)
    try:
        trouble = _difference(value, json.loads(bundle_json(bundle)), "") or _contradiction(bundle)
    except RecursionError as error:
        raise BundleInvalid(f"{name} nests its values too deeply. {REPAIR}") from error
    if trouble:
        raise _fault(name, trouble)
    return bundle


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its pairs; of a key given twice one value would go unseen."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in names if names.count(key) > 1)!a} is given twice")
    return made


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text} is too large")
    return number


def _require_version(value: object, name: str) -> None:
    found = value.get("schema_version") if isinstance(value, dict) else None
    if isinstance(found, bool) or not isinstance(found, int):
        raise BundleInvalid(
            f"{name} is no saved lookup: it has no schema_version. Choose a file that `ranklens save` made."
        )
    if found > SCHEMA_VERSION:
        raise BundleInvalid(
            f"{name} has schema version {found}; this RankLens reads {SCHEMA_VERSION}. Open it with the "
            "newer RankLens that saved it."
        )
    if found < SCHEMA_VERSION:
        raise BundleInvalid(
            f"{name} has schema version {found}; this RankLens reads {SCHEMA_VERSION}. Ask the question "
            "again and save it."
        )


@cache
def _adapter() -> "TypeAdapter[Bundle]":
    from pydantic import TypeAdapter  # only reading needs it

    return TypeAdapter(Bundle)


def _validated(text: str, value: object, name: str) -> Bundle:
    from pydantic import ValidationError

    try:
        return _adapter().validate_json(text, strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = _place(fault["loc"], value, missing=fault["type"] == "missing")
        sentence = "is missing" if fault["type"] == "missing" else f"is wrong: {fault['msg']}"
        raise _fault(name, f"{place or 'the whole'} {sentence}") from error
    except RequestInvalid as error:
        raise _fault(name, f"a request in it is not possible ({error})") from error


def _place(parts: Sequence[str | int], value: object, *, missing: bool) -> str:
    """Write where a fault lies as `result.ledger[3].end`, without the parts that only name a type."""
    place = ""
    for part in parts:
        if isinstance(part, int) and isinstance(value, list):
            place, value = f"{place}[{part}]", value[part]
        elif isinstance(value, dict) and part in value:
            place, value = _inside(place, str(part)), value[str(part)]
        else:
            return _inside(place, str(part)) if missing else place
    return place


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _difference(given: object, read: object, place: str) -> str:
    """Say where what was read differs from what was given; "" when it does not."""
    if isinstance(given, dict) and isinstance(read, dict):
        keys = sorted(given.keys() | read.keys())
        return next(filter(None, (_at_key(key, given, read, place) for key in keys)), "")
    if isinstance(given, list) and isinstance(read, list) and len(given) == len(read):
        pairs = enumerate(zip(given, read, strict=True))
        found = (_difference(one, other, f"{place}[{index}]") for index, (one, other) in pairs)
        return next(filter(None, found), "")
    return "" if given == read else f"{place} is {given!a}; as a bundle it would be {read!a}"


def _at_key(key: str, given: dict[str, object], read: dict[str, object], place: str) -> str:
    inner = _inside(place, key)
    if key not in read:
        return f"{inner!a} is unknown"
    if key not in given:
        return f"{inner} is missing"
    return _difference(given[key], read[key], inner)


def _contradiction(bundle: Bundle) -> str:
    """Say which two parts cannot both be true; "" when all can."""
    result, build = bundle.result, bundle.surroundings.build
    names = [attempt.name for attempt in result.retrieval.attempts]
    if not _is_utc(bundle.created_at):
        return f"created_at is {bundle.created_at!a}, not a time in UTC"
    if bundle.query != result.query:
        return f"query is {bundle.query!a}, but result.query is {result.query!a}"
    if build.name != result.build:
        return f"surroundings.build.name is {build.name!a}, but result.build is {result.build!a}"
    if result.retrieval.selected not in names:
        return f"result.retrieval.selected is {result.retrieval.selected!a}, but no attempt has that name"
    return ""


def _is_utc(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() == timedelta(0)
    except ValueError:
        return False


def _fault(name: str, trouble: str) -> BundleInvalid:
    return BundleInvalid(f"{name} is no whole saved lookup: {trouble}. {REPAIR}")
