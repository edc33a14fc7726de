"""Duplicates: the same, contained, near, other versions, other fillings of a template."""

from pipelines.dedup.link import Links, link
from pipelines.dedup.normalise import normalise, text_digest
from pipelines.dedup.signature import signatures
from pipelines.dedup.verify import Verdict, compare

__all__ = ["Links", "Verdict", "compare", "link", "normalise", "signatures", "text_digest"]
