"""Embedding models behind the ports `Embedder` and `TokenCounter`.

In: the embedding settings and the data folder. Out: an embedder that remembers vectors, and the token
counter of the same model. Invariant: nothing is loaded, converted, downloaded or opened until a
value is asked for; torch is imported only to make a vector.
"""

import functools
from pathlib import Path

from core.adapters.embedders.caching import CachingEmbedder
from core.adapters.embedders.description import describe_model
from core.adapters.embedders.hashing import HashingEmbedder, WordCounter
from core.adapters.embedders.sentence import SentenceTransformerEmbedder
from core.adapters.embedders.tokens import ModelTokenCounter
from core.settings import EmbeddingSettings

__all__ = [
    "CachingEmbedder",
    "HashingEmbedder",
    "ModelTokenCounter",
    "SentenceTransformerEmbedder",
    "WordCounter",
    "open_embedder",
]

CACHE_NAME = "vectors.db"


def open_embedder(settings: EmbeddingSettings, data_dir: Path) -> tuple[CachingEmbedder, ModelTokenCounter]:
    """Return the configured model's embedder, with its cache, and its token counter.

    The first property or method that needs the model's files finds them (and converts the bundled
    model); the first vector loads the weights. Close the embedder when done.

    Args:
        settings: which model, and how it runs.
        data_dir: absolute; holds `models/` and `vectors.db`.
    """
    describe = functools.cache(functools.partial(describe_model, settings, data_dir))
    model = SentenceTransformerEmbedder(
        describe, batch_size=settings.batch_size, threads=settings.threads, device=settings.device
    )
    embedder = CachingEmbedder(model, data_dir / CACHE_NAME, batch_size=settings.batch_size)
    return embedder, ModelTokenCounter(describe)
