"""A cross-encoder run here, by onnxruntime: query and passage read as one input (Nogueira & Cho 2019).

Models are published as a folder with `model.onnx` and `tokenizer.json`. One output a pair is a logit, two are
the logits of "no" and "yes".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import RerankError
from .model_folder import find_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

INSTALL = "pip install 'memlane[rerank]'"
_PAIRS_A_RUN = 8
"""Bounds the memory; of even length, so that little is padded."""
_CHARACTERS_A_TOKEN = 16
"""Text has fewer; what lies beyond is not even looked at."""
_ERRORS_ONLY = 3
_KINDS = {"tensor(int64)": "int64", "tensor(int32)": "int32"}


class CrossEncoder:
    """The model of a folder, loaded when made. Thread-safe."""

    def __init__(self, path: Path) -> None:
        """`path` is the model's folder or one of its `.onnx` files.

        Raises RerankError when a file is missing or broken, or the extra `rerank` is not installed.
        """
        self.name = path.name
        files = find_model(path)
        try:
            import onnxruntime
            import tokenizers
        except ImportError as error:
            raise RerankError(
                f"the reranking model {path} needs {error.name}, which is not installed", hint=INSTALL
            ) from error
        self._tokenizer = _Pairs(_loaded(files.tokenizer, tokenizers.Tokenizer.from_file), files.max_tokens)
        self._session = _loaded(files.model, lambda name: _session(onnxruntime, name))
        self._inputs = {entry.name: _KINDS.get(entry.type, "") for entry in self._session.get_inputs()}
        unknown = [name for name, kind in self._inputs.items() if name not in _COLUMNS or not kind]
        if unknown or "input_ids" not in self._inputs:
            raise RerankError(
                f"{files.model} is no cross-encoder: its inputs are {', '.join(self._inputs) or 'none'}, not "
                f"{', '.join(_COLUMNS)} as integers"
            )
        names = [entry.name for entry in self._session.get_outputs()]
        self._output = "logits" if "logits" in names else names[0]

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, 0..1: the sigmoid of one logit, the softmax of two. Raises RerankError."""
        try:
            encoded = self._tokenizer.encode(query, texts)
            order = sorted(range(len(texts)), key=lambda index: len(encoded[index]))
            found = [0.0] * len(texts)
            for start in range(0, len(order), _PAIRS_A_RUN):
                batch = order[start : start + _PAIRS_A_RUN]
                for index, score in zip(batch, self._run([encoded[i] for i in batch]), strict=True):
                    found[index] = score
        except RerankError:
            raise
        except Exception as error:  # the libraries have no common class of their own
            raise RerankError(f"the reranking model {self.name} failed: {error}") from error
        return found

    def _run(self, pairs: Sequence[Encoding]) -> list[float]:
        import numpy as np

        columns = {}
        longest = max(map(len, pairs))
        for name, kind in self._inputs.items():
            padding = self._tokenizer.padding if name == "input_ids" else 0
            columns[name] = np.full((len(pairs), longest), padding, kind)
            for row, pair in zip(columns[name], pairs, strict=True):
                row[: len(pair)] = getattr(pair, _COLUMNS[name])
        (logits,) = self._session.run([self._output], columns)
        return self._probabilities(np.asarray(logits, np.float64), len(pairs))

    def _probabilities(self, logits: NDArray[np.float64], count: int) -> list[float]:
        import numpy as np

        if logits.shape == (count, 2):
            logits = logits[:, 1] - logits[:, 0]  # the softmax of two is the sigmoid of their difference
        elif logits.shape not in {(count, 1), (count,)}:
            shape = " × ".join(map(str, logits.shape))
            raise RerankError(
                f"the reranking model {self.name} is no cross-encoder: "
                f"it gave {shape} numbers for {count} pairs, not one or two for each"
            )
        return [float(score) for score in 1.0 / (1.0 + np.exp(-np.clip(logits.reshape(count), -700, 700)))]


_COLUMNS: Mapping[str, str] = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
}
"""Inputs of a graph, and what of an encoding they get."""


class _Pairs:
    """Makes one input of a query and a passage, cutting the longer one where they do not fit together."""

    def __init__(self, tokenizer: Tokenizer, most: int) -> None:
        padding = tokenizer.padding or {}
        marks = (tokenizer.token_to_id(mark) for mark in ("[PAD]", "<pad>"))
        self.padding = padding.get("pad_id", next((mark for mark in marks if mark is not None), 0))
        tokenizer.no_padding()
        tokenizer.enable_truncation(most, strategy="longest_first")
        self._tokenizer = tokenizer
        self._characters = most * _CHARACTERS_A_TOKEN

    def encode(self, query: str, texts: Iterable[str]) -> list[Encoding]:
        """One encoding a text. One after the other: in bulk, the library starts threads of its own."""
        asked = self._clean(query)
        return [self._tokenizer.encode(asked, self._clean(text)) for text in texts]

    def _clean(self, text: str) -> str:
        """Without broken characters, which the library refuses, and what would be cut off in any case."""
        return text[: self._characters].encode("utf-8", "replace").decode()


def _session(onnxruntime: Any, name: str) -> Any:  # noqa: ANN401 - the library has no types
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    # Threads that wait for work by spinning would cost the host its cores between two searches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(name, options, providers=["CPUExecutionProvider"])


def _loaded(path: Path, load: Any) -> Any:  # noqa: ANN401
    try:
        return load(str(path))
    except Exception as error:  # the libraries have no common class of their own
        raise RerankError(
            f"{path} cannot be used as part of a reranking model: {error}",
            hint="fetch the model's files again",
        ) from error
