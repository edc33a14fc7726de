"""Band hashes for candidate search (Broder 1997 MinHash with banding; Charikar 2002 SimHash)."""

import hashlib
import struct
from collections.abc import Sequence

from pipelines.dedup.normalise import grams, normalise
from pipelines.dedup.settings import DedupSettings

PERMUTATIONS = 128
BANDS = 32
ROWS = PERMUTATIONS // BANDS
_SEED = 42
_MASK = 2**63 - 1


def bands(text: str, settings: DedupSettings) -> tuple[int, ...]:
    """32 hashes of 63 bits (SimHash: 4, enough for a distance of 3); texts alike share one. Empty for no letters."""
    shingles = sorted(grams(normalise(text)))
    if not shingles:
        return ()
    if settings.method == "simhash":
        value = _simhash(shingles)
        return tuple(_hash(f"simhash{i}", (value >> 16 * i & 0xFFFF,)) for i in range(4))
    rows = _datasketch(shingles) if settings.method == "datasketch" else _rensa(shingles)
    return tuple(_hash(str(i), rows[i * ROWS : (i + 1) * ROWS]) for i in range(BANDS))


def _hash(band: str, rows: Sequence[int]) -> int:
    data = struct.pack(f"<{len(rows)}Q", *rows)
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, key=band.encode()).digest(), "little") & _MASK


def _rensa(shingles: list[str]) -> list[int]:
    from rensa import RMinHash

    state = RMinHash(num_perm=PERMUTATIONS, seed=_SEED)
    state.update(shingles)
    return list(state.digest())


def _datasketch(shingles: list[str]) -> list[int]:
    from datasketch import MinHash

    state = MinHash(num_perm=PERMUTATIONS, seed=_SEED)
    state.update_batch([gram.encode() for gram in shingles])
    return [int(value) for value in state.digest()]


def _simhash(shingles: list[str]) -> int:
    counts = [0] * 64
    for gram in shingles:
        value = int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=8).digest(), "little")
        for bit in range(64):
            counts[bit] += 1 if value >> bit & 1 else -1
    return sum(1 << bit for bit in range(64) if counts[bit] > 0)
