"""The doctor: looks at everything memory depends on, says how to mend each finding, and mends what is safe.

findings       what a check gives
subject        what the checks look at
configuration  settings and the notices about them
notes          the workspace: there, readable, writable, text
storage        the folder of the index: space, modes, what was set aside
indexes        the index and the embedding cache: whole, current, complete
records        what is forgotten, and batch jobs under way
providers      the embedding provider, by using it
reranking      the reranking model, by using it
surroundings   watches, time zone, clock, other writers
mending        what `--fix` does; never to a note
examine        runs the checks, each within its time
"""

from __future__ import annotations

from .examine import examine
from .findings import DoctorReport, Finding, unusable_configuration
from .subject import Subject

__all__ = ["DoctorReport", "Finding", "Subject", "examine", "unusable_configuration"]
