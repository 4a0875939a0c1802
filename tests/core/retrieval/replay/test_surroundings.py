"""What is saved of the settings, and what never is."""

import platform
from importlib.metadata import version
from pathlib import Path

import pytest

from core.retrieval.replay.bundles import Surroundings, bundle_of
from core.retrieval.replay.surroundings import (
    acts_on_a_replay,
    effective_settings,
    library_versions,
    place_without_secrets,
)
from core.retrieval.replay.writing import bundle_json
from core.settings import EmbeddingSettings, MilvusSettings, RagSettings, Settings
from tests.core.retrieval.replay.material import CUTS, DESCRIPTION, NOW, looked_up
from tests.core.retrieval.scripted import a_configuration


def effective(**sections):
    return effective_settings(
        Settings(data_dir=Path("/somewhere/of/alice"), **sections),
        a_configuration(thresholds=CUTS, domains_hash="abc"),
    )


def test_no_secret_and_no_path_gets_into_the_json():
    settings = effective(
        milvus=MilvusSettings(
            uri="https://alice:pa55word@host.example:19530/kb",
            token="t0ken-of-alice",  # noqa: S106 - what must not be found
        ),
        embedding=EmbeddingSettings(model="/home/alice/models/e5"),
    )
    around = Surroundings(DESCRIPTION, settings, library_versions("2.6"))
    written = bundle_json(bundle_of(looked_up({}, {}, {}), a_configuration(), around, now=NOW))

    assert settings["milvus.uri"] == "https://host.example:19530/kb"
    assert settings["embedding.model"] == "e5"
    assert not [secret for secret in ("alice", "pa55word", "t0ken", "milvus.token") if secret in written]


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("/home/alice/data/milvus.db", "milvus.db"),
        ("http://localhost:19530", "http://localhost:19530"),
        ("https://host/db", "https://host/db"),
        ("https://user:a#b?c@host:443", "https://host:443"),
        ("https://user:a/b@host:443", "https://…"),
        ("https://host:443?token=secret", "https://…"),
        ("https://host/db#secret", "https://…"),
        ("http://[::1", "http://[::1"),
    ],
)
def test_a_place_is_shown_without_user_password_and_query(uri, shown):
    assert place_without_secrets(uri) == shown


def test_the_effective_values_stand_under_their_dotted_names():
    settings = effective(rag=RagSettings(return_n=7))

    assert settings["rag.return_n"] == 7
    assert settings["retrieval.hybrid.rrf_k"] == 60
    assert settings["retrieval.search.mode"] == "hybrid"
    assert settings["retrieval.normalization.reference_threshold"] == 0.3
    assert settings["retrieval.normalization.model"] == "hashing"
    assert settings["retrieval.navigation.domains"] == "abc"
    assert settings["milvus.uri"] == "milvus.db"
    assert settings["embedding.query_prompt"] is None
    assert {type(value) for value in settings.values()} <= {str, int, float, bool, type(None)}


@pytest.mark.parametrize(
    ("name", "acts"),
    [
        ("milvus.index", True), ("chunking.size_tokens", True), ("retrieval.navigation.domains", True),
        ("retrieval.hybrid.rrf_k", False), ("retrieval.navigation.enabled", False), ("rag.return_n", False),
    ],
)  # fmt: skip
def test_a_replay_takes_what_a_configuration_holds_from_the_bundle(name, acts):
    assert acts_on_a_replay(name) is acts


def test_versions_are_those_that_are_installed(monkeypatch):
    monkeypatch.setattr(
        "core.retrieval.replay.surroundings.DISTRIBUTIONS", ("pymilvus", "no-such-distribution")
    )

    assert library_versions("2.6.1") == {
        "python": platform.python_version(),
        "milvus": "2.6.1",
        "pymilvus": version("pymilvus"),
        "no-such-distribution": None,
    }
