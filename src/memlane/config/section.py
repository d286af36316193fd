"""What groups of keys are made of: `Section`, and the types that several of them share."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

MOST = 10**12
"""No count may exceed this, so that products of two settings stay within 64 bits."""

Count = Annotated[int, Meta(ge=1, le=MOST)]
Amount = Annotated[int, Meta(ge=0, le=MOST)]
Minutes = Annotated[int, Meta(ge=0, le=525_600)]
Share = Annotated[float, Meta(ge=0, le=1)]
Text = Annotated[str | None, Meta(extra={"kind": "text"})]
Location = Annotated[str | None, Meta(extra={"kind": "path"})]
Url = Annotated[str | None, Meta(extra={"kind": "url"})]
SecretText = Annotated[str | None, Meta(extra={"kind": "secret"})]
Headers = Annotated[dict[str, str], Meta(extra={"kind": "headers"})]
Name = Annotated[str, Meta(min_length=1, extra={"kind": "name"})]


class Section(Struct, frozen=True, rename="camel"):
    """A group of keys. Frozen: settings are read once and passed on."""

    shared: ClassVar[bool] = False
    """The rest of the platform keeps keys of its own in there, which are none of memory's business."""
    groups: ClassVar[tuple[str, ...]] = ()
    """Names of groups that stand beside the keys and are read on their own."""
