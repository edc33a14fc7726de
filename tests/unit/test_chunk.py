"""Chunks by structure."""

from pipelines.chunk import ChunkSettings, chunk_document
from schemas.document import Block, Box, Document


def chunks_of(*blocks, **changes):
    document = Document(title="手册", media_type="text/plain", blocks=blocks)
    return chunk_document(document, document_id="d", salt=b"s", settings=ChunkSettings(**changes))


def test_headings_are_context_and_not_shown():
    (chunk,) = chunks_of(
        Block(kind="heading", text="安装", level=1),
        Block(kind="heading", text="准备", level=2),
        Block(kind="text", text="先下载。"),
    )
    assert (chunk.text, chunk.context, chunk.section) == ("先下载。", "手册 > 安装 > 准备", ("安装", "准备"))


def test_a_heading_with_nothing_below_it_is_still_found():
    first, second = chunks_of(
        Block(kind="heading", text="甲", level=1),
        Block(kind="heading", text="乙", level=1),
        Block(kind="text", text="文。"),
    )
    assert (first.text, second.text) == ("甲", "文。")


def test_sentences_stay_whole_with_their_end_mark():
    chunks = chunks_of(Block(kind="text", text="这是一个完整的句子，不应当被切开！" * 100))
    assert len(chunks) > 3
    assert all(chunk.text.endswith("！") for chunk in chunks)


def test_long_tables_repeat_their_header_in_text_and_html():
    rows = [f"| 城市{n} | {n} |" for n in range(60)]
    text = "\n".join(["| 城市 | 数 |", "| --- | --- |", *rows])
    cells = "".join(f"<tr><td>城市{n}</td><td>{n}</td></tr>" for n in range(60))
    html = f"<table><tr><th>城市</th><th>数</th></tr>{cells}</table>"
    chunks = chunks_of(Block(kind="table", text=text, html=html, caption="人口"))
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.text.startswith("| 城市 | 数 |\n| --- | --- |\n")
        assert chunk.html.startswith("<table><tr><th>城市</th><th>数</th></tr><tr><td>")
        assert chunk.html.count("<tr>") == chunk.text.count("\n")
        assert chunk.context == "手册: 人口"


def test_a_question_stays_with_its_answer():
    chunks = chunks_of(
        Block(kind="text", text="甲" * 300 + "。"),
        Block(kind="text", text="问：多久？"),
        Block(kind="text", text="答：三天。"),
    )
    assert any("问：多久？\n答：三天。" in chunk.text for chunk in chunks)


def test_pages_and_boxes_say_where_a_chunk_is():
    box = Box(x0=0, y0=0, x1=9, y1=9)
    (chunk,) = chunks_of(
        Block(kind="text", text="一。", page=2, box=box), Block(kind="text", text="二。", page=3, box=box)
    )
    assert (chunk.page_start, chunk.page_end, [b.page for b in chunk.boxes]) == (2, 3, [2, 3])


def test_equal_texts_have_different_ids():
    assert len({chunk.id for chunk in chunks_of(*[Block(kind="code", text="x" * 300)] * 3)}) == 3
