import pytest

from pipelines.errors import Rejected
from pipelines.extract import extract_chunk
from pipelines.extract.keywords import keywords
from pipelines.extract.prompt import Reply
from pipelines.extract.settings import ExtractSettings
from schemas.chunk import MaskedChunk

TEXT = "本系统符合GB/T 22239-2019，由测试科技有限公司维护，当前版本v2.1.0。数据加密模块依赖密钥服务。数据加密模块可靠。"


def chunk(text: str = TEXT) -> MaskedChunk:
    return MaskedChunk(id="0" * 32, ordinal=0, kind="text", text=text, content_hash="")


@pytest.mark.parametrize(
    ("kind", "value"),
    [("standard", "GB/T 22239-2019"), ("version", "v2.1.0")],
)
def test_an_entity_is_found_by_rule(kind: str, value: str) -> None:
    made = extract_chunk(chunk(), llm=None, settings=ExtractSettings())
    assert (kind, value) in {(entity.type, entity.text) for entity in made.entities}


def test_keywords_are_phrases_of_the_text_heaviest_first_and_each_once() -> None:
    found = keywords(TEXT, 5, 10)
    assert found and len({one.text for one in found}) == len(found) <= 5
    assert all(one.text in TEXT for one in found)
    assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)


def test_adjacent_nouns_make_one_phrase() -> None:
    assert "数据加密模块" in {one.text for one in keywords(TEXT, 8, 10)}


def test_a_masked_value_is_no_keyword() -> None:
    found = {one.text for one in keywords("联系人<PERSON>，电话<PHONE_ABCDEFG2>，负责数据加密模块。", 8, 10)}
    assert "数据加密模块" in found and not found & {"PERSON", "PHONE", "PHONE_ABCDEFG2"}


def test_empty_text_has_no_keywords() -> None:
    assert keywords("", 5, 10) == ()


def test_the_sites_dictionary_names_entities_longest_first_and_as_whole_words() -> None:
    settings = ExtractSettings(terms={"密钥服务": "system", "密钥": "term", "KMS": "product"})
    made = extract_chunk(chunk("密钥服务由KMS提供，KMSX不是。"), llm=None, settings=settings)
    found = [(one.text, one.type) for one in made.entities if one.method == "dictionary"]
    assert found == [("密钥服务", "system"), ("KMS", "product")]


class Model:
    name = "model"

    def __init__(self, reply: Reply | None) -> None:
        self.reply = reply

    def ask(self, *_: object) -> Reply:
        if self.reply is None:
            raise Rejected.__new__(Rejected)
        return self.reply


def test_a_word_that_the_model_invents_is_left_out() -> None:
    model = Model(Reply(keywords=("密钥服务", "杜撰的词")))
    made = extract_chunk(chunk(), llm=model, settings=ExtractSettings())  # type: ignore[arg-type]
    assert [one.text for one in made.keywords] == ["密钥服务"]


def test_a_model_that_refuses_leaves_the_rules() -> None:
    made = extract_chunk(chunk(), llm=Model(None), settings=ExtractSettings())  # type: ignore[arg-type]
    assert made == extract_chunk(chunk(), llm=None, settings=ExtractSettings())
