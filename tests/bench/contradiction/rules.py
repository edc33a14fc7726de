"""House rules of which one slot is filled otherwise: pairs that conflict, and pairs that only look like it."""

import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Pair(NamedTuple):
    """`label`: conflict, same, update or different. `headings`: what stands above the texts, where it matters."""

    a: str
    b: str
    label: str
    kind: str
    headings: tuple[str, str] = ("", "")


class Language(NamedTuple):
    """Forms and what fills them: {n} amount, {d} days or hours, {y} years, {r} region, {p} product, {a} approver."""

    forms: tuple[tuple[str, str], ...]
    fillings: dict[str, tuple[str, ...]]
    added: tuple[str, ...]
    figure: Callable[[int], str]
    """A number in words."""
    scaled: Callable[[int], str]


AMOUNTS = (200, 300, 500, 800, 1000, 2000, 5000, 10000, 20000, 50000)
DAYS = ("3", "5", "7", "10", "15", "20", "30", "45", "60")
_EN = ("three", "five", "seven", "ten", "fifteen", "twenty", "thirty", "forty-five", "sixty")


def chinese(number: int) -> str:
    """30 -> 三十, 2000 -> 二千; of the numbers that stand here."""
    digits = "零一二三四五六七八九"
    for size, word in ((10000, "万"), (1000, "千"), (100, "百")):
        if number >= size and number % size == 0:
            return chinese(number // size) + word
    tens, ones = divmod(number, 10)
    return ("" if tens < 2 else digits[tens]) + "十" * bool(tens) + (digits[ones] if ones or not tens else "")


def _wan(number: int) -> str:
    return f"{number // 10000}万" if number % 10000 == 0 else f"{number / 1000:g}千"


ZH = Language(
    forms=(
        ("{r}分公司员工出差住宿费每晚不超过{n}元，超出部分由{a}审批后方可报销。发票应于返程后{d}日内提交。", "差旅"),
        ("单笔采购金额达到{n}元的，须由{a}签批；紧急采购可事后{d}个工作日内补办手续。供应商须在名录内。", "采购"),
        ("{p}的客户投诉应在{d}小时内首次响应，赔付金额超过{n}元时由{a}决定。所有记录保存{y}年。", "投诉"),
        ("{p}版本的数据备份保留{d}天，恢复演练每{y}年一次，由{a}负责组织。备份介质应当异地存放。", "备份"),
        ("{r}仓库的安全库存为{n}件，低于该数时由{a}在{d}日内下达补货单。盘点每月一次。", "仓储"),
        ("新员工试用期为{y}个月，试用期工资为{n}元，转正由{a}审核，材料于到期前{d}天交人力资源部。", "试用"),
        ("合同金额在{n}元以上的，应当经{a}会签并报法务备案，原件保存{y}年。电子版当日归档。", "合同"),
        ("{r}园区访客车辆停放首{d}小时免费，之后每日{n}元，月卡由{a}核发。夜间不得停放货车。", "停车"),
    ),
    fillings={
        "r": ("上海", "北京", "广州", "成都", "武汉", "西安"),
        "p": ("云盘", "门禁系统", "星图平台", "资产库"),
        "a": ("部门经理", "财务总监", "采购主管", "分管副总", "总经理", "信息安全主管"),
    },
    added=("本条自发布之日起执行。", "其他事项另行通知。", "附件见内网。", "如有疑问请咨询值班人员。"),
    figure=chinese,
    scaled=_wan,
)
EN = Language(
    forms=(
        ("Staff of the {r} office may claim up to {n} dollars per night for hotels. Anything above is approved by the "
         "{a}. Claims are due within {d} days.", "travel"),
        ("Purchases of more than {n} dollars need the signature of the {a}. Urgent orders may be documented within {d} "
         "days afterwards.", "purchases"),
        ("Backups of {p} are kept for {d} days and a restore is tested every {y} months by the {a}. Media are stored "
         "off site.", "backup"),
        ("Contracts above {n} dollars are reviewed by the {a} and archived for {y} years. A copy is filed within {d} "
         "days.", "contracts"),
        ("Visitors of the {r} site park free of charge for {d} hours and pay {n} dollars a day after that. Monthly "
         "permits are issued by the {a}.", "parking"),
    ),
    fillings={
        "r": ("Berlin", "Lisbon", "Osaka", "Madrid", "Denver"),
        "p": ("Atlas", "Borealis", "Cygnus"),
        "a": ("finance director", "department manager", "storage lead", "legal counsel", "chief of staff"),
    },
    added=("This rule takes effect on publication.", "Questions go to the service desk."),
    figure=lambda number: _EN[DAYS.index(str(number))],
    scaled=lambda number: f"{number / 1000:g} thousand",
)  # fmt: skip


def pairs(language: Language, chance: random.Random) -> Iterator[Pair]:
    """Every form twice, each with all that can be done to it."""
    values = {**language.fillings, "n": tuple(f"{one:,}" for one in AMOUNTS), "d": DAYS, "y": ("1", "2", "3", "5")}
    space = "" if language is ZH else " "
    for form, about in (one for one in language.forms for _ in range(2)):
        slots = re.findall(r"\{(\w)\}", form)
        first = {slot: chance.choice(values[slot]) for slot in values}

        def other(*changed: str, first: dict[str, str] = first) -> dict[str, str]:
            others = {slot: [one for one in values[slot] if one != first[slot]] for slot in changed}
            return first | {slot: chance.choice(found) for slot, found in others.items()}

        text = form.format(**first)
        added = space + chance.choice(language.added)
        held = [slot for slot in "nda" if slot in slots]
        for slot in held:
            yield Pair(text, form.format(**other(slot)) + added * chance.randrange(2), "conflict", f"rule {slot}")
        yield Pair(text, form.format(**other(*held[:2])), "conflict", "rule two")
        for slot in set(slots) & {"r", "p"}:
            yield Pair(text, form.format(**other(slot, *held[:2])), "different", "another " + slot)
        places = chance.sample(values["r"], 2)
        if "r" not in slots:
            headings = (f"{places[0]} {about}", f"{places[1]} {about}")
            yield Pair(text, form.format(**other(held[0])), "different", "another heading", headings)
        for slot, written in (("n", language.scaled), ("d", language.figure)):
            if slot in slots:
                again = first | {slot: written(int(first[slot].replace(",", "")))}
                yield Pair(text, form.format(**again), "same", "written otherwise")
        yield Pair(text, text + added, "update", "added")
