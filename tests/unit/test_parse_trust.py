"""When the text layer of a page is not believed."""

import pytest

from pipelines.parse.trust import distrust

CHINESE = "公司坚持品牌建设，紧抓终端维护，持续精耕长江以南核心市场，市场结构进一步优化，产品实现较快增长。"


@pytest.mark.parametrize(
    "text",
    [
        CHINESE,
        "繁體中文的文件也應該被信任，因為這些都是日常使用的漢字，並沒有任何異常的地方，請大家放心閱讀。",
        "The quick brown fox jumps over the lazy dog and then it rests under the old tree for a while.",
        "12,345.67 89.01% 3,456 7.8 910 11.12 13,141.5",
        "short",
        "",
    ],
)
def test_ordinary_text_is_trusted(text: str) -> None:
    assert distrust(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\ue001\ue002\ue003 plain text around it that is fine", "Unicode does not assign"),
        ("total \ufffd\ufffd\ufffd of the year and so on", "Unicode does not assign"),
        ("(cid:12)(cid:13)(cid:14)(cid:15)(cid:16) of a font", "glyph numbers"),
        ("䇥䈾㪚㫰㬎㭘" * 5, "rare blocks"),
        ("".join(chr(0x7E00 + 37 * i % 0x1000) for i in range(60)), "everyday"),
        ("佛" * 40, "one character"),
        ("xkcd qwrt bcdf ghjk lmnp qrst vwxz zxcv bnmk lkjh gfds", "vowels"),
    ],
)
def test_garbled_text_is_caught_with_its_reason(text: str, reason: str) -> None:
    assert reason in (distrust(text) or "")
