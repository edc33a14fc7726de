"""The JSON Schemas of what crosses a border, made from the records: `python -m schemas.export` writes schemas/json/."""

import json
from pathlib import Path

from pydantic import BaseModel

from schemas.chunk import MaskedChunk
from schemas.document import Document
from schemas.evaluation import EvaluationQuestion
from schemas.facts import Extraction
from schemas.index import IndexRow
from schemas.search import Answer, SearchResult
from schemas.source import SourcesFile

BORDERS: dict[str, type[BaseModel]] = {
    "answer": Answer,
    "chunk": MaskedChunk,
    "document": Document,
    "evaluation_question": EvaluationQuestion,
    "extraction": Extraction,
    "index_row": IndexRow,
    "search_result": SearchResult,
    "sources": SourcesFile,
}
FOLDER = Path(__file__).parent / "json"


def texts() -> dict[str, str]:
    """File name to content, as they must lie in schemas/json/."""
    return {
        f"{name}.schema.json": json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema(by_alias=True)},
            ensure_ascii=False,
            indent=2,
        )
        + "\n"
        for name, model in BORDERS.items()
    }


def write(folder: Path = FOLDER) -> None:
    """Write the files anew and remove those of records that are gone."""
    folder.mkdir(exist_ok=True)
    wanted = texts()
    for path in folder.glob("*.json"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
