"""The batch interface of Voyage AI: that of OpenAI, with the parameters in the job and not in its lines."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from .lines import json_line
from .openai import OpenAiBatches


class VoyageBatches(OpenAiBatches):
    """Voyage's batches for one model. Limits: 100,000 inputs a job; the file's is far above ours."""

    window = timedelta(hours=12)
    completion_window = "12h"

    def line(self, key: str, text: str) -> bytes:
        """The text alone; its parameters stand in the job."""
        return json_line({"custom_id": key, "body": {"input": [text]}})

    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "model": self._endpoint.model,
            "input_type": self._endpoint.document_input_type or "document",
        }
        if self._endpoint.dimensions is not None:
            parameters["output_dimension"] = self._endpoint.dimensions
        return {"request_params": parameters}
