"""A model file of a few kilobytes in the layout of the wheel's, written independently of the reader."""

import struct

import numpy as np

PIECES = (
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    ("▁", -3.0),
    ("a", -4.0),
    ("b", -4.0),
    ("▁a", -2.0),
    ("▁query", -5.0),
    ("▁passage", -5.0),
    (":", -3.0),
    ("数", -6.0),
    ("据", -6.0),
    ("数据", -5.0),
    ("<mask>", 0.0),
    ("1", -4.0),
)
CHARACTERS = {"\t": " ", "\x01": "", "\u200b": " ", "\u3000": " ", "Ａ": "A"}
HIDDEN, LAYERS, HEADS, FEED_FORWARD, POSITIONS, TYPES = 32, 1, 2, 64, 16, 2


def q4_0(scale: float, values: list[int]) -> bytes:
    """One block: 32 values of -8..7 that stand for value * scale."""
    low, high = values[:16], values[16:]
    return struct.pack("<e", scale) + bytes(
        (first + 8) | ((second + 8) << 4) for first, second in zip(low, high, strict=True)
    )


def tensors(*, seed: int = 1) -> dict[str, tuple[int, bytes, int]]:
    """{name: (kind, bytes, count)}: matrices in blocks, the rest in float32."""
    random = np.random.default_rng(seed)
    made: dict[str, tuple[int, bytes, int]] = {}

    def matrix(name: str, count: int) -> None:
        blocks = [q4_0(0.05, random.integers(-8, 8, 32).tolist()) for _ in range(count // 32)]
        made[name] = (1, b"".join(blocks), count)

    def plain(name: str, values: np.ndarray) -> None:
        made[name] = (0, values.astype("<f4").tobytes(), values.size)

    matrix("emb.word", len(PIECES) * HIDDEN)
    plain("emb.pos", random.normal(size=POSITIONS * HIDDEN) * 0.02)
    plain("emb.type", random.normal(size=TYPES * HIDDEN) * 0.02)
    plain("emb.ln.w", np.ones(HIDDEN))
    plain("emb.ln.b", np.zeros(HIDDEN))
    sizes = {
        "q": (HIDDEN, HIDDEN),
        "k": (HIDDEN, HIDDEN),
        "v": (HIDDEN, HIDDEN),
        "ao": (HIDDEN, HIDDEN),
        "fi": (FEED_FORWARD, HIDDEN),
        "fo": (HIDDEN, FEED_FORWARD),
    }
    for short, (rows, columns) in sizes.items():
        matrix(f"l0.{short}.w", rows * columns)
        plain(f"l0.{short}.b", random.normal(size=rows) * 0.01)
    for short in ("aln", "oln"):
        plain(f"l0.{short}.w", np.ones(HIDDEN))
        plain(f"l0.{short}.b", np.zeros(HIDDEN))
    return made


def model_file(content: dict[str, tuple[int, bytes, int]] | None = None, *, version: int = 1) -> bytes:
    content = tensors() if content is None else content
    text = "".join(piece for piece, _ in PIECES).encode()
    ends = np.cumsum([len(piece.encode()) for piece, _ in PIECES]).tolist()
    head = b"E5S1" + struct.pack("<I", version)
    head += struct.pack("<7i", HIDDEN, LAYERS, HEADS, FEED_FORWARD, len(PIECES), POSITIONS, TYPES)
    head += struct.pack("<fi", 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(text))
    head += struct.pack(f"<{len(PIECES) + 1}I", 0, *ends)
    head += struct.pack(f"<{len(PIECES)}f", *(score for _, score in PIECES)) + text
    entries = b"".join(
        struct.pack("<IB", ord(character), len(made)) + b"".join(struct.pack("<I", ord(c)) for c in made)
        for character, made in sorted(CHARACTERS.items())
    )
    head += struct.pack("<iI", len(CHARACTERS), len(entries)) + entries
    head += struct.pack("<i", len(content))
    directory_size = sum(2 + len(name) + 1 + 4 + 8 + 8 for name in content)
    offset, directory, body = len(head) + directory_size, b"", b""
    for name, (kind, raw, count) in content.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, count, offset + len(body), len(raw))
        body += raw
    return head + directory + body
