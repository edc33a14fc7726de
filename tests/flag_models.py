"""Tiny models with random weights, in directories that FlagEmbedding loads: its real code, on little.

Needs torch and transformers, so the environment of `make flag`: `.venv-flag/bin/python -m pytest tests/contract`.
"""

from pathlib import Path
from typing import Any

SENTENCES = (
    "finance director approves contracts",
    "who approves contracts in the canteen at noon",
    "采购金额超过五十万元的合同，须由财务总监和总经理共同审批。",
    "the canteen opens, cats sleep all day: short word passage query dimension",
)
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
HIDDEN = 64


def _tokenizer(folder: Path) -> int:
    """A Unigram tokenizer as XLM-RoBERTa has; returns the size of its vocabulary."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made: Any = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    alphabet = sorted({letter for one in SENTENCES for letter in one} | set("长"))
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=list(SPECIAL), unk_token="<unk>", initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(SENTENCES * 5, trainer)
    ends = [(name, made.token_to_id(name)) for name in ("<s>", "</s>")]
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), SPECIAL, strict=True))
    fast = PreTrainedTokenizerFast(tokenizer_object=made, cls_token="<s>", sep_token="</s>", **names)
    fast.save_pretrained(folder)
    return int(made.get_vocab_size())


def make(folder: Path, *, cross_encoder: bool = False, heads: bool = False) -> Path:
    """An encoder, with BGE-M3's sparse and colbert `heads`, or a cross-encoder."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification, XLMRobertaModel

    torch.manual_seed(0)
    size = _tokenizer(folder)
    sizes = {"vocab_size": size, "hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": 4}
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "num_labels": 1}
    config = XLMRobertaConfig(**sizes, **ids, intermediate_size=64, max_position_embeddings=514)
    model: Any = XLMRobertaForSequenceClassification(config) if cross_encoder else XLMRobertaModel(config)
    model.save_pretrained(folder)
    if heads:
        torch.save(torch.nn.Linear(HIDDEN, 1).state_dict(), folder / "sparse_linear.pt")
        torch.save(torch.nn.Linear(HIDDEN, HIDDEN).state_dict(), folder / "colbert_linear.pt")
    return folder
