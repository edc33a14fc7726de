from collections.abc import Sequence

from pipelines.dedup import bands, compare, link, text_digest
from pipelines.dedup.settings import DedupSettings
from schemas.chunk import Chunk

SETTINGS = DedupSettings()
TEXT = "乙方应当在收到发票后三十日内支付合同价款100元，逾期按日计收违约金，并赔偿甲方因此遭受的损失。"


class Corpus:
    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def same(self, digests: Sequence[str]) -> dict[str, list[str]]:
        return {d: [i for i, text in self.held.items() if text_digest(text, b"s") == d] for d in digests}

    def sharing_bands(self, bands_: Sequence[int]) -> dict[int, list[str]]:
        return {band: [i for i, text in self.held.items() if band in bands(text, SETTINGS)] for band in bands_}

    def texts(self, chunks: Sequence[str]) -> dict[str, str]:
        return {i: self.held[i] for i in chunks if i in self.held}


def test_punctuation_alone_makes_the_same_text() -> None:
    assert compare(TEXT, TEXT.replace("，", ", "), SETTINGS).outcome == "same"


def test_a_changed_number_or_negation_is_a_version_and_never_dropped() -> None:
    for other in (TEXT.replace("100", "200"), TEXT.replace("应当", "不得")):
        verdict = compare(TEXT, other, SETTINGS)
        assert (verdict.outcome, verdict.drop) == ("version", False)


def test_links_do_not_depend_on_batches() -> None:
    texts = (TEXT, TEXT + "特此约定。", TEXT.replace("100", "300"), "今天天气很好，我们一起去公园散步。", TEXT)
    chunks = [Chunk(id=f"{i:032x}", ordinal=i, kind="text", text=text) for i, text in enumerate(texts)]
    once = set(link(chunks, Corpus(), SETTINGS, b"s"))
    corpus, grown = Corpus(), set()
    for chunk in chunks:
        grown |= set(link([chunk], corpus, SETTINGS, b"s"))
        corpus.held[chunk.id] = chunk.text
    assert grown == once and once
