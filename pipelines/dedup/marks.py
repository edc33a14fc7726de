"""The words that decide what a text says: numbers with their units, negations and modal words, in order."""

import re
import unicodedata

_NUMBER_WORDS = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen"
    "|half|quarter|once|twice|double|triple|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
)
_LIMITS = (
    "not|no|never|without|none|nor|neither|cannot|must|shall|should|may|might|can|could|will|would|required|optional"
    "|only|except|unless|allowed|forbidden|prohibited|true|false|enabled?|disabled?"
)
_MARK = re.compile(
    r"[-+−]?\d+(?:[.,:/-]\d+)*\s?(?:[%°]?[a-zµμ]+\b|[%‰°$€£¥]|[\u4e00-\u9fff])?"
    r"|[〇零一二两兩三四五六七八九十百千万萬亿億廿卅壹贰貳叁參肆伍陆陸柒捌玖拾佰仟半]+[\u4e00-\u9fff]?"
    rf"|\b(?:{_NUMBER_WORDS})\b(?:[\s-](?:{_NUMBER_WORDS})\b)*(?:[\s-][a-z]+\b)?|\b(?:{_LIMITS})\b|n['’]t\b"
    r"|[不未无無非没沒勿莫禁否仅僅]|必须|必須|应当|應當|应该|可以|允许|允許|必需|需要|能够|除外|以上|以下|至少|至多"
)

_WIDE_SPACE = re.compile(r"(?<=[\u3000-\u9fff])\s+|\s+(?=[\u3000-\u9fff])")
"""Space beside a Chinese letter is layout and says nothing."""


def marks(text: str) -> list[str]:
    """Marks in the order of the text, width and case folded; character by character, so no segmenter can hide one."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return [re.sub(r"\s", "", mark) for mark in _MARK.findall(_WIDE_SPACE.sub("", folded))]
