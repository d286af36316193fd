"""A published cross-encoder on disk: which files there are, and how much the model can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import RerankError
from ..values import Value

MOST_TOKENS = 512
"""What cross-encoders are trained on, and more than a passage has with default settings."""
FEWEST_TOKENS = 16
"""A pair of texts that holds less tells nothing."""
_MODELS = ("model.onnx", "onnx/model.onnx")
_TOKENIZER = "tokenizer.json"
_HINT = (
    "memorySearch.query.rerank.model is a folder with model.onnx (or onnx/model.onnx) and tokenizer.json, "
    "or one .onnx file of it"
)


class ModelFiles(Value, frozen=True):
    """The files of a cross-encoder."""

    model: Path
    tokenizer: Path
    max_tokens: int
    """Of query, passage and marks together."""


def find_model(path: Path) -> ModelFiles:
    """The files of the model at `path`: its folder, or one of its `.onnx` files.

    The folder has `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`, the form in which such models are
    published; with a file, `tokenizer.json` stands beside it or one folder up. `config.json` and
    `tokenizer_config.json` are read for the length of the input where they are there.

    Raises RerankError naming what is missing.
    """
    try:
        return _found(path)
    except OSError as error:
        raise RerankError(
            f"the reranking model {path} cannot be read: {error.strerror or error}", hint=_HINT
        ) from error


def _found(path: Path) -> ModelFiles:
    if not path.exists():
        raise RerankError(f"there is no reranking model at {path}", hint=_HINT)
    if path.is_file():
        model, folders = path, [path.parent, path.parent.parent]
    else:
        found = next((path / name for name in _MODELS if (path / name).is_file()), None)
        if found is None:
            raise RerankError(f"{path} has neither {' nor '.join(_MODELS)}", hint=_HINT)
        model, folders = found, list(dict.fromkeys([path, found.parent]))
    home = next((folder for folder in folders if (folder / _TOKENIZER).is_file()), None)
    if home is None:
        raise RerankError(
            f"{' and '.join(map(str, folders))} {'has' if len(folders) == 1 else 'have'} no {_TOKENIZER}",
            hint=_HINT,
        )
    return ModelFiles(model, home / _TOKENIZER, _max_tokens(home))


def _max_tokens(folder: Path) -> int:
    """The least of what the model's own files say, within reason."""
    config = _read(folder / "config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and "roberta" in str(config.get("model_type")):
        padding = config.get("pad_token_id")
        positions -= 1 + (padding if isinstance(padding, int) else 1)  # its positions begin behind that
    length = _read(folder / "tokenizer_config.json").get("model_max_length")
    told = [int(value) for value in (positions, length) if isinstance(value, int | float) and value >= 1]
    most = min([MOST_TOKENS, *told])
    if most < FEWEST_TOKENS:
        raise RerankError(f"the reranking model in {folder} reads {most} tokens at most, which is too few")
    return most


def _read(path: Path) -> dict[str, Any]:
    """A JSON object of the folder; an empty one where there is none."""
    import json

    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise RerankError(f"{path} cannot be read: {error}", hint="fetch the model's files again") from error
    return content if isinstance(content, dict) else {}
