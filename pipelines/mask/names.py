"""Names that a label announces (`联系人：X`), and which spans of a model read as a person's name."""

import re
from collections.abc import Iterator

from pipelines.mask.cells import named_column

SURNAMES = frozenset(
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏水窦章云苏潘葛奚范彭郎鲁韦昌马苗凤花方俞任袁柳酆鲍史唐费廉岑薛雷贺倪汤"
    "滕殷罗毕郝邬安常乐于时傅皮卞齐康伍余元卜顾孟平黄和穆萧尹姚邵湛汪祁毛禹狄米贝明臧计伏成戴谈宋茅庞熊纪舒屈项祝董梁杜阮蓝闵席季麻强贾路娄危江童颜郭"
    "梅盛林刁钟徐邱骆高夏蔡田樊胡凌霍虞万支柯昝管卢莫经房裘缪干解应宗丁宣贲邓郁单杭洪包诸左石崔吉钮龚程嵇邢滑裴陆荣翁荀羊惠甄曲家封芮储靳汲邴糜松井段"
    "富巫乌焦巴弓牧隗山谷车侯宓蓬全郗班仰秋仲伊宫宁仇栾暴甘钭厉戎祖武符刘景詹束龙叶幸司韶郜黎蓟薄印宿白怀蒲邰从鄂索咸籍赖卓蔺屠蒙池乔阴胥能苍双闻莘党"
    "翟谭贡劳逄姬申扶堵冉宰郦雍却璩桑桂濮牛寿通边扈燕冀浦尚农温别庄晏柴瞿阎充慕连茹习宦艾鱼容向古易慎戈廖庾终暨居衡步都耿满弘匡国文寇广禄阙东欧沃利蔚越"
    "夔隆师巩厍聂晁勾敖融冷訾辛阚那简饶空曾毋沙乜养鞠须丰巢关蒯相查后荆红游竺权逯盖益桓公佘佟岳肖覃邸闫仝苟肇邝苑付冼揭缑代兰初战原佀"
)
"""First characters of names in 百家姓 and common later ones (compound surnames by their first character)."""
_COMPOUND = re.compile("欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|夏侯|宇文|长孙|司徒|端木|南宫|百里")

_ZH_LABEL = (
    r"(?:姓\s{0,2}名|联系人|紧急联系人|经办人|负责人|项目经理|收件人|收货人|寄件人|发件人|申请人|填表人|审核人|审批人|批准人|复核人|制表人|"
    r"法定代表人|法人代表|法人|委托人|被委托人|代理人|受托人|签收人|接收人|领用人|提交人|报修人|投诉人|来电人|患者|病人|监护人|户主|持卡人|"
    r"开户人|收款人|付款人|员工|劳动者|证明人|担保人|借款人|承租人|出租人|客户姓名|学生|家长|主治医师|医生|接待人|值班人|处理人|"
    r"验收人|质检员|检验员|采购员|业务员|客服|会议主持人|主持人|记录人|参会人员|参会人|与会人员|出席人员|候选人|被面试人|面试官|汇报人|讲师|签字|签名)"
)
_LABELLED = re.compile(
    rf"{_ZH_LABEL}(?:姓名)?\s{{0,2}}(?:[（(][^）)\n]{{0,12}}[）)])?\s{{0,2}}[:：]\s{{0,4}}"
    r"([\u4e00-\u9fff·•]{2,12}(?:\s?[、，,]\s?[\u4e00-\u9fff]{2,4})*)(?![\u4e00-\u9fff])"
)
_PART = re.compile(r"[\u4e00-\u9fff·•]+")
_EN_LABELLED = re.compile(
    r"(?:(?i:contact(?: person)?|full name|(?<!file )(?<!user )(?<!host )\bname|attn|attention|"
    r"(?:prepared|approved|reviewed) by|"
    r"signed(?: by)?|employee|patient|applicant|recipient|manager|owner|author|cc|dear|mr|mrs|ms|dr))\s?[:.]?\s{1,3}"
    r"((?!(?:Name|Phone|Number|Address|Email|Title|Date|Team|The|Us)\b)[A-Z][a-z'’\-]+"
    r"(?:\s(?:[A-Z]\.|[A-Z][a-z'’\-]+|(?:de|van|von|der|al)\b)){0,2}\s[A-Z][a-zA-Z'’\-]+)"
)
_TITLE_TAIL = re.compile(r"(?:先生|女士|小姐|同志|经理|主任|老师|医生|工程师|总监)$")
_NOT_NAMES = re.compile(
    r"^(?:本人|无|待定|同上|全体|其他|公司|部门|单位|本单位|委员|代表|人员|姓名|成员|某.?|.某.?|经理|主任|主管|专员|"
    r"(?:高级|所有|管理|相关).*)$"
)

_EN_NAME = re.compile(r"[A-Z][a-z]+(?:[ '\-][A-Z][A-Za-z.]*)+$")
_EN_ROLE = re.compile(
    r"^(?:If|The|When|Your|Our|Cloud|Lead|Senior|Principal)\b|"
    r"\b(?:Programmer|Engineer|Manager|Developer|Designer|Customer|User|Team|Hosted)s?$"
)


def is_name(word: str) -> bool:
    """Shape of a Chinese name: a surname and one or two characters, or a transcription with a dot."""
    if _NOT_NAMES.match(word):
        return False
    if "·" in word or "•" in word:
        return 3 <= len(word) <= 16
    return (len(word) in (3, 4) and bool(_COMPOUND.match(word))) or (len(word) in (2, 3) and word[0] in SURNAMES)


def labelled(text: str) -> Iterator[tuple[int, int]]:
    """Spans of names that stand after a label or in the column of one."""
    for match in _LABELLED.finditer(text):
        for part in _PART.finditer(text, *match.span(1)):
            tail = _TITLE_TAIL.search(part.group())
            name = part.group()[: tail.start()] if tail and tail.start() > 1 else part.group()
            if is_name(name):
                yield part.start(), part.start() + len(name)
    for match in _EN_LABELLED.finditer(text):
        yield match.span(1)
    yield from named_column(text, is_name)


def plausible(word: str) -> bool:
    """What a model calls a person must look like one: no single character, no digit, no placeholder."""
    word = word.strip()
    if len(word) < 2 or len(word) > 40 or re.search(r"[0-9<>@_/\\=(){}\[\]#|\n]", word):
        return False
    if word.isascii():
        # One capitalised word alone is more often a product or a heading than a person.
        return bool(_EN_NAME.match(word)) and not _EN_ROLE.search(word)
    if len(word) == 2 and word[0] not in SURNAMES:
        return False
    return not _NOT_NAMES.match(word) and not (len(word) > 3 and word.endswith(("员", "者", "人")))
