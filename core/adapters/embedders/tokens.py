"""Counts tokens as the embedding model does, with the `tokenizers` library alone.

In: texts. Out: token counts and character spans. Invariant: torch and the model's weights stay
unloaded; a text is counted whole, whatever truncation or padding the model's file asks for.
"""

import threading
from collections.abc import Callable, Sequence

from tokenizers import Tokenizer

from core.adapters.embedders.description import ModelDescription
from core.errors import EmbeddingFailed


class ModelTokenCounter:
    """`TokenCounter` of any model that has a `tokenizer.json`; loaded on first use, thread-safe."""

    def __init__(self, describe: Callable[[], ModelDescription]) -> None:
        self._describe = describe
        self._lock = threading.Lock()
        self._tokenizer: Tokenizer | None = None

    @property
    def max_tokens(self) -> int:
        """The model's window, special tokens and prompt included."""
        return self._describe().max_tokens

    @property
    def overhead_tokens(self) -> int:
        """Tokens that every passage costs beside its text: special tokens and the passage prompt.

        Raises:
            EmbeddingFailed: the model has no readable `tokenizer.json`.
        """
        prompt = self._describe().passage_prompt
        return len(self._load().encode(prompt, add_special_tokens=True))

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count tokens of each text alone, without special tokens and prompt; [] for no texts.

        Raises:
            EmbeddingFailed: as above.
        """
        encodings = self._load().encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span `[start, end)` of each token, in order, without special tokens.

        Spans index `text` itself, not its normalised form. A span holds the space before its word;
        characters that the model drops lie in no span, and one that becomes several tokens
        lies in all of theirs.

        Raises:
            EmbeddingFailed: as above.
        """
        encoding = self._load().encode(text, add_special_tokens=False)
        return [(int(start), int(end)) for start, end in encoding.offsets]

    def _load(self) -> Tokenizer:
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = _read_tokenizer(self._describe())
            return self._tokenizer


def _read_tokenizer(description: ModelDescription) -> Tokenizer:
    file = description.tokenizer_file
    try:
        tokenizer = Tokenizer.from_buffer(file.read_bytes())
    except (OSError, ValueError) as error:
        raise EmbeddingFailed(
            f"The tokenizer of the embedding model {description.name} cannot be read from {file}: {error}. "
            "Use a model that has a tokenizer.json, or set embedding.model to bundled."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
