"""A user's own questions, asked of their own memory: how many are answered, and why the others are not.

questions    what is asked and where the answer stands, read from a file
measures     recall, MRR, nDCG, percentiles, AUC (pure)
reasons      why an expected place was not among the results
run          asks each question through the ordinary search
results      what an evaluation gives
variants     other settings to compare with (pure)
compare      two runs over the same questions, and whether their difference is noise (pure)
"""

from __future__ import annotations

from .compare import compare
from .questions import Question, Target, read_questions
from .results import Comparison, Evaluation
from .run import evaluate

__all__ = ["Comparison", "Evaluation", "Question", "Target", "compare", "evaluate", "read_questions"]
