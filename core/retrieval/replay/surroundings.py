"""What shapes a lookup beside its question and configuration, as plain values.

In: settings, the configuration they lead to, and a server's version. Out: mappings from names to
values. Invariants: a section or setting is chosen by name, so a secret never gets in by itself; an
address has lost its user, password and query; a path is its last name only.
"""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from core.retrieval.configuration import Configuration
from core.retrieval.replay.bundles import Plain
from core.settings import Settings

DISTRIBUTIONS = ("ranklens", "pymilvus", "sentence-transformers", "jieba")
"""What a lookup goes through; each can change an answer when it changes."""

DICTIONARY = "retrieval.navigation.domains"
"""The hash of the domain dictionary; its words are no part of a configuration."""

_FROM_THE_BUNDLE = ("retrieval.", "rag.")
"""Beginnings of the settings that a configuration holds."""


def acts_on_a_replay(name: str) -> bool:
    """Tell whether a setting can change a replay, which uses the saved configuration."""
    return name == DICTIONARY or not name.startswith(_FROM_THE_BUNDLE)


def effective_settings(settings: Settings, configuration: Configuration) -> Mapping[str, Plain]:
    """List the settings that can change an answer, by dotted name, in the order of the file.

    Args:
        settings: as they are.
        configuration: what they lead to; its cuts stand as `retrieval.normalization`, and the hash
            of its domain dictionary in place of a path.
    """
    milvus, embedding, retrieval = settings.milvus, settings.embedding, settings.retrieval
    sections: Mapping[str, Mapping[str, Plain]] = {
        "milvus": {
            "uri": place_without_secrets(settings.milvus_uri),
            "collection": milvus.collection,
            "metric": milvus.metric,
            "index": milvus.index,
        },
        "embedding": {
            "model": _last_name(embedding.model),
            "device": embedding.device,
            "query_prompt": embedding.query_prompt,
            "passage_prompt": embedding.passage_prompt,
        },
        "chunking": settings.chunking.model_dump(mode="json"),
        "retrieval.search": retrieval.search.model_dump(mode="json"),
        "retrieval.hybrid": retrieval.hybrid.model_dump(mode="json"),
        "retrieval.filter": retrieval.filter.model_dump(mode="json"),
        "retrieval.normalization": asdict(configuration.thresholds),
        "retrieval.navigation": {
            "enabled": retrieval.navigation.enabled,
            "domains": configuration.domains_hash or None,
        },
        "retrieval.fine_order": retrieval.fine_order.model_dump(mode="json"),
        "rag": settings.rag.model_dump(mode="json"),
    }
    return {
        f"{section}.{name}": value for section, values in sections.items() for name, value in values.items()
    }


def place_without_secrets(uri: str) -> str:
    """Return scheme, host, port and database of an address, or the last name of a path."""
    if "://" not in uri:
        return _last_name(uri)
    scheme, _, rest = uri.partition("://")
    authority, slash, path = rest.partition("/")
    shown = f"{authority.rpartition('@')[2]}{slash}{path}"
    # Such a mark means a query, or a password that holds a slash: show nothing of it.
    return f"{scheme}://…" if any(mark in shown for mark in "@?#") else f"{scheme}://{shown}"


def library_versions(milvus: str | None) -> Mapping[str, str | None]:
    """Return the versions that matter, without importing what they are of.

    Args:
        milvus: what the Milvus server says of itself; None when it was not asked.
    """
    versions: dict[str, str | None] = {"python": platform.python_version(), "milvus": milvus}
    return versions | {name: _installed(name) for name in DISTRIBUTIONS}


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _last_name(path: str) -> str:
    return Path(path).name if Path(path).is_absolute() else path
