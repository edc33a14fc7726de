"""The layout and table models of pymupdf on one thread: its own sessions take all cores and spin, for twice the CPU."""

from functools import cache
from typing import Any


@cache
def one_thread() -> None:
    """Before the first `get_layout()` or `find_tables()` of a process; importing pymupdf has made the models once."""
    import pymupdf.layout
    from pymupdf.layout.onnx import BoxRFDGNN, TableGridExtractorV2

    for module in (BoxRFDGNN, TableGridExtractorV2):
        module.make_session = _session
    pymupdf._get_layout = None
    pymupdf.layout.activate()


def _session(model: str, providers: Any = None) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # An arena keeps its peak for good. Models of images have one size of input, so theirs is small and saves a third
    # of the time; the graph of a page has as many nodes as the page has words.
    options.enable_cpu_mem_arena = "layout_" not in str(model).rsplit("/", 1)[-1]
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(model), options, providers=providers or ["CPUExecutionProvider"])
