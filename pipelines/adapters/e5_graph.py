"""Writes the e5 encoder as an int8 ONNX graph.

One text at a time: `embedded` (tokens x hidden, float32, before the first normalisation) in, `vector` (hidden, unit
length) out. So nothing is padded, and neither padding nor the shared activation scale of a batch can change a vector.
The int8 matrix product (`DynamicQuantizeMatMul`) is about twice as fast as the 4-bit one (`MatMulNBits`).
"""

from typing import Any

from pipelines.adapters.e5_weights import Q4, E5Weights

VERSION = "int8-2"
"""Part of the file name and of the embedder's fingerprint: raise it when the graph changes."""

LIMIT = 63
"""Largest weight code. Seven bits, so that two products 255 x 63 fit the 16 bits in which AVX2 adds them; the weights
come from four bits, so the eighth would not buy anything that can be measured."""


class _Graph:
    """Collects nodes and initialisers."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initialisers: list[Any] = []

    def constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self.initialisers.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def linear(self, source: str, name: str, weights: Q4, bias: Any) -> str:
        """source x weights.T + bias, with int8 weights scaled by output column and uint8 activations."""
        import numpy as np

        values = weights.rows(np.arange(len(weights.blocks)))
        scales = np.maximum(np.abs(values).max(axis=1), 1e-12) / LIMIT
        codes = np.round(values / scales[:, None]).astype(np.int8).T
        inputs = [
            source,
            self.constant(f"{name}.w", np.ascontiguousarray(codes)),
            self.constant(f"{name}.s", scales.astype(np.float32)),
            self.constant(f"{name}.z", np.zeros(len(scales), np.int8)),
            self.constant(f"{name}.b", bias),
        ]
        return self.node("DynamicQuantizeMatMul", inputs, f"{name}.out", "com.microsoft")


def _layer(graph: _Graph, weights: E5Weights, number: int, source: str) -> str:
    """One encoder layer (post-norm, as in BERT)."""
    import numpy as np

    shape, name = weights.shape, f"l{number}"

    def matrix(part: str, columns: int) -> Q4:
        return weights.matrix(f"{name}.{part}.w", columns)

    def normalise(part: str, a: str, b: str) -> str:
        total = graph.node("Add", [a, b], f"{name}.{part}.sum")
        inputs = [total] + [graph.constant(f"{name}.{part}.{x}", weights.floats(f"{name}.{part}.{x}")) for x in "wb"]
        return graph.node("LayerNormalization", inputs, f"{name}.{part}.out", epsilon=shape.epsilon, axis=-1)

    joined = Q4(np.concatenate([matrix(part, shape.hidden).blocks for part in "qkv"]))
    bias = np.concatenate([weights.floats(f"{name}.{part}.b") for part in "qkv"])
    together = graph.linear(source, f"{name}.qkv", joined, bias)
    parts = [f"{name}.{part}.out" for part in "qkv"]
    from onnx import helper

    graph.nodes.append(helper.make_node("Split", [together], parts, axis=2, num_outputs=3))
    heads = graph.node("MultiHeadAttention", parts, f"{name}.heads", "com.microsoft", num_heads=shape.heads)
    attended = graph.linear(heads, f"{name}.ao", matrix("ao", shape.hidden), weights.floats(f"{name}.ao.b"))
    middle = normalise("aln", attended, source)
    wide = graph.linear(middle, f"{name}.fi", matrix("fi", shape.hidden), weights.floats(f"{name}.fi.b"))
    active = graph.node("Gelu", [wide], f"{name}.gelu", "com.microsoft")
    narrow = graph.linear(active, f"{name}.fo", matrix("fo", shape.feed_forward), weights.floats(f"{name}.fo.b"))
    return normalise("oln", narrow, middle)


def build(weights: E5Weights) -> bytes:
    """The whole encoder with mean pooling and L2 normalisation, serialised."""
    import numpy as np
    from onnx import TensorProto, helper

    graph, hidden = _Graph(), weights.shape.hidden
    axes = graph.constant("batch", np.array([0], np.int64))
    source = graph.node("Unsqueeze", ["embedded", axes], "batched")
    norm = [graph.constant(f"emb.ln.{x}", weights.floats(f"emb.ln.{x}")) for x in "wb"]
    source = graph.node("LayerNormalization", [source, *norm], "emb", epsilon=weights.shape.epsilon, axis=-1)
    for number in range(weights.shape.layers):
        source = _layer(graph, weights, number, source)
    pool = graph.constant("pool", np.array([0, 1], np.int64))
    mean = graph.node("ReduceMean", [source, pool], "mean", keepdims=0)
    graph.node("LpNormalization", [mean], "vector", axis=0, p=2)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["tokens", hidden])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [hidden])],
            graph.initialisers,
        ),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)],
        ir_version=10,
    )
    return bytes(model.SerializeToString())
