"""A printed sheet as data: rows of boxes, and lookups on sets of crosses.

A sheet's crosses are one small integer: row r owns `width` bits from `r * width` on, one for
each box from left to right and one more for its lock. Everything that depends on the printing
alone is looked up in tables made once for each plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache

from companion.engine.dice import COLOURED, DieColour

LOCK_SUFFIX = "LOCK"
_TOKEN = re.compile(r"([A-Z]+)(0|[1-9][0-9]{0,5}|LOCK)")


@dataclass(frozen=True, slots=True)
class Box:
    """One printed box; `colour` is that of the die that opens it, None on a bonus row."""

    number: int
    colour: DieColour | None


@dataclass(frozen=True, slots=True)
class Row:
    """One printed row, its boxes from left to right.

    Attributes:
        key: Letters of its tokens, such as "R" in "R7".
        name: What people call it.
        lock: Colour of the die that leaves when the row closes; None for a row that never closes.
        beside: Keys of the colour rows a bonus row lies between, whose crosses open it (E24)
            and which its own crosses count for (E34).
    """

    key: str
    name: str
    boxes: tuple[Box, ...]
    lock: DieColour | None = None
    beside: tuple[str, ...] = ()

    @property
    def is_bonus(self) -> bool:
        """Whether the row is opened by its neighbours."""
        return bool(self.beside)


def colour_row(key: str, colour: DieColour, numbers: Iterable[int]) -> Row:
    """A row of one colour with a lock at its right end."""
    return Row(key, colour.value, tuple(Box(n, colour) for n in numbers), lock=colour)


def bonus_row(key: str, name: str, numbers: Iterable[int], beside: tuple[str, ...]) -> Row:
    """A row of round boxes between colour rows, without a lock (E28, E47)."""
    return Row(key, name, tuple(Box(n, None) for n in numbers), beside=beside)


@dataclass(frozen=True)
class Plan:
    """One printed sheet: its rows from top to bottom and the figures of its scoring.

    Attributes:
        crosses_before_lock: Own crosses a row needs before its last box (E10).
        most_scored: Crosses of a row that score at most, lock and bonus counted (E23, E34).
        misses: Boxes for misses; the last one ends the game (E20).
        miss_points: What each miss costs (E43).
        rows_to_end: Closed rows that end the game (E18, E20).
    """

    name: str
    rows: tuple[Row, ...]
    crosses_before_lock: int = 5
    most_scored: int = 12
    misses: int = 4
    miss_points: int = 5
    rows_to_end: int = 2

    # -- where a box is -------------------------------------------------------------------

    @cached_property
    def width(self) -> int:
        """Bits of a row."""
        return max(len(row.boxes) for row in self.rows) + 1

    @cached_property
    def index(self) -> dict[str, int]:
        """Row number by key."""
        return {row.key: r for r, row in enumerate(self.rows)}

    @cached_property
    def bits(self) -> dict[str, int]:
        """The bit of every box by its token."""
        return {
            f"{row.key}{box.number}": 1 << (r * self.width + i)
            for r, row in enumerate(self.rows)
            for i, box in enumerate(row.boxes)
        }

    @cached_property
    def tokens(self) -> dict[int, str]:
        """The token of every box by its bit."""
        return {bit: token for token, bit in self.bits.items()}

    def row_of(self, bit: int) -> int:
        """The number of the row a bit lies in."""
        return (bit.bit_length() - 1) // self.width

    def box_of(self, bit: int) -> Box:
        """The printed box of a bit."""
        position = bit.bit_length() - 1
        return self.rows[position // self.width].boxes[position % self.width]

    def __getstate__(self) -> dict[str, object]:
        """The printed fields, for another process; each process makes its own tables."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def name_of(self, bits: int) -> list[str]:
        """The tokens of a set of boxes, row by row from left to right; without locks."""
        return list(self._names(bits))

    @cached_property
    def _names(self) -> Callable[[int], tuple[str, ...]]:
        """Cached `name_of`: every step needs the same few sets."""

        @lru_cache(maxsize=4096)
        def names(bits: int) -> tuple[str, ...]:
            return tuple([self.tokens[bit] for bit in each_bit(bits & self.all_boxes)])

        return names

    @cached_property
    def all_boxes(self) -> int:
        """Every box, without the locks."""
        return sum(self.bits.values())

    @cached_property
    def row_bits(self) -> tuple[int, ...]:
        """Every bit of each row, its lock included."""
        return tuple(((1 << self.width) - 1) << (r * self.width) for r in range(len(self.rows)))

    @cached_property
    def lock_bits(self) -> tuple[int, ...]:
        """The bit of each row's lock cross; 0 where the row has none."""
        return tuple(
            1 << (r * self.width + len(row.boxes)) if row.lock else 0
            for r, row in enumerate(self.rows)
        )

    @cached_property
    def last_boxes(self) -> int:
        """The last box of every row that can close."""
        return sum(
            1 << (r * self.width + len(row.boxes) - 1)
            for r, row in enumerate(self.rows)
            if row.lock
        )

    # -- what the dice open ---------------------------------------------------------------

    @cached_property
    def white_bits(self) -> dict[int, int]:
        """Boxes that carry a number, in any row: what a white sum could open (E2, E25)."""
        found: dict[int, int] = dict.fromkeys(range(2, 13), 0)
        for bit in self.tokens:
            number = self.box_of(bit).number
            found[number] = found.get(number, 0) | bit
        return found

    @cached_property
    def colour_bits(self) -> dict[DieColour, dict[int, int]]:
        """By a die's colour and its sum with a white die: the boxes they open (E2)."""
        found = {colour: dict.fromkeys(range(2, 13), 0) for colour in COLOURED}
        for bit in self.tokens:
            box = self.box_of(bit)
            if box.colour is not None:
                of_colour = found[box.colour]
                of_colour[box.number] = of_colour.get(box.number, 0) | bit
        return found

    @cached_property
    def dice(self) -> tuple[DieColour, ...]:
        """Colours of the dice that leave when rows close, in the order of the sheet."""
        return tuple(row.lock for row in self.rows if row.lock is not None)

    @cached_property
    def neighbours(self) -> dict[int, int]:
        """For each bonus box, the boxes of the rows beside it with the same number (E24)."""
        found: dict[int, int] = {}
        for r, row in enumerate(self.rows):
            for i, box in enumerate(row.boxes):
                if row.is_bonus:
                    same = sum(self.bits.get(f"{key}{box.number}", 0) for key in row.beside)
                    found[1 << (r * self.width + i)] = same
        return found

    @cached_property
    def bonus_bits(self) -> dict[int, int]:
        """For each colour box, the bonus boxes beside it with its number."""
        found: dict[int, int] = {}
        for bonus, same in self.neighbours.items():
            for bit in each_bit(same):
                found[bit] = found.get(bit, 0) | bonus
        return found

    # -- what crosses leave open, and what they score -------------------------------------

    @cached_property
    def _right_of(self) -> tuple[tuple[int, ...], ...]:
        """By row and the row's crosses: boxes to the right of the last one (E41), the last box
        only with enough crosses before it (E10). In place, ready to be joined."""
        tables = []
        for r, row in enumerate(self.rows):
            count = len(row.boxes)
            table = []
            for crosses in range(1 << self.width):
                open_boxes = ((1 << count) - 1) & ~((1 << crosses.bit_length()) - 1)
                if row.lock and crosses.bit_count() < self.crosses_before_lock:
                    open_boxes &= ~(1 << (count - 1))
                table.append(open_boxes << (r * self.width))
            tables.append(tuple(table))
        return tuple(tables)

    @cached_property
    def _opened_beside(self) -> tuple[tuple[int, ...], ...]:
        """By row and the row's crosses: the bonus boxes those crosses open (E24)."""
        tables = []
        for r in range(len(self.rows)):
            table = []
            for crosses in range(1 << self.width):
                opened = 0
                for bit in each_bit(crosses << (r * self.width)):
                    opened |= self.bonus_bits.get(bit, 0)
                table.append(opened)
            tables.append(tuple(table))
        return tuple(tables)

    @cached_property
    def _row_tables(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        return tuple(zip(self._right_of, self._opened_beside, strict=True))

    @cached_property
    def bonus_rows(self) -> int:
        """Every bit of the bonus rows."""
        return sum(bits for bits, row in zip(self.row_bits, self.rows, strict=True) if row.is_bonus)

    def open_boxes(self, crosses: int, closed_bits: int = 0) -> int:
        """Boxes that some roll could still let this sheet cross now."""
        found, opened, rest = 0, ~self.bonus_rows, crosses
        mask, width = self.row_bits[0], self.width
        for right_of, beside in self._row_tables:
            own = rest & mask
            found |= right_of[own]
            opened |= beside[own]
            rest >>= width
        return found & opened & ~closed_bits

    def lost_boxes(self, crosses: int, closed_bits: int) -> int:
        """Boxes nobody can cross on this sheet any more: left of the last cross, or closed."""
        lost = 0
        for row_bits in self.row_bits:
            own = crosses & row_bits
            if own:
                lost |= row_bits & ((1 << own.bit_length()) - 1)
        return (lost | closed_bits) & self.all_boxes & ~crosses

    def points(self, crosses: int) -> dict[str, int]:
        """Points of each colour row by name: see `row_points` (E23, E34)."""
        scored: dict[str, int] = {}
        for r, row in enumerate(self.rows):
            if row.is_bonus:
                continue
            count = (crosses & self.row_bits[r]).bit_count()
            for b, other in enumerate(self.rows):
                if row.key in other.beside:
                    count += (crosses & self.row_bits[b]).bit_count()
            count = min(count, self.most_scored)
            scored[row.name] = row_points(count)
        return scored

    # -- tokens ---------------------------------------------------------------------------

    def marks_of(self, crosses: int) -> dict[str, list[int]]:
        """The crossed numbers by row key, from left to right."""
        return {
            row.key: [self.box_of(bit).number for bit in each_bit(crosses & bits & self.all_boxes)]
            for row, bits in zip(self.rows, self.row_bits, strict=True)
        }

    def locks_of(self, crosses: int) -> list[str]:
        """Keys of the rows whose lock is crossed."""
        return [
            row.key
            for row, bit in zip(self.rows, self.lock_bits, strict=True)
            if bit and crosses & bit
        ]

    def with_lock(self, bit: int) -> int:
        """A box together with the lock cross that comes with it (E12)."""
        return bit | self.lock_bits[self.row_of(bit)] if bit & self.last_boxes else bit


def row_points(crosses: int) -> int:
    """Points of a row with so many crosses: n(n+1)/2 (E23)."""
    return crosses * (crosses + 1) // 2


def each_bit(bits: int) -> Iterator[int]:
    """The single bits of a set, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest
        bits ^= lowest


def split_token(token: str) -> tuple[str, str] | None:
    """Row key and number (or "LOCK") of a token, or None when it is not written like one."""
    match = _TOKEN.fullmatch(token)
    return (match[1], match[2]) if match else None
