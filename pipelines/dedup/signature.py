"""Band hashes for candidate search (Broder 1997 MinHash with banding; Charikar 2002 SimHash)."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipelines.dedup.normalise import grams, normalise, text_digest
from pipelines.dedup.settings import DedupSettings

if TYPE_CHECKING:
    import numpy

PERMUTATIONS = 128
BANDS = 32
ROWS = PERMUTATIONS // BANDS
SIMHASH_PARTS = 4
"""Of 16 bits each: two values that differ in three bits agree in one part."""
_SEED = 42
_GRAM = 3
_MASK = 2**63 - 1
_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
"""Odd multipliers of the golden ratio's kind (xxHash's primes): they spread code points over 64 bits."""


def signatures(texts: Sequence[str], settings: DedupSettings, salt: bytes) -> list[tuple[int, ...]]:
    """For each text its bands, 63 bits each, and last the digest of the normalised text; texts alike share one."""
    plains = [normalise(text) for text in texts]
    make = {"minhash": _minhash, "datasketch": _datasketch, "simhash": _simhash}[settings.method]
    # The digest is a band of its own: it finds equal texts of any length, also those of signs alone.
    digests = [int(text_digest(text, salt, plain)[:15], 16) for text, plain in zip(texts, plains, strict=True)]
    return [(*bands, digest) for bands, digest in zip(make(plains), digests, strict=True)]


def _minhash(plains: Sequence[str]) -> list[list[int]]:
    """By rensa, over all texts at once."""
    import numpy as np
    from rensa import RMinHash

    hashes, sizes = _gram_hashes(plains)
    full = np.flatnonzero(sizes)
    bands: list[list[int]] = [[] for _ in plains]
    if len(full):
        offsets = np.concatenate(([0], np.cumsum(sizes[full]))).astype(np.uint64)
        matrix = RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, PERMUTATIONS, _SEED)
        for at, row in zip(full.tolist(), _banded(np.array(matrix.to_rows(), dtype=np.uint64)), strict=True):
            bands[at] = row
    return bands


def _gram_hashes(plains: Sequence[str]) -> tuple["numpy.ndarray[Any, Any]", "numpy.ndarray[Any, Any]"]:
    """64-bit hashes of all character 3-grams, text after text, and how many each text has; short texts are padded."""
    import numpy as np

    padded = [plain.ljust(_GRAM, "\0") if plain else "" for plain in plains]
    lengths = np.array([len(plain) for plain in padded], dtype=np.int64)
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    if not len(codes):
        return codes, lengths
    first, second, third, last = (np.uint64(odd) for odd in _ODD)
    mixed = codes * first
    mixed[:-1] ^= codes[1:] * second
    mixed[:-2] ^= codes[2:] * third
    mixed = (mixed ^ (mixed >> np.uint64(29))) * last
    inside = np.ones(len(codes), dtype=bool)
    ends = np.cumsum(lengths[lengths > 0])
    inside[ends - 1] = inside[ends - 2] = False
    return (mixed ^ (mixed >> np.uint64(32)))[inside], np.maximum(lengths - _GRAM + 1, 0)


def _banded(rows: "numpy.ndarray[Any, Any]") -> list[list[int]]:
    """One number per band of ROWS minima (n x PERMUTATIONS, uint64); the band's place is part of it."""
    import numpy as np

    parts = rows.reshape(len(rows), BANDS, ROWS)
    mixed = np.arange(1, BANDS + 1, dtype=np.uint64) * np.uint64(_ODD[3]) + np.zeros((len(rows), 1), dtype=np.uint64)
    for at in range(ROWS):
        mixed = (mixed ^ parts[:, :, at]) * np.uint64(_ODD[at])
        mixed ^= mixed >> np.uint64(31)
    banded: list[list[int]] = (mixed & np.uint64(_MASK)).tolist()
    return banded


def _datasketch(plains: Sequence[str]) -> list[list[int]]:
    import numpy as np
    from datasketch import MinHash

    found = []
    empty = MinHash(num_perm=PERMUTATIONS, seed=_SEED)
    for plain in plains:
        state = empty.copy()
        state.update_batch([gram.encode("utf-8", "surrogatepass") for gram in grams(plain)])
        found.append(_banded(np.array([state.digest()], dtype=np.uint64))[0] if plain else [])
    return found


def _simhash(plains: Sequence[str]) -> list[list[int]]:
    """The classic recipe: 64 bits over jieba's words. Each part keeps its place in its upper bits."""
    import rjieba

    with warnings.catch_warnings():
        # Its docstring has an escape that Python 3.12 no longer likes.
        warnings.simplefilter("ignore")
        from simhash import Simhash

    values = [Simhash(rjieba.cut(plain)).value if plain else None for plain in plains]
    return [
        [part << 16 | value >> 16 * part & 0xFFFF for part in range(SIMHASH_PARTS)] if value is not None else []
        for value in values
    ]


def hamming(ours: Sequence[int], theirs: Sequence[int]) -> int:
    """Bits in which two SimHash values differ, from their parts."""
    pairs = zip(ours[:SIMHASH_PARTS], theirs[:SIMHASH_PARTS], strict=True)
    return sum((one ^ other).bit_count() for one, other in pairs)
