"""A bundle to JSON text.

In: a `Bundle`. Out: text. Invariants: equal bundles give equal text; what is written can be read.
"""

import json
from dataclasses import asdict

from core.errors import BundleInvalid
from core.retrieval.replay.bundles import Bundle

MOST_BYTES = 64 * 1024 * 1024
"""The largest bundle that is written or read; one of 20 candidates takes about a hundredth of it."""


def bundle_json(bundle: Bundle) -> str:
    """Write a bundle; keys by name, two-space indent, one line feed at the end.

    Raises:
        BundleInvalid: it holds a number that is not finite or a value that JSON cannot hold, or it
            is longer than may be read again.
    """
    try:
        text = json.dumps(asdict(bundle), ensure_ascii=False, allow_nan=False, sort_keys=True, indent=2)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError) as error:
        raise BundleInvalid(
            f"The lookup of {bundle.query!a} cannot be saved: {error}. Some chunk of build "
            f"{bundle.result.build} holds a value that JSON cannot; index its document again."
        ) from error
    if size > MOST_BYTES:
        raise BundleInvalid(
            f"The lookup of {bundle.query!a} takes {size:,} bytes; at most {MOST_BYTES:,} can be saved. "
            f"Ask with a smaller retrieve_k (it was {bundle.configuration.retrieve_k})."
        )
    return text + "\n"
