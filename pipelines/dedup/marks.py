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
_UNIT = (
    "[十百千万萬亿億]*(?:公[里斤顷分]|[毫厘千微纳分]?[米克升瓦]|平方米|立方米|小时|分钟|工作日|自然日|个月|星期"
    "|[美欧日港澳加]元|英镑|人民币|[\u4e00-\u9fff])"
)
EVERYDAY = "(?:一[些般定切样起直致旦律并经同向边面带再座架段种位名]|一个(?![月工小星季年])|万一)"
"""Words that hold a numeral and count nothing."""
_MARK = re.compile(
    rf"[$€£¥]?[-+−]?\d+(?:[.:/-]\d+|,\d{{3}}(?!\d))*\s?(?:[%°]?[a-zµμ]+\b|[%‰°$€£¥]|{_UNIT})?"
    rf"|(?!{EVERYDAY})(?<![统唯同之单])[〇零一二两兩三四五六七八九十百千万萬亿億廿卅壹贰貳叁參肆伍陆陸柒捌玖拾佰仟半]+{_UNIT}?"
    rf"|\b(?:{_NUMBER_WORDS})\b(?:[\s-](?:{_NUMBER_WORDS})\b)*(?:[\s-][a-z]+\b)?|\b(?:{_LIMITS})\b|n['’]t\b"
    r"|[不未无無非没沒勿莫禁否仅僅]|必须|必須|应当|应當|應當|应该|可以|允许|允許|必需|需要|能够|除外|以上|以下|至少|至多"
)

_WIDE_SPACE = re.compile(r"(?<=[\u3000-\u9fff])\s+|\s+(?=[\u3000-\u9fff])")
"""Space beside a Chinese letter is layout and says nothing."""

_LOOKALIKES = tuple(zip("入太曰末己巳士夭囗侯", "人大日未已已土天口候", strict=True))
"""Characters that scanners take for one another, and that no writer exchanges to say something else."""
# Each pattern begins with the character that it looks for, and only then looks behind it: the search skips to it.
_DIGIT_LIKE = re.compile(r"[oOlI](?:(?<=\d.)[oOlI]*(?![A-Za-z])|(?<![A-Za-z].)[oOlI]*(?=\d))")
_LETTER_LIKE = re.compile(
    r"[01](?:(?<=[A-Za-z].)[01]*(?=[a-z])|(?<=[a-z]{2}.)[01]?(?![A-Za-z0-9])|(?<![A-Za-z0-9].)(?=[a-z]{2}))"
)
_STROKE = re.compile(r"[—–](?<=[第零百十千].)(?=[\u4e00-\u9fff])")
_AS_DIGIT = str.maketrans("oOlI", "0011")
_AS_LETTER = str.maketrans("01", "ol")


def skeleton(text: str) -> str:
    """The text with what scanners confuse made equal, of the same length: `199O` and `1990`, `emai1` and `email`."""
    text = _DIGIT_LIKE.sub(lambda m: m.group().translate(_AS_DIGIT), text)
    text = _LETTER_LIKE.sub(lambda m: m.group().translate(_AS_LETTER), text)
    text = _STROKE.sub("一", text)
    for seen, meant in _LOOKALIKES:  # sixty times as fast as str.translate, which looks up every Chinese character
        text = text.replace(seen, meant)
    return text


def marks(text: str) -> list[str]:
    """Marks in the order of the text, width and case folded; character by character, so no segmenter can hide one."""
    folded = skeleton(unicodedata.normalize("NFKC", text).lower())
    return ["".join(mark.split()) for mark in _MARK.findall(_WIDE_SPACE.sub("", folded))]
