"""Writes a `QuantizedModel` as a sentence-transformers folder.

In: the parsed model and an empty folder. Out: that folder with weights (safetensors), tokenizer
and the configuration of Transformer, mean Pooling and Normalize. Invariant: token ids are those of
the vocabulary, and every weight is the value that the 4-bit file stands for, exactly.

Why the tokenizer is not only NFKC: the file carries the character map the model was trained with.
It is NFKC but for a few dozen control and format characters, which become a space or nothing; those
are taken from the map.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from core.adapters.embedders.quantized import Architecture, QuantizedModel, Vocabulary

Tensor = npt.NDArray[np.float32]

QUERY_PROMPT = "query: "
PASSAGE_PROMPT = "passage: "

WEIGHTS_NAME = "model.safetensors"
TOKENIZER_NAME = "tokenizer.json"

EMBEDDING_NAMES = {
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
TABLE_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
}
LAYER_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def write_model_folder(model: QuantizedModel, folder: Path) -> None:
    """Write every file of a sentence-transformers model into an existing folder.

    Raises:
        OSError: the folder cannot be written, for example because the disk is full.
        ValueError: a tensor has not the size that the architecture asks for.
        KeyError: a tensor is missing.
    """
    from safetensors.numpy import save_file  # only the conversion needs it

    save_file(dict(_weights(model)), folder / WEIGHTS_NAME, metadata={"format": "pt"})
    build_tokenizer(model.vocabulary).save(str(folder / TOKENIZER_NAME), pretty=False)
    for name, content in _configurations(model).items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def build_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Make the XLM-R tokenizer: character map, NFKC, single spaces, unigram, `<s> text </s>`."""
    pieces = vocabulary.pieces
    tokenizer = Tokenizer(Unigram(list(pieces), unk_id=vocabulary.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            *_replacements(vocabulary, ""),
            *_replacements(vocabulary, " "),
            normalizers.NFKC(),
            normalizers.Strip(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    begin, end = pieces[vocabulary.begin][0], pieces[vocabulary.end][0]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, vocabulary.begin), (end, vocabulary.end)],
    )
    special = sorted({vocabulary.begin, vocabulary.padding, vocabulary.end, vocabulary.unknown})
    tokenizer.add_special_tokens([AddedToken(pieces[index][0], special=True) for index in special])
    return tokenizer


def _replacements(vocabulary: Vocabulary, replacement: str) -> list[normalizers.Normalizer]:
    """Return a normaliser for the characters that the map turns into `replacement`; [] for none."""
    characters = sorted(
        character
        for character, made in vocabulary.characters.items()
        if made == replacement and character != replacement
    )
    if not characters:
        return []
    pattern = "[" + "".join(re.escape(character) for character in characters) + "]"
    return [normalizers.Replace(Regex(pattern), replacement)]


def _weights(model: QuantizedModel) -> Iterator[tuple[str, Tensor]]:
    """Yield (BERT name, tensor); matrices are `(out, in)` as torch wants them."""
    size, tensors = model.architecture, model.tensors
    for short, name in TABLE_NAMES.items():
        yield name, tensors[short].reshape(-1, size.hidden)
    for short, name in EMBEDDING_NAMES.items():
        yield name, tensors[short]
    for layer in range(size.layers):
        for short, name in LAYER_NAMES.items():
            bias = tensors[f"l{layer}.{short}.b"]
            weight = tensors[f"l{layer}.{short}.w"]
            matrix = weight if weight.size == bias.size else weight.reshape(bias.size, -1)
            yield f"encoder.layer.{layer}.{name}.weight", matrix
            yield f"encoder.layer.{layer}.{name}.bias", bias
    # Mean pooling never reads BERT's own pooler; without it the loader would draw it at random and warn.
    yield "pooler.dense.weight", np.zeros((size.hidden, size.hidden), dtype=np.float32)
    yield "pooler.dense.bias", np.zeros(size.hidden, dtype=np.float32)


def _configurations(model: QuantizedModel) -> dict[str, object]:
    hidden = model.architecture.hidden
    return {
        "config.json": _bert_configuration(model.architecture, model.vocabulary),
        "tokenizer_config.json": _tokenizer_configuration(model),
        "sentence_bert_config.json": {
            "max_seq_length": model.architecture.positions,
            "do_lower_case": False,
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {
                "idx": 2,
                "name": "2",
                "path": "2_Normalize",
                "type": "sentence_transformers.models.Normalize",
            },
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": hidden, "pooling_mode_mean_tokens": True},
        "2_Normalize/config.json": {},
        "config_sentence_transformers.json": {
            "prompts": {"query": QUERY_PROMPT, "passage": PASSAGE_PROMPT},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    }


def _bert_configuration(size: Architecture, vocabulary: Vocabulary) -> dict[str, object]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "torch_dtype": "float32",
        "hidden_size": size.hidden,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "intermediate_size": size.feed_forward,
        "vocab_size": size.vocabulary,
        "max_position_embeddings": size.positions,
        "type_vocab_size": size.token_types,
        "layer_norm_eps": size.epsilon,
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "pad_token_id": vocabulary.padding,
        "bos_token_id": vocabulary.begin,
        "eos_token_id": vocabulary.end,
    }


def _tokenizer_configuration(model: QuantizedModel) -> dict[str, object]:
    vocabulary = model.vocabulary
    begin, end, padding, unknown = (
        vocabulary.pieces[index][0]
        for index in (vocabulary.begin, vocabulary.end, vocabulary.padding, vocabulary.unknown)
    )
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": model.architecture.positions,
        "clean_up_tokenization_spaces": False,
        "bos_token": begin,
        "cls_token": begin,
        "eos_token": end,
        "sep_token": end,
        "pad_token": padding,
        "unk_token": unknown,
    }
