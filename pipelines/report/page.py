"""The quality report as one HTML file: no script, nothing loaded, Chinese or English."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.report import charts

WORDS: Mapping[str, str] = {
    "Quality report": "质量报告",
    "Release": "发布",
    "live": "线上",
    "staged": "待审",
    "Passed": "通过",
    "Failed": "未通过",
    "critical": "严重",
    "warning": "警告",
    "critical failures": "严重问题",
    "warnings": "警告",
    "documents": "文档",
    "chunks": "片段",
    "mean quality": "平均质量分",
    "masked values": "脱敏处数",
    "pages read by OCR": "OCR 页占比",
    "median parse time": "解析时间中位数",
    "Documents by outcome": "文档状态",
    "Rejections by code": "拒收原因",
    "Quality of chunks": "片段的质量分分布",
    "Length of chunks": "片段的长度分布",
    "Masked values by type": "脱敏类型",
    "Duplicates by kind": "重复类型",
    "Pages by route": "页面读取方式",
    "OCR": "OCR",
    "text layer": "文本层",
    "Parse time (seconds)": "解析时间（秒）",
    "median": "中位数",
    "p95": "95 分位",
    "Over releases": "历次发布",
    "Quality over releases": "质量分变化",
    "Chunks over releases": "片段数变化",
    "Drift over releases (PSI)": "分布漂移（PSI）",
    "Failures over releases": "未通过项变化",
    "What was checked": "检查项",
    "Quality rules": "质量规则",
    "rule": "规则",
    "acting": "生效",
    "on trial": "试运行",
    "chunks it saw": "命中块数",
    "bands that it changes": "改变的分档",
    "contents": "目录",
    "garble": "乱码",
    "rare_characters": "生僻字",
    "scan_noise": "扫描噪声",
    "number_grid": "数字网格",
    "form": "表单",
    "links": "链接",
    "repetition": "重复",
    "draft": "草稿",
    "navigation": "导航页",
    "outdated": "旧版本",
    "schema_dump": "接口定义",
    "expectation": "检查内容",
    "severity": "级别",
    "checked": "检查数",
    "failed": "不合格",
    "examples": "示例",
    "nothing to show": "暂无数据",
    "needs at least two releases": "至少需要两次发布",
    "length": "长度",
    "quality": "质量",
    "language": "语言",
    "kind": "类型",
    "published": "已发布",
    "quarantined": "已隔离",
    "superseded": "已被替换",
    "removed": "已移除",
    "discovered": "已发现",
    "in_progress": "处理中",
    "same": "相同",
    "contained": "包含",
    "near": "近似",
    "version": "不同版本",
    "template": "同一模板",
    "references": "引用关系",
    "index": "索引一致性",
    "shift": "分布变化",
    "PERSON": "姓名",
    "PHONE": "电话",
    "EMAIL": "邮箱",
    "ID_CARD": "身份证号",
    "BANK_CARD": "银行卡号",
    "ADDRESS": "地址",
}


def page(report: Mapping[str, Any], history: Sequence[Mapping[str, Any]], language: str = "en") -> str:
    """`report` as `quality.measure` gives it; `history` as `quality.history`, oldest first."""

    say = spoken(language)
    made: str = _template().render(
        report={"rules": (), **report},
        say=say,
        language=language,
        at=datetime.fromtimestamp(report["at"], UTC).strftime("%Y-%m-%d %H:%M UTC"),
        tiles=tiles(report),
        drawn=drawings(report, say),
        trends=trends(history, say),
    )
    return made


def spoken(language: str) -> Callable[[str], str]:
    """A label in the language; a word that is not known stays as it is."""
    return lambda word: WORDS.get(word, word) if language == "zh" else word.replace("_", " ")


@cache
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=folder, autoescape=True, undefined=StrictUndefined).get_template("page.html")


def mean(classes: Mapping[Any, int]) -> float:
    """Of a histogram by lower edges; the middle of a class stands for its values."""
    edges = sorted(float(edge) for edge in classes)
    total = sum(classes.values())
    middles = {edge: (edge + min(1.0, edge + 0.1)) / 2 for edge in edges}
    return sum(middles[float(edge)] * count for edge, count in classes.items()) / total if total else 0.0


def tiles(report: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(label, figure, tone) of the numbers that are read first."""
    shown, spread = report["figures"], report["distributions"]
    failed = report["failed"]
    parse = shown["parse_seconds"]
    ocr = f"{shown['ocr_pages'] / shown['pages']:.0%}" if shown["pages"] else "–"
    return [
        ("critical failures", str(failed["critical"]), "bad" if failed["critical"] else "good"),
        ("warnings", str(failed["warning"]), "warn" if failed["warning"] else "good"),
        ("documents", f"{shown['documents']:,}", ""),
        ("chunks", f"{sum(spread['kind'].values()):,}", ""),
        ("mean quality", f"{mean(spread['quality']):.2f}" if spread["quality"] else "–", ""),
        ("masked values", f"{sum(shown['masking'].values()):,}", ""),
        ("pages read by OCR", ocr, ""),
        ("median parse time", f"{parse['median']:.2f} s" if parse else "–", ""),
    ]


def drawings(report: Mapping[str, Any], say: Any) -> list[tuple[str, str]]:
    """(title, SVG) of one report; an empty SVG has nothing to show."""
    shown, spread = report["figures"], report["distributions"]

    def named(values: Mapping[str, float]) -> dict[str, float]:
        return {say(str(name)): value for name, value in values.items()}

    native = max(0, shown["pages"] - shown["ocr_pages"])
    routes = {"text layer": native, "OCR": shown["ocr_pages"]} if shown["pages"] else {}
    times = {name: shown["parse_seconds"][name] for name in ("median", "p95") if shown["parse_seconds"]}
    made = [
        (
            "Documents by outcome",
            charts.stack(
                named(shown["outcomes"]), title=say("Documents by outcome"), colours=_toned(shown["outcomes"])
            ),
        ),
        ("Rejections by code", charts.bars(shown["rejections"], title=say("Rejections by code"), colour="#b5483f")),
        ("Quality of chunks", charts.columns(_edges(spread["quality"]), title=say("Quality of chunks"))),
        ("Length of chunks", charts.columns(_edges(spread["length"]), title=say("Length of chunks"))),
        ("Masked values by type", charts.bars(named(shown["masking"]), title=say("Masked values by type"))),
        ("Duplicates by kind", charts.stack(named(shown["duplicates"]), title=say("Duplicates by kind"))),
        ("Pages by route", charts.stack(named(routes), title=say("Pages by route"))),
        ("Parse time (seconds)", charts.bars(named(times), title=say("Parse time (seconds)"), colour="#3c9a6c")),
    ]
    return [(say(title), drawn) for title, drawn in made]


def _toned(outcomes: Mapping[str, float]) -> list[str]:
    """What is well is green, what is lost red, what is on its way blue, what was is grey."""
    blue, green, amber, red, *_ = charts.COLOURS
    tones = {
        "published": green,
        "quarantined": red,
        "in_progress": amber,
        "superseded": "#8a96a3",
        "removed": "#8a96a3",
    }
    return [tones.get(one, blue) for one in outcomes] or [blue]


def _edges(classes: Mapping[Any, float]) -> dict[str, float]:
    return {f"≥{float(edge):g}": count for edge, count in classes.items()}


def trends(history: Sequence[Mapping[str, Any]], say: Any) -> list[tuple[str, str]]:
    """(title, SVG) over releases; needs two."""
    if len(history) < 2:
        return []
    labels = [str(one["release"]) for one in history]
    observed = [_observed(one) for one in history]
    quality = [mean(one["distributions"]["quality"]) for one in history]
    chunks = [float(sum(one["distributions"]["kind"].values())) for one in history]
    drift = {say(name): [one.get(f"shift.{name}", 0.0) for one in observed] for name in ("length", "quality", "kind")}
    failures = {say(name): [float(one["failed"][name]) for one in history] for name in ("critical", "warning")}
    made = [
        ("Quality over releases", {say("quality"): quality}),
        ("Chunks over releases", {say("chunks"): chunks}),
        ("Drift over releases (PSI)", drift),
        ("Failures over releases", failures),
    ]
    return [(say(title), charts.lines(series, labels, title=say(title))) for title, series in made]


def _observed(report: Mapping[str, Any]) -> Mapping[str, float]:
    return {f"shift.{name.removeprefix('psi_')}": value for name, value in report["shift"].items()}
