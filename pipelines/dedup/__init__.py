"""Duplicates: the same, contained, near, other versions, other fillings of a template."""

from pipelines.dedup.link import link
from pipelines.dedup.normalise import normalise, text_digest
from pipelines.dedup.signature import bands
from pipelines.dedup.verify import Verdict, compare

__all__ = ["Verdict", "bands", "compare", "link", "normalise", "text_digest"]
