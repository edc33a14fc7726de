"""What a cosine means: models spread theirs differently (unrelated texts lie at .80 with e5, at .30 with others).

A few questions with a sentence that answers each are embedded once for each model; a cosine is then read on the scale
from the mean of unrelated pairs (0) to the mean of related ones (1).
"""

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, cast

from pipelines.ports import Embedder
from pipelines.retrieve.evidence import is_cjk

PAIRS = (
    ("出差可以坐飞机头等舱吗？", "员工出差应乘坐经济舱，航程超过八小时的，经批准可以乘坐商务舱。"),
    ("病假需要提交什么材料？", "请病假两天以上的，应当提供医院出具的诊断证明和病假条。"),
    ("珠穆朗玛峰有多高？", "珠穆朗玛峰位于中国与尼泊尔边境，海拔8848.86米，是世界最高峰。"),
    ("服务器宕机以后怎么恢复？", "服务中断时，值班人员先切换到备用节点，再从最近一次快照恢复数据。"),
    ("这部小说的作者是谁？", "《边城》是沈从文创作的中篇小说，首次出版于1934年。"),
    ("合同由哪个部门审核？", "对外签订的合同一律由法务部门审核，并加盖公司合同专用章。"),
    ("How do I reset my password?", "To reset your password, follow the link that we send to your mail address."),
    ("When was the bridge opened?", "The bridge was built in six years and opened to traffic in the spring of 1937."),
    ("Who discovered penicillin?", "Penicillin was discovered by Alexander Fleming at a hospital in London in 1928."),
    ("What does the premium plan cost?", "The premium plan costs twelve dollars a month for each user, billed yearly."),
    (
        "Which files are backed up at night?",
        "Every night all home directories and databases are copied to a second site.",
    ),
    (
        "How is the soup cooked?",
        "Simmer the onions in butter, add stock and herbs, and cook the soup for half an hour.",
    ),
)


CHINESE = 6
"""So many pairs come first."""


@lru_cache(maxsize=8)
def scales(embedder: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """(mean cosine of unrelated pairs, mean cosine of related pairs) of a model, for Chinese and for other questions.

    Models differ by script too, but six pairs are few: the mean of each script's own scale and that of all pairs.
    """
    import numpy as np

    asked = np.stack([embedder.embed_query(question) for question, _ in PAIRS])
    answers = np.stack([embedder.embed_query(answer) for _, answer in PAIRS])
    cosines = asked @ answers.T
    own = [np.asarray(_means(cosines[part, part])) for part in (slice(0, CHINESE), slice(CHINESE, None))]
    whole = np.asarray(_means(cosines))
    (first, second) = ([float(value) for value in (one + whole) / 2] for one in own)
    return (first[0], first[1]), (second[0], second[1])


def _means(cosines: Any) -> tuple[float, float]:
    count = len(cosines)
    return (float(cosines.sum() - cosines.trace()) / (count * count - count), float(cosines.trace()) / count)


def similarity(embedder: Embedder, question: str, cosine: float) -> float:
    """0 for unrelated, 1 for a question and its answer; beyond both ends it goes on, cut at -1 and 2."""
    chinese, other = scales(cast(Hashable, embedder))
    unrelated, related = chinese if is_cjk(question) else other
    return min(2.0, max(-1.0, (cosine - unrelated) / max(related - unrelated, 1e-6)))
