"""Words that say the contrary, the other party or another unit when one stands for the other."""

from collections.abc import Iterable

_CHINESE = (
    "甲乙丙丁戊己 日月年周季天时分秒旬 内外 前后 上下 左右 东南西北 高低 大小 多少 增减 加减 升降 涨跌 买卖 收付支 "
    "进出 借贷 盈亏 正负副 早晚迟 始终 首末 开关停 有无 是否 男女 新旧 冷热 快慢 轻重 长短 强弱 真假 允禁拒 已未 公私 "
    "主次 省市县区镇乡村 父母 夫妻 兄弟姐妹 胜败 输赢 攻守 优劣 古今 昼夜 春夏秋冬 红黄蓝绿黑白紫 阴阳 生死 单双 奇偶 "
    "横竖 深浅 宽窄 厚薄 软硬 干湿 浓淡"
)
"""Each group's characters exclude one another."""
_ENGLISH = (
    "before after until since;above below over under exceeding;more less fewer;greater smaller lower higher;"
    "increase decrease;increases decreases;increased decreased;minimum maximum;min max;least most;first last;"
    "buyer seller;lessor lessee;"
    "licensor licensee;lender borrower;employer employee;sender recipient receiver;landlord tenant;plaintiff defendant;"
    "left right;inside outside;internal external;include exclude;includes excludes;including excluding;accept reject;"
    "accepted rejected;allow deny refuse;allows denies;valid invalid;on off;in out;start end stop;debit credit;"
    "import export;open closed;public private;same different;all none some any;always sometimes;and or;if unless;"
    "hour hours day days week weeks month months quarter quarters year years minute minutes second seconds;"
    "usd eur gbp cny rmb jpy hkd dollar dollars euro euros pound pounds yuan;"
    "he she they we;him them us;his her their our its;north south east west;northern southern eastern western;"
    "father mother;son daughter;brother sister;husband wife;man woman;men women;boy girl;male female;king queen;"
    "win lose;won lost;victory defeat;pass fail;passed failed;success failure;buy sell;bought sold;send receive;"
    "sent received;add remove;added removed;create delete;read write;top bottom;front back;rich poor;strong weak;"
    "early late;earlier later;hot cold;old new young;light dark heavy;white black red green blue yellow;"
    "spring summer autumn winter;morning afternoon evening night;hundred thousand million billion trillion;"
    "monday tuesday wednesday thursday friday saturday sunday;"
    "january february march april june july august september october november december"
)
"""Groups end with a semicolon."""


def _groups(words: Iterable[Iterable[str]]) -> dict[str, int]:
    return {word: number for number, group in enumerate(words) for word in group}


_CHARACTERS = _groups(_CHINESE.split())
_WORDS = _groups(group.split() for group in _ENGLISH.split(";"))


def opposed(ours: str, theirs: str) -> bool:
    """Whether the characters or words that only one side has hold two of one group."""
    groups = _WORDS if ours.isascii() and theirs.isascii() else _CHARACTERS
    left, right = (text.split() if groups is _WORDS else text for text in (ours, theirs))
    found = {groups[one]: one for one in left if one in groups}
    return any(one in groups and found.get(groups[one], one) != one for one in right)
