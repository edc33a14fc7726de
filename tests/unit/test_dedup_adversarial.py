"""Pairs that look alike and say something else: none may be dropped. And pairs that say the same: all may be."""

import pytest

from pipelines.dedup import compare
from pipelines.dedup.settings import DedupSettings

SETTINGS = DedupSettings()
CONTRACT = (
    "甲方应于2024年3月5日前支付首期款120万元，并在2024年5月3日前结清余款。\n乙方可以在保修期内更换损坏的部件，费用由甲方承担。\n"
    "双方约定的仲裁地为上海市，适用版本为V2.3.1的技术规范。\n本合同自签字之日起生效，未尽事宜由双方另行协商，协商不成的按照本合同约定的方式解决。"
)
POLICY = (
    "Employees may carry over up to 5 days of leave into the next year, unless the manager objects in writing.\n"
    "Expenses above USD 1,200 need approval by the finance team before 03/04/2024, and receipts must be attached.\n"
    "The service runs on version 4.2.1 of the platform and keeps its records for a period agreed with Acme Holding."
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2024年3月5日前支付首期款120万元，并在2024年5月3日", "2024年5月3日前支付首期款120万元，并在2024年3月5日"),
        ("120万元", "120亿元"),
        ("120万元", "１２亿元"),
        ("120万元", "210万元"),
        ("120万元", "120万美元"),
        ("120万元", "壹佰万元"),
        ("3月5日", "三月六日"),
        ("V2.3.1", "V2.3.2"),
        ("V2.3.1", "V2.31"),
        ("甲方应于", "甲方可于"),
        ("可以在保修期内", "不得在保修期内"),
        ("可以在保修期内", "应当在保修期内"),
        ("由甲方承担。", "不由甲方承担。"),
        ("由甲方承担。", "由甲方承担的除外。"),
        ("费用由甲方承担", "费用由乙方承担"),
        ("上海市", "上饶市"),
        ("签字之日起", "签字之月起"),
        ("未尽事宜", "已尽事宜"),
        ("保修期内", "保修期外"),
    ],
)
def test_a_chinese_text_that_says_something_else_is_not_dropped(old: str, new: str) -> None:
    _check(CONTRACT, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("may carry", "must carry"),
        ("may carry", "may not carry"),
        ("5 days", "five weeks"),
        ("5 days", "15 days"),
        ("USD 1,200", "EUR 1,200"),
        ("USD 1,200", "USD 12,000"),
        ("03/04/2024", "04/03/2024"),
        ("unless the manager", "if the manager"),
        ("4.2.1", "4.21"),
        ("Acme Holding", "Globex Holding"),
        ("Acme Holding", "Акме Холдинг"),
        ("Acme Holding", "アクメ商事"),
        ("need approval", "need no approval"),
        ("above USD", "below USD"),
        ("before 03", "after 03"),
    ],
)
def test_an_english_text_that_says_something_else_is_not_dropped(old: str, new: str) -> None:
    _check(POLICY, old, new)


TABLE = "| 型号 | 电压 | 电流 |\n| A1 | {} |\n| A2 | 24 | 5 |\n说明：以上数据为额定值，实测值见附录。"
COLUMNS = "甲 {}\n乙 45 6\n丙 78 9\n以上为各车间本季度的产量和废品数。"
CONTACT = "联系人：{}，请在工作日与其联系，办理入库和验收手续。"
ARRIVAL = "负责人{}将于下周到岗，请各部门配合做好交接工作。"
SERVER = "服务器{}负责写入，其余节点只读，切换由运维人员手工完成并做好记录。"
PART = "部件编号{}用于外壳，安装时请核对图纸与批次，并记录安装人员。"


STATION = "{0}站是宁西铁路上的一座车站，设有售票处和候车室。{0}站办理旅客乘降和行包托运，站前广场有公交车通往县城各处。"
SERIAL = "台湾电视公司于当年播出的《{}》是一部讲述军人家庭悲欢离合的电视连续剧，由多位知名演员主演，收视率很高。"
FOSSIL = "{}是一种在岩石中发现的古代生物，身体扁平，四肢短小，以植物的嫩叶为食，常在河边的林地里成群活动。"
ACTOR = "She lives by the sea in the {} and is best known for {} work on the long series about a family of doctors."


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        (STATION, "固始", "嘉善南"),
        (SERIAL, "西南忠魂", "临床心理学"),
        (FOSSIL, "原蹄兽", "棱齿龙"),
        (ACTOR.replace("{}", "north", 1), "his", "her"),
        (ACTOR.replace("{}", "her").replace("in the her", "in the {}"), "north", "south"),
        (CONTRACT + "联系人是乙方经理的{}亲，住在本市。", "父", "母"),
        (TABLE, "12 | 3", "1 | 23"),
        (COLUMNS, "12 3", "1 23"),
        (CONTACT, "王小明", "赵一帆"),
        (ARRIVAL, "阿依古丽·买买提", "扎西·次仁"),
        (SERVER, "host0", "host1"),
        (PART, "PG-66O3", "PG-6693"),
    ],
)
def test_cells_names_and_codes_that_differ_are_not_dropped(text: str, one: str, other: str) -> None:
    _check(text.format(one), one, other)


@pytest.mark.parametrize(
    "other",
    [
        CONTRACT.replace("，", ", ").replace("。", ". "),
        CONTRACT.replace("2024", "２０２４").replace("V2", "Ｖ２"),
        CONTRACT.replace("支付", "支\n付").replace("2024年5月", "20 24年5月"),
        CONTRACT.replace("入", "人").replace("未", "末"),
        "星海集团内部资料 请勿外传\n" + CONTRACT + "\n第 3 页 共 12 页",
        CONTRACT + "本合同一式4份，双方不得擅自涂改。",
        CONTRACT.replace("更换损坏的", "更换毁坏的"),
    ],
)
def test_layout_scanning_and_added_lines_leave_the_same_text(other: str) -> None:
    for verdict in (compare(CONTRACT, other, SETTINGS), compare(other, CONTRACT, SETTINGS)):
        assert verdict.drop, verdict


def _check(text: str, old: str, new: str) -> None:
    assert old in text
    other = text.replace(old, new)
    for verdict in (compare(text, other, SETTINGS), compare(other, text, SETTINGS)):
        assert not verdict.drop, verdict.evidence.changes
