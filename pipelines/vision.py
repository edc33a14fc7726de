"""Figures described and doubtful tables read by a vision model, where one is configured and the source allows it.

It sees parts of pages before they are masked, which is why it has settings of its own; what it says goes the way of all
text: chunk, mask, score, review. Asked after the parser process has ended, for that has no network.
"""

from collections import defaultdict
from collections.abc import Callable

from pipelines.app import App
from pipelines.errors import Code, Rejected, Transient
from pipelines.parse.vision import FIGURE, TABLE, FigureReply, TableReply, described, figure_question, reread
from pipelines.ports import Reply, VisionModel
from pipelines.work import fingerprint
from schemas.document import Block, Document
from schemas.source import Source

REST = 60.0
"""Seconds without a question after the server was away: a folder of slides would wait for each of its figures."""


class Rested:
    """A VisionModel that is left alone for a while after it did not answer. `clock`: seconds that only grow."""

    def __init__(self, model: VisionModel, clock: Callable[[], float]) -> None:
        self._model = model
        self._clock = clock
        self._until = float("-inf")

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def calls(self) -> int:
        return self._model.calls

    def look(self, task: str, instructions: str, text: str, image: bytes, reply: type[Reply]) -> Reply:
        if self._clock() < self._until:
            raise Transient(Code.MODEL_DOWN, "the vision model did not answer a moment ago")
        try:
            return self._model.look(task, instructions, text, image, reply)
        except Transient:
            self._until = self._clock() + REST
            raise


def model_for(app: App, source: Source) -> VisionModel | None:
    """None where none is configured, or the source keeps its pages from it."""
    return app.vision() if source.shown_to_vision() else None


def asked(model: VisionModel | None) -> tuple[str, ...]:
    """What parsing reads of the model: its name and the questions; nothing where there is none."""
    return (model.name, fingerprint("vision", "1", FIGURE, TABLE)) if model else ()


def seen(document: Document, model: VisionModel, image: Callable[[str], bytes]) -> Document:
    """The document with what the model says of its figures and doubtful tables, each with a warning on its page.

    `image`: artifact key to PNG. Whatever becomes of the model, the document is the one that was parsed or more. Raises
    Misconfigured where the server refuses the key.
    """
    warnings: dict[int, dict[str, None]] = defaultdict(dict)
    blocks = []
    for block in document.blocks:
        if block.artifact and not block.hidden and (block.kind == "figure" or block.below is not None):
            block, codes = _seen(block, model, image)
            warnings[block.page or 0].update(dict.fromkeys(code.value for code in codes))
        blocks.append(block)
    pages = [one.model_copy(update={"warnings": (*one.warnings, *warnings[one.page])}) for one in document.pages]
    return document.model_copy(update={"blocks": tuple(blocks), "pages": tuple(pages)})


def _seen(block: Block, model: VisionModel, image: Callable[[str], bytes]) -> tuple[Block, list[Code]]:
    try:
        png = image(block.artifact or "")
        return _figure(block, model, png) if block.kind == "figure" else _table(block, model, png)
    except Transient:
        return block, [Code.VISION_AWAY]
    except Rejected as error:
        return block, [Code.LLM_BUDGET if error.code is Code.LLM_BUDGET else Code.VISION_FAILED]


def _figure(block: Block, model: VisionModel, png: bytes) -> tuple[Block, list[Code]]:
    from pipelines.score import injection_signal

    said = model.look("figure", FIGURE, figure_question(block), png, FigureReply).description
    if injection_signal(said):  # the figure spoke to the model, and the model passed it on
        return block, [Code.INJECTION]
    made, invented = described(block, said, model.name)
    codes = [Code.VISION_DESCRIBED] if made is not block else [] if invented else [Code.VISION_FAILED]
    return made, codes + [Code.VISION_INVENTED] * invented


def _table(block: Block, model: VisionModel, png: bytes) -> tuple[Block, list[Code]]:
    said = model.look("table", TABLE, "Copy the table.", png, TableReply).html
    made = reread(block, said, model.name)
    return (made, [Code.VISION_DESCRIBED]) if made else (block, [Code.VISION_INVENTED])
