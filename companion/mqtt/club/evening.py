"""One evening of a club: its players and rounds, and the changes an organiser can make (pure)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from companion.eventlog.names import LONGEST_NAME, clean_name, name_key, written_fault
from companion.mqtt.club.pairing import LARGEST, SMALLEST, SYSTEMS, Pairing, pair, past_of
from companion.wire.structs import Meta, WireError, encode, one_of

MOST_MEMBERS = 500
"""Players of one evening."""
MOST_ROUNDS = 30

MOST_CHANGES = 100_000
"""Changes of an evening that a club process may have missed."""

Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
TableId = Annotated[str, Meta(max_length=16)]
Time = Annotated[str, Meta(max_length=40)]
EveningId = Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")]


class Declined(Exception):
    """A change that an organiser cannot make; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Member:
    """A player of the evening; one who has left is not here, and gets no seat in later rounds."""

    name: Name
    is_here: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Players who share a table in one round; the table is "" where none was known."""

    players: Annotated[tuple[Name, ...], Meta(min_length=SMALLEST, max_length=LARGEST)]
    table: TableId = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One round.

    Attributes:
        drawn_at: When it was drawn, as ISO 8601 text by the club's clock, in UTC.
        sat_out: Players who were here and had no seat.
    """

    groups: Annotated[tuple[Group, ...], Meta(max_length=MOST_MEMBERS)]
    sat_out: Annotated[tuple[Name, ...], Meta(max_length=MOST_MEMBERS)] = ()
    drawn_at: Time = ""


@dataclass(frozen=True, slots=True)
class Evening:
    """The document of one evening, which the club process stores and publishes as a whole.

    Attributes:
        id: Its date by the club's clock, as ISO 8601 text.
        revision: Counts the changes; of two documents the one with more counts.
        system: How rounds are paired, one of `SYSTEMS`.
        size: Preferred players at a table.
        seed: Makes the rounds repeatable.
    """

    id: EveningId
    revision: Annotated[int, Meta(ge=0, le=2**53)] = 0
    system: Annotated[str, one_of(SYSTEMS)] = "swiss"
    size: Annotated[int, Meta(ge=SMALLEST, le=LARGEST)] = 4
    seed: Annotated[int, Meta(ge=0, le=2**32)] = 0
    members: Annotated[tuple[Member, ...], Meta(max_length=MOST_MEMBERS)] = ()
    rounds: Annotated[tuple[Round, ...], Meta(max_length=MOST_ROUNDS)] = ()
    v: Annotated[int, Meta(ge=1, le=1)] = 1

    @property
    def here(self) -> list[str]:
        """Names of the players who are here, in the order they came."""
        return [member.name for member in self.members if member.is_here]


def next_evening(today: str, before: Evening | None) -> Evening:
    """An evening without players, paired as the one before it."""
    seed = zlib.crc32(today.encode())  # the same in every process of the club
    if before is None:
        return Evening(today, seed=seed)
    return Evening(today, system=before.system, size=before.size, seed=seed)


def check_received(evening: Evening, known: Evening | None) -> None:
    """Refuse a document that no club process would have written.

    Raises:
        WireError: It is one.
    """
    most = MOST_CHANGES + (known.revision if known is not None else 0)
    if evening.revision > most:
        raise WireError("revision", f"{most} at most", evening.revision, "range")
    for names in ([member.name for member in evening.members], *map(_named, evening.rounds)):
        for name in names:
            if clean_name(name) != name:
                raise WireError("", "clean names", name[:20], "text")
        if len({name_key(name) for name in names}) < len(names):
            raise WireError("", "everybody once", ", ".join(names)[:40], "text")


def weight(evening: Evening) -> tuple[int, str]:
    """Of two documents the heavier one counts; equal numbers of changes are told apart somehow."""
    return evening.revision, encode(evening)


def with_member(evening: Evening, name: str) -> Evening:
    """Add a player, or let one who left come back.

    Raises:
        Declined: No table would take the name, somebody of that name is here, or the list is full.
    """
    cleaned = clean_name(name)
    if (fault := written_fault(cleaned)) is not None:
        raise Declined(fault)
    key = name_key(cleaned)
    known = next((each for each in evening.members if name_key(each.name) == key), None)
    if known is not None:
        if known.is_here:
            raise Declined("ALREADY_HERE")
        return _with_presence(evening, cleaned, is_here=True)
    if len(evening.members) >= MOST_MEMBERS:
        raise Declined("CLUB_FULL")
    return _changed(evening, members=(*evening.members, Member(cleaned)))


def without_member(evening: Evening, name: str) -> Evening:
    """Let a player leave; one who was in no round goes from the list."""
    key = name_key(name)
    if any(key == name_key(each) for round_ in evening.rounds for each in _named(round_)):
        return _with_presence(evening, name, is_here=False)
    others = tuple(member for member in evening.members if name_key(member.name) != key)
    return _changed(evening, members=others)


def with_form(evening: Evening, system: str, size: int) -> Evening:
    """Choose how the next rounds are paired."""
    return _changed(evening, system=system, size=size)


def with_round(
    evening: Evening, ranking: Sequence[str], tables: Sequence[str], drawn_at: str
) -> Evening:
    """Draw the next round for everybody who is here.

    Args:
        ranking: All players, the best first.
        tables: The tables that are there, in the order in which groups are given to them; without
            any, groups get none.
    Raises:
        Declined: Fewer than two players are here, or there were too many rounds.
    """
    if len(evening.rounds) >= MOST_ROUNDS:
        raise Declined("TOO_MANY_ROUNDS")
    place = {name_key(name): n for n, name in enumerate(ranking)}
    players = sorted(evening.here, key=lambda name: place.get(name_key(name), len(place)))
    if len(players) < SMALLEST:
        raise Declined("TOO_FEW_PLAYERS")
    found = pair(
        players,
        past_of(_pairing(each) for each in evening.rounds),
        system=evening.system,
        size=evening.size,
        seed=evening.seed,
        number=len(evening.rounds) + 1,
        tables=len(tables) or None,
    )
    at = [*tables, *[""] * len(found.groups)]
    groups = tuple(Group(players, at[n]) for n, players in enumerate(found.groups))
    return _changed(evening, rounds=(*evening.rounds, Round(groups, found.sat_out, drawn_at)))


def without_round(evening: Evening) -> Evening:
    """Take the last round back; results of its games stay, as games outside rounds.

    Raises:
        Declined: There is no round.
    """
    if not evening.rounds:
        raise Declined("NO_ROUND")
    return _changed(evening, rounds=evening.rounds[:-1])


def _with_presence(evening: Evening, name: str, *, is_here: bool) -> Evening:
    key = name_key(name)
    members = tuple(
        replace(member, is_here=is_here) if name_key(member.name) == key else member
        for member in evening.members
    )
    return _changed(evening, members=members)


def _named(round_: Round) -> list[str]:
    return [*round_.sat_out, *(name for group in round_.groups for name in group.players)]


def _pairing(round_: Round) -> Pairing:
    return Pairing(tuple(group.players for group in round_.groups), round_.sat_out)


def _changed(evening: Evening, **changes: object) -> Evening:
    fields: Mapping[str, object] = {"revision": evening.revision + 1, **changes}
    return replace(evening, **fields)  # type: ignore[arg-type]
