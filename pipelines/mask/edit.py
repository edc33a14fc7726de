"""A reviewer's edit of a chunk: new text in the place of the old, masked like any other."""

from collections.abc import Mapping

from pipelines.mask.settings import MaskSettings
from pipelines.mask.version import Masker, content_hash
from schemas.chunk import Masked
from schemas.source import MaskOperator


def mask_edit(text: str, policy: Mapping[str, MaskOperator], settings: MaskSettings, key: bytes) -> str:
    """Raises Rejected(PII_UNMASKABLE) rather than take personal data back in."""
    masker = Masker(policy, settings, key)
    masker.learn([text])
    return masker.text(text)


def edited(made: Masked, texts: Mapping[str, str]) -> Masked:
    """`texts`: masked text by chunk id; ids that the version does not have are left out.

    What was derived from the old text (a table's markup, the enclosing section) goes with it.
    """
    if not any(one.id in texts for one in made.chunks):
        return made
    chunks = tuple(
        one.model_copy(
            update={
                "text": texts[one.id],
                "html": None,
                "parent": None,
                "content_hash": content_hash(one.context, texts[one.id], None),
            }
        )
        if one.id in texts
        else one
        for one in made.chunks
    )
    return made.model_copy(update={"chunks": chunks})
