"""Hides personal data. Presidio, its models and cryptography are loaded on first use."""

from pipelines.mask.catalogue import Recognised, catalogue
from pipelines.mask.edit import edited, mask_edit
from pipelines.mask.operators import seal, unseal
from pipelines.mask.rules import Finding, leaks
from pipelines.mask.version import (
    Masker,
    Vaulted,
    mask_path,
    mask_query,
    mask_with_vault,
    try_chunk,
    try_mask,
)

__all__ = [
    "Finding",
    "Masker",
    "Recognised",
    "Vaulted",
    "catalogue",
    "edited",
    "leaks",
    "mask_edit",
    "mask_path",
    "mask_query",
    "mask_with_vault",
    "seal",
    "try_chunk",
    "try_mask",
    "unseal",
]
