"""PaddleOCR in its own environment: run as a file by that environment's interpreter, so nothing of ours is imported.

    python paddle_worker.py DETECTION_FOLDER RECOGNITION_FOLDER THREADS

JSON lines: `{"image": "/path/of/array.npy"}` in, `{"lines": [[text, [8 numbers], confidence], …]}` or `{"error": "…"}`
out; the first line out is `{"ready": "<version>"}`. It ends with its standard input.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


def model_name(folder: str) -> str:
    import yaml

    facts = yaml.safe_load((Path(folder) / "inference.yml").read_text(encoding="utf-8"))
    return str(facts["Global"]["model_name"])


def engine(detection: str, recognition: str, threads: int) -> Any:
    os.environ["PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK"] = "True"
    from paddleocr import PaddleOCR

    onnx = {
        "engine": "onnxruntime",
        "engine_config": {"intra_op_num_threads": threads, "inter_op_num_threads": 1, "log_severity_level": 4},
    }
    return PaddleOCR(
        text_detection_model_name=model_name(detection),
        text_detection_model_dir=detection,
        text_recognition_model_name=model_name(recognition),
        text_recognition_model_dir=recognition,
        text_recognition_batch_size=1,
        use_doc_orientation_classify=False,
        use_doc_unwarping=False,
        use_textline_orientation=False,
        text_det_limit_type="max",
        text_det_limit_side_len=1600,
        **(onnx if (Path(detection) / "inference.onnx").is_file() else {"cpu_threads": threads}),
    )


def lines(ocr: Any, path: str) -> list[Any]:
    import numpy as np

    image = np.load(path, allow_pickle=False)
    found = []
    for page in ocr.predict(np.ascontiguousarray(image[:, :, ::-1])):  # arrays are taken as BGR, OpenCV's order
        for text, quad, score in zip(page["rec_texts"], page["rec_polys"], page["rec_scores"], strict=True):
            corners = np.asarray(quad, dtype=float).reshape(-1, 2)
            if len(corners) != 4:
                (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
                corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
            found.append([text, [float(value) for value in corners.ravel()], float(score)])
    return found


def main() -> None:
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the libraries print to standard output

    def send(message: dict[str, Any]) -> None:
        output.write(json.dumps(message) + "\n")
        output.flush()

    detection, recognition, threads = sys.argv[1:]
    try:
        ocr = engine(detection, recognition, int(threads))
        from importlib.metadata import version

        send({"ready": version("paddleocr")})
    except Exception as error:  # whatever is missing or wrong there has to be told here
        send({"error": f"{type(error).__name__}: {error}"[:500]})
        return
    for line in sys.stdin:
        try:
            send({"lines": lines(ocr, json.loads(line)["image"])})
        except Exception as error:  # one image must not end the process
            send({"error": f"{type(error).__name__}: {error}"[:500]})


if __name__ == "__main__":
    main()
