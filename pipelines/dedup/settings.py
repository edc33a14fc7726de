"""What a site may set for the dedup layer, each with its reason."""

from typing import Literal

from pydantic import Field

from schemas.base import Record


class DedupSettings(Record):
    """Settings of dedup."""

    method: Literal["minhash", "datasketch", "simhash"] = "minhash"
    """How candidates are found: MinHash by rensa, by datasketch (slower), or the classic 64-bit SimHash, which finds
    far fewer edited texts. What a pair is, the same comparison says. A change needs `sluice sync --from dedup`."""
    simhash_distance: int = Field(default=3, ge=0, le=3)
    """Bits; the classic threshold."""
    link_jaccard: float = Field(default=0.28, ge=0, le=1)
    """Texts that share less than this of their 3-grams, and are not contained, are distinct."""
    link_containment: float = Field(default=0.55, ge=0, le=1)
    link_similarity: float = Field(default=0.62, ge=0, le=1)
    """Edit similarity below this, without containment, is two texts on one topic."""
    contained: float = Field(default=0.80, ge=0, le=1)
    drop_jaccard: float = Field(default=0.90, ge=0, le=1)
    """Near texts are dropped only above this: between the two bars lie other cities' clauses and older versions."""
    drop_containment: float = Field(default=0.97, ge=0, le=1)
    template_jaccard: float = Field(default=0.60, ge=0, le=1)
    template_facts: int = Field(default=5, ge=1)
    """Texts below that overlap in which so many numbers and codes are replaced are two fillings of one form."""
    max_candidates: int = Field(default=4, ge=1)
    """Up to this many texts that share a band are all compared; of more, each only with the first one: keeps families
    of templates from exploding."""
    family_bands: int = Field(default=12, ge=1)
    """Bands (of 33) that two members of one family share when one may be a copy of the other: at a Jaccard similarity
    of 0.9 a pair shares 21 of them, and fewer than 12 once in ten thousand pairs."""
