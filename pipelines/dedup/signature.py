"""Band hashes for candidate search (Broder 1997 MinHash with banding; Charikar 2002 SimHash)."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipelines.dedup.normalise import grams, nfkc, plain_of, text_digest
from pipelines.dedup.settings import DedupSettings

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

PERMUTATIONS = 128
BANDS = 32
ROWS = PERMUTATIONS // BANDS
DIGEST = BANDS
"""Where a row has the digest of the normalised text."""
WIDTH = BANDS + 1
SIMHASH_PARTS = 4
"""Of 16 bits each: two values that differ in three bits agree in one part."""
_SEED = 42
_GRAM = 3
_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
"""Odd multipliers of the golden ratio's kind (xxHash's primes): they spread code points over 64 bits."""


def signatures(texts: Sequence[str], settings: DedupSettings, salt: bytes) -> "Array":
    """A row of WIDTH 32-bit hashes for each text, 0 where there is none; texts alike share one at the same place."""
    import numpy as np

    folded = [nfkc(text) for text in texts]
    plains = [plain_of(one) for one in folded]
    rows = np.zeros((len(texts), WIDTH), dtype=np.uint32)
    full = [at for at, plain in enumerate(plains) if plain]
    if full:
        make = {"minhash": _minhash, "datasketch": _datasketch, "simhash": _simhash}[settings.method]
        made = make([plains[at] for at in full])
        rows[full, : made.shape[1]] = np.maximum(made, 1)
    # The digest is a band of its own: it finds equal texts of any length, also those of signs alone.
    digests = [int(text_digest(text, salt, one)[:8], 16) for text, one in zip(texts, folded, strict=True)]
    rows[:, DIGEST] = np.maximum(np.array(digests, dtype=np.uint32), 1)
    return rows


def _minhash(plains: Sequence[str]) -> "Array":
    """By rensa, over all texts at once."""
    import numpy as np
    from rensa import RMinHash

    hashes, sizes = _gram_hashes(plains)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, PERMUTATIONS, _SEED)
    return _banded(np.array(matrix.to_rows(), dtype=np.uint64))


def _gram_hashes(plains: Sequence[str]) -> tuple["Array", "Array"]:
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


def _banded(rows: "Array") -> "Array":
    """One hash for each band of ROWS minima (n x PERMUTATIONS, uint64)."""
    import numpy as np

    parts = rows.reshape(len(rows), BANDS, ROWS)
    mixed = np.zeros((len(rows), BANDS), dtype=np.uint64)
    for at in range(ROWS):
        mixed = (mixed ^ parts[:, :, at]) * np.uint64(_ODD[at])
        mixed ^= mixed >> np.uint64(31)
    return mixed >> np.uint64(32)


def _datasketch(plains: Sequence[str]) -> "Array":
    import numpy as np
    from datasketch import MinHash

    found = []
    empty = MinHash(num_perm=PERMUTATIONS, seed=_SEED)
    for plain in plains:
        state = empty.copy()
        state.update_batch([gram.encode("utf-8", "surrogatepass") for gram in grams(plain)])
        found.append(state.digest())
    return _banded(np.array(found, dtype=np.uint64))


def _simhash(plains: Sequence[str]) -> "Array":
    """The classic recipe: 64 bits over jieba's words, in parts; a bit above the part says that it is one."""
    import numpy as np
    import rjieba

    with warnings.catch_warnings():
        # Its docstring has an escape that Python 3.12 no longer likes.
        warnings.simplefilter("ignore")
        from simhash import Simhash

    values = np.array([Simhash(rjieba.cut(plain)).value for plain in plains], dtype=np.uint64)
    shifts = np.arange(SIMHASH_PARTS, dtype=np.uint64) * np.uint64(16)
    return values[:, None] >> shifts & np.uint64(0xFFFF) | np.uint64(0x10000)


def in_reach(ours: "Array", theirs: "Array", distance: int) -> "Array":
    """Which pairs of rows (n x WIDTH each) have SimHash values at most `distance` bits apart, or the same digest."""
    import numpy as np

    parts = ours[:, :SIMHASH_PARTS] ^ theirs[:, :SIMHASH_PARTS]
    bits = np.bitwise_count(parts).sum(axis=1)
    both = (ours[:, 0] != 0) & (theirs[:, 0] != 0) & ~(ours[:, SIMHASH_PARTS] | theirs[:, SIMHASH_PARTS]).astype(bool)
    return np.asarray(both & (bits <= distance) | (ours[:, DIGEST] == theirs[:, DIGEST]))
