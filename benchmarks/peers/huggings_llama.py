"""A Llama of Hugging Face's library, which reads files of GGUF in its own way."""

from pathlib import Path
from typing import Any


def llama_from_gguf(path: Path) -> Any:
    """Return its `LlamaForCausalLM` in float32, with no end of a text.

    `from_pretrained(gguf_file=...)` does the same where its library accelerate is installed.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    described = load_gguf_checkpoint(path)["config"] | {"eos_token_id": None, "pad_token_id": 0}
    with torch.device("meta"):
        empty = LlamaForCausalLM(LlamaConfig(**described))
    tensors = load_gguf_checkpoint(path, return_tensors=True, model_to_load=empty)["tensors"]
    model = LlamaForCausalLM(LlamaConfig(**described))
    missing, unknown = model.load_state_dict(tensors, strict=False)
    assert set(missing) <= {"lm_head.weight"}
    assert not unknown
    return model.eval()
