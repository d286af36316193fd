"""The keys under `memorySearch` that say what a search and a recall give; see `schema`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from .section import MOST, Amount, Count, Location, Section, Share


class Mmr(Section, frozen=True):
    """Maximal marginal relevance: fewer near-duplicates among the results."""

    enabled: Annotated[
        bool,
        Meta(description="Off, because it trades relevance for variety; for notes that repeat themselves."),
    ] = False
    lambda_: Annotated[Share, Meta(description="1 is relevance alone, 0 the greatest variety.")] = field(
        default=0.7, name="lambda"
    )


class TemporalDecay(Section, frozen=True):
    """Recent daily notes go before old ones."""

    enabled: Annotated[
        bool, Meta(description="Off, because an old note may be the right one; for agents used for months.")
    ] = False
    half_life_days: Annotated[
        Annotated[float, Meta(gt=0, le=MOST)], Meta(description="After so many days a score is halved.")
    ] = 30.0


class Hybrid(Section, frozen=True):
    """Search by meaning and by keyword together."""

    enabled: Annotated[bool, Meta(description="False searches by meaning alone where there are vectors.")] = (
        True
    )
    vector_weight: Annotated[
        Share, Meta(description="Weight of meaning. Both weights are scaled to a sum of 1.")
    ] = 0.7
    text_weight: Annotated[Share, Meta(description="Weight of keywords.")] = 0.3
    candidate_multiplier: Annotated[
        Annotated[int, Meta(ge=1, le=20)],
        Meta(description="Candidates each way of searching gives, as a multiple of `maxResults`."),
    ] = 4
    fusion: Annotated[
        Literal["adaptive", "weighted", "rrf"],
        Meta(
            description="How both lists become one: by scores whose weights follow how well the words of the "
            "query are covered, by the configured weights as they are, or by weighted reciprocal ranks."
        ),
    ] = "adaptive"
    mmr: Annotated[Mmr, Meta(description="Variety among the results.")] = Mmr()
    temporal_decay: Annotated[TemporalDecay, Meta(description="Recent daily notes first.")] = TemporalDecay()


class Rerank(Section, frozen=True):
    """A closer look at the first candidates."""

    enabled: Annotated[
        bool,
        Meta(
            description="Compare the first candidates with the query piece by piece, by the embedded model; "
            "a few milliseconds. False leaves out the reranking model below, too."
        ),
    ] = True
    model: Annotated[
        Location,
        Meta(
            description="A cross-encoder that reads query and passage together: a folder with `model.onnx` "
            "and `tokenizer.json`. With `pip install 'memlane[rerank]'`. Unset means none."
        ),
    ] = None
    candidates: Annotated[
        Annotated[int, Meta(ge=1, le=30)],
        Meta(description="How many of the first passages the model reads; its time grows with them."),
    ] = 20
    deadline_ms: Annotated[
        Amount,
        Meta(
            description="Milliseconds after which the order stays as it is without the model; 0 waits for it."
        ),
    ] = 250


class Query(Section, frozen=True):
    """What a search gives."""

    max_results: Annotated[Count, Meta(description="Results a search gives when it does not say.")] = 6
    min_score: Annotated[
        Share,
        Meta(
            description="Below this a hit counts as noise. Each way of searching is judged by its own score, "
            "not by the chance that is shown with a result."
        ),
    ] = 0.35
    hybrid: Annotated[Hybrid, Meta(description="Meaning and keywords together.")] = Hybrid()
    rerank: Annotated[Rerank, Meta(description="A closer look at the first candidates.")] = Rerank()


class Recall(Section, frozen=True):
    """Memories that are shown to the model with a message, before it is asked."""

    enabled: Annotated[
        bool, Meta(description="Off, because what is added to each message costs tokens and attention.")
    ] = False
    max_results: Annotated[Count, Meta(description="Passages that are added to a message at most.")] = 3
    max_chars: Annotated[Count, Meta(description="Characters of all of them together.")] = 1500
    min_confidence: Annotated[
        Share,
        Meta(description="The chance of being what is asked for, below which a passage is not added."),
    ] = 0.7
