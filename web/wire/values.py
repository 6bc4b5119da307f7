"""Values that several requests and replies share."""

from __future__ import annotations

from typing import Annotated

from companion.audio.espeak import SPEEDS, VOLUMES
from companion.engine import DieColour, HouseRule
from companion.engine.dice import COLOURED
from companion.engine.state import MISS
from companion.engine.variants import PLANS
from companion.eventlog.names import LONGEST_NAME, NAME_PATTERN
from companion.history.export import FORMS
from companion.messages.catalogue import LANGUAGES
from companion.messages.spoken import AMOUNTS
from companion.wire.structs import Meta, Struct, about, documented, one_of

LONGEST_KEY = 64
LONGEST_TOKEN = 16

_ROWS = dict.fromkeys(row.key for plan in PLANS.values() for row in plan.rows)

Face = Annotated[int, Meta(ge=1, le=6)]
Seat = Annotated[int, Meta(ge=0)]
Whole = Annotated[int, Meta(ge=0, le=2**53)]
"""As far as the numbers of a browser are exact (ECMA-262)."""
Point = tuple[float, float]
Size = tuple[Whole, Whole]
Colour = Annotated[str, one_of(colour.value for colour in COLOURED)]
AnyColour = Annotated[str, one_of(colour.value for colour in DieColour)]
Token = Annotated[str, Meta(pattern="^[A-Z]+[0-9]+$", examples=["R7", "GB10"])]
Language = Annotated[str, one_of(LANGUAGES)]
Variant = Annotated[str, one_of(PLANS)]
Yes = Annotated[str, one_of(("1",))]
ExportForm = Annotated[str, one_of(FORMS)]
AnyVariant = Annotated[str, Meta(max_length=LONGEST_TOKEN), documented(PLANS)]
"""The rules reject others."""
AnyBox = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=LONGEST_TOKEN,
        extra_json_schema={"pattern": f"^(?:(?:{'|'.join(_ROWS)})(?:[2-9]|1[0-2])|{MISS})$"},
    ),
]
"""The rules reject others."""
AnyName = Annotated[
    str,
    Meta(extra_json_schema={"minLength": 1, "maxLength": LONGEST_NAME, "pattern": NAME_PATTERN}),
    about(f"At most {LONGEST_NAME} characters, some of them visible."),
]
"""The session rejects others."""
Rule = Annotated[str, one_of(rule.value for rule in HouseRule)]
AnyRule = Annotated[str, documented(rule.value for rule in HouseRule)]
"""The rules reject others."""
AnyMishap = Annotated[str, documented(("cocked", "off", "touching", "hand"))]
AnyTrouble = Annotated[
    str, documented(("light", "nudge", "dark", "block", "freeze", "slow", "unplug"))
]
"""Names that the simulated tray accepts, as in table.mishaps and table.troubles."""
Say = Annotated[str, one_of(AMOUNTS), Meta(description="How much is said.")]
Volume = Annotated[int, Meta(ge=VOLUMES[0], le=VOLUMES[1])]
Speed = Annotated[int, Meta(ge=SPEEDS[0], le=SPEEDS[1])]


class Request(Struct):
    """A request's body; unknown fields are ignored."""


class Reply(Struct, forbid_unknown_fields=True):
    """An answer's body, or a part of one."""


class Rating(Reply):
    """A rating by the Plackett-Luce model."""

    mean: float
    deviation: Annotated[float, about("Its standard deviation.")]
