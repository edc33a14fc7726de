"""Bytes to text."""

import base64
import json

import pytest

from pipelines.errors import Code, Rejected
from pipelines.parse.decode import decode

TEXT = "县级以上人民政府应当加强对公共场所的管理工作。"
CASES = [
    (TEXT, "utf-8"),
    (TEXT, "utf-8-sig"),
    (TEXT, "gb18030"),
    (TEXT, "utf-16"),
    (TEXT, "utf-16-le"),
    (TEXT, "utf-16-be"),
    ("期時長都是相同的，回家後他架起了兩個擺。", "big5"),
    ("plain words\r\n", "utf-8"),
    ("Plain words in two bytes each.", "utf-16-le"),
    ("Müller trägt für die Prüfung der Geräte die Verantwortung.", "cp1252"),
    ("for i in range(10):\n    x = f(i)  # 计算结果\n", "gb18030"),
]


@pytest.mark.parametrize(("text", "encoding"), CASES)
def test_text_comes_back_whatever_the_encoding(text, encoding):
    assert decode(text.encode(encoding)).text == text


def test_lines_of_two_encodings_are_read_one_by_one():
    data = f"{TEXT}\n".encode() + f"{TEXT}\n".encode("gb18030")
    assert decode(data).text == f"{TEXT}\n{TEXT}\n"
    assert decode(data).encoding == "mixed"


@pytest.mark.parametrize("wrong", ["latin-1"])
@pytest.mark.parametrize("right", ["utf-8", "gb18030"])
def test_mojibake_is_repaired_where_the_bytes_prove_it(right, wrong):
    assert decode(TEXT.encode(right).decode(wrong).encode()).text == TEXT


@pytest.mark.parametrize("text", [TEXT, "naïve café – “déjà vu”…", "àéîõü ÀÉÎÕÜ", "10² ㎡ ℃ Ⅳ"])
def test_clean_text_is_never_changed(text):
    assert decode(text.encode()).text == text


@pytest.mark.parametrize("data", [bytes(range(256)) * 20, b"\x00\x01\x02\x00" * 100, b"\x89\x00\xff\xd8\x10" * 99])
def test_binary_is_rejected(data):
    with pytest.raises(Rejected) as error:
        decode(data)
    assert error.value.code is Code.PARSE_BINARY


@pytest.mark.shared
def test_all_files_of_eight_characters_and_more_are_read(shared_data):
    rows = map(json.loads, (shared_data / "encoding" / "files.jsonl").read_text("utf-8").splitlines())
    wrong = [
        row["id"] for row in rows if row["chars"] >= 8 and decode(base64.b64decode(row["b64"])).text != row["text"]
    ]
    assert wrong == []
