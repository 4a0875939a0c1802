"""Embeds texts with a sentence-transformers model.

In: texts. Out: float32 vectors of unit length. Invariant: the weights are loaded on first use,
once; every vector is checked before it leaves. Nothing here remembers texts.

Why the lock covers only the tokenizer: it is not safe to share between threads, the network is; so a
query does not wait behind the batch of a running index job.
"""

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.adapters.embedders.description import ModelDescription
from core.adapters.embedders.texts import refuse_unusable
from core.errors import EmbeddingFailed
from core.ports import Progress, Vector, Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

SMALLEST_NORM = 1e-6


class SentenceTransformerEmbedder:
    """`Embedder` over a local folder or a name on the hub; safe to use from several threads.

    Args:
        describe: gives the model's description; called on first use, and should remember its answer.
        batch_size: most texts in one pass of the network.
        threads: of torch, for the whole process; 0 takes half of the machine's cores, at least one,
            so that searches and pages keep the others.
        device: as torch names it, for example `cpu` or `cuda:0`.
    """

    def __init__(
        self, describe: Callable[[], ModelDescription], *, batch_size: int, threads: int, device: str
    ) -> None:
        self._describe = describe
        self._batch_size = batch_size
        self._threads = threads
        self._device = device
        self._load_lock = threading.Lock()
        self._tokenizer_lock = threading.Lock()
        self._model: SentenceTransformer | None = None

    @property
    def name(self) -> str:
        """The name on the hub, or that of the folder."""
        return self._describe().name

    @property
    def revision(self) -> str:
        """A hash of the weights, or the commit on the hub; 12 hex digits."""
        return self._describe().revision

    @property
    def dimension(self) -> int:
        """Length of each vector; loads the model only when its files do not tell.

        Raises:
            EmbeddingFailed: the model cannot be loaded, or does not say.
        """
        known = self._describe().dimension
        if known is not None:
            return known
        told = self._load().get_embedding_dimension()
        if told is None:
            raise EmbeddingFailed(
                f"The embedding model {self.name} does not tell the dimension of its vectors. "
                "Set embedding.model to a sentence-transformers model."
            )
        return int(told)

    @property
    def query_prompt(self) -> str:
        """Put before a query; "" when the model wants none."""
        return self._describe().query_prompt

    @property
    def passage_prompt(self) -> str:
        """Put before a passage; "" when the model wants none."""
        return self._describe().passage_prompt

    def embed_query(self, text: str) -> Vector:
        """Embed a query with the query prompt; text beyond the model's window is not read.

        Raises:
            EmbeddingFailed: the model cannot be loaded, the query is blank, or the vector is not
                finite or has no length.
        """
        refuse_unusable([text], what="query")
        vector: Vector = self._embed_batch([text], self.query_prompt)[0]
        return vector

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Embed passages with the passage prompt; row i belongs to text i; `(0, dimension)` for none.

        Batches hold texts of like length, the longest first, so little is padded and the time left
        is over-estimated rather than under-estimated.

        Raises:
            EmbeddingFailed: as above, or a text is blank; nothing is embedded then.
        """
        refuse_unusable(texts, what="passage")
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        order = longest_first(texts)
        for start in range(0, len(order), self._batch_size):
            rows = order[start : start + self._batch_size]
            vectors[rows] = self._embed_batch([texts[row] for row in rows], self.passage_prompt)
            if progress is not None:
                progress(start + len(rows), len(texts))
        return vectors

    def _embed_batch(self, texts: list[str], prompt: str) -> Vectors:
        import torch  # seconds to import, only needed with the model
        from sentence_transformers.util import batch_to_device

        model = self._load()
        try:
            with self._tokenizer_lock:
                features = model.preprocess(texts, prompt=prompt)
            with torch.inference_mode():
                embedded = model(batch_to_device(features, model.device))["sentence_embedding"]
                vectors = embedded.float().cpu().numpy()
        except (RuntimeError, ValueError, TypeError) as error:
            raise EmbeddingFailed(
                f"The embedding model {self.name} failed on a batch of {len(texts)} texts on "
                f"{self._device}: {error}. Lower embedding.batch_size or choose another embedding.device."
            ) from error
        return self._checked(vectors)

    def _checked(self, vectors: Vectors) -> Vectors:
        """Bring every vector to unit length, or say what is wrong with one."""
        expected = self.dimension
        if vectors.ndim != 2 or vectors.shape[1] != expected:  # noqa: PLR2004 - rows and columns
            raise EmbeddingFailed(
                f"The embedding model {self.name} gave vectors of shape {vectors.shape}, its files say "
                f"{expected} dimensions. Its folder does not belong together; get the model again."
            )
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        bad = ~np.isfinite(norms[:, 0]) | (norms[:, 0] < SMALLEST_NORM)
        if bad.any():
            raise EmbeddingFailed(
                f"The embedding model {self.name} gave {int(bad.sum())} of {len(vectors)} vectors that are "
                "not finite or have no length. Its weights are damaged or do not fit the device "
                f"{self._device}; get the model again or set embedding.device to cpu."
            )
        unit: Vectors = (vectors / norms).astype(np.float32)
        return unit

    def _load(self) -> "SentenceTransformer":
        with self._load_lock:
            if self._model is None:
                self._model = _load_model(self._describe(), threads=self._threads, device=self._device)
            return self._model


def longest_first(texts: Sequence[str]) -> list[int]:
    """Order positions by size of the text in UTF-8, longest first, ties by position.

    Bytes follow the number of tokens in Chinese and English alike (about four a token); characters do not.
    """
    return sorted(range(len(texts)), key=lambda position: -len(texts[position].encode("utf-8")))


def _load_model(description: ModelDescription, *, threads: int, device: str) -> "SentenceTransformer":
    try:
        import torch  # seconds to import, only needed with the model
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except (ImportError, OSError) as error:
        raise EmbeddingFailed(
            f"The embedding model {description.name} needs sentence-transformers and torch, which cannot "
            f"be imported: {error}. Install the project again."
        ) from error
    disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers does not type it
    torch.set_num_threads(threads or max(1, (os.cpu_count() or 1) // 2))
    on_hub = description.hub_revision is not None
    try:
        return SentenceTransformer(
            description.name if on_hub else str(description.folder),
            device=device,
            revision=description.hub_revision,
            local_files_only=not on_hub,
        )
    except (
        OSError,
        ValueError,
        RuntimeError,
        ImportError,
        LookupError,
        TypeError,
        AttributeError,
        SafetensorError,
    ) as error:
        where = "the hub" if on_hub else str(description.folder)
        raise EmbeddingFailed(
            f"The embedding model {description.name} from {where} cannot be loaded on {device}: {error}. "
            "Check embedding.model and embedding.device, or set embedding.model to bundled."
        ) from error
