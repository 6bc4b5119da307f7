"""Pictures of finished games and of dice as inline SVG, each with a text for those who cannot see.

They are built with the standard library's XML writer, which escapes names. A chart library would
bring its own fonts, colours and scripts; these pictures take the page's text colour, so that they
are readable in light and dark, and scale from a phone to a television.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from unicodedata import east_asian_width
from xml.etree.ElementTree import Element, SubElement, tostring

from companion.coach.fairness import FACES, Fairness
from companion.coach.review import Review
from companion.engine import Event, GameState, Phase, Refusal, apply
from companion.history.statistics import LuckShare, PlayerStatistics
from companion.messages.catalogue import Phrases, Term, numeral

WIDTH, HEIGHT = 480, 360
LEFT, RIGHT, TOP, BOTTOM = 44, 150, 16, 32
KEY = 24
"""Length of the stroke that shows a player's line before their name."""

BAR_ROW = 48
"""Height of a bar and the words above it."""

KEY_ROW = 26
"""Height of a line that names a colour."""

TRIANGLE = 4
"""Room for the marks of turning points."""

COLOURS = ("#3b82c4", "#d9660b", "#1a9c74", "#c05fa0", "#8a8a1e")
"""Colours of the players in playing order: a contrast of at least 3 to 1 on white and on black."""

WARNING = "#d9660b"
"""Fill of readings that were corrected."""

DASHES = ("none", "8 4", "2 4", "12 4 2 4", "4 4")
"""Dash patterns of the players' lines, for people who cannot tell the colours apart."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG element and what it shows in words.

    Attributes:
        lines: Its sentences.
    """

    svg: str
    title: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """Title and sentences, one a line."""
        return "\n".join((self.title, *self.lines))


@dataclass(frozen=True, slots=True)
class Course:
    """A game turn by turn.

    Attributes:
        totals: By turn, each player's total; the first entry is before the first turn.
        misses: (turn, player) of every miss, turns from 1.
        closings: (turn, row name, players) of every closing.
        crosses: By player.
    """

    totals: tuple[tuple[int, ...], ...]
    misses: tuple[tuple[int, int], ...]
    closings: tuple[tuple[int, str, tuple[int, ...]], ...]
    crosses: tuple[int, ...]


def course_of(start: GameState, events: Iterable[Event]) -> Course:
    """The totals after each turn of a game, and when rows closed and misses were taken."""
    state, players = start, range(start.players)
    totals = [tuple(start.total(p) for p in players)]
    misses: list[tuple[int, int]] = []
    closings: list[tuple[int, str, tuple[int, ...]]] = []
    for event in events:
        step = apply(state, event)
        if isinstance(step, Refusal):
            break
        after = step.state
        turn = len(totals)
        misses += [(turn, p) for p in players if after.misses[p] > state.misses[p]]
        del closings[len(after.closed) :]  # a corrected roll may open a row again
        closings += [
            (turn, after.plan.rows[closing.row].name, closing.players)
            for closing in after.closed[len(closings) :]
        ]
        is_played = after.phase is Phase.OVER and state.phase in (Phase.ACTION1, Phase.ACTION2)
        if is_played or after.turn != state.turn:
            totals.append(tuple(after.total(p) for p in players))
        state = after
    crosses = tuple(state.crosses[p].bit_count() for p in players)
    return Course(tuple(totals), tuple(misses), tuple(closings), crosses)


def scores_chart(
    course: Course, names: Sequence[str], phrases: Phrases, turning: Sequence[int] = ()
) -> Picture:
    """Each player's total after every turn; rings are misses, upright lines are closings.

    Args:
        turning: The turns of the turning points, which get a triangle above the curves.
    """
    title = phrases.say("chart.scores")
    lines = [
        phrases.say(
            "chart.player",
            name=name,
            count=course.totals[-1][p],
            crosses=course.crosses[p],
            misses=sum(player == p for _, player in course.misses),
        )
        for p, name in enumerate(names)
    ]
    for turn, row, players in course.closings:
        closers = phrases.all_of([names[p] for p in players])
        lines.append(phrases.say("chart.closed", turn=turn, row=Term(f"row.{row}"), names=closers))
    if turning:
        listed = ", ".join(map(str, turning))
        lines.append(phrases.say("coach.turning_points", count=len(turning), turns=listed))
    svg = _svg(title, lines)
    top = TOP + (TRIANGLE if turning else 0)
    everything = [total for turn in course.totals for total in turn]
    low, high = min(0, *everything), max(10, *everything)
    turns = max(1, len(course.totals) - 1)

    def x(turn: float) -> float:
        return LEFT + turn / turns * (WIDTH - LEFT - RIGHT)

    def y(total: float) -> float:
        return HEIGHT - BOTTOM - (total - low) / (high - low) * (HEIGHT - top - BOTTOM)

    step = next(s for s in (10, 20, 50, 100, 200) if (high - low) / s <= 6)
    for mark in range(low // step * step, high + 1, step):
        if mark >= low:
            _line(svg, LEFT, y(mark), WIDTH - RIGHT, y(mark), opacity="0.25")
            _text(svg, LEFT - 8, y(mark) + 5, numeral(mark), anchor="end")
    for turn in range(0, turns + 1, max(1, turns // 6)):
        _text(svg, x(turn), HEIGHT - 8, str(turn), anchor="middle")
    for turn, _, _ in course.closings:
        _line(svg, x(turn), top, x(turn), HEIGHT - BOTTOM, opacity="0.6")
    for turn in turning:
        middle = x(min(turn, turns))
        corners = f"{middle - 6:.1f},{top - 14} {middle + 6:.1f},{top - 14} {middle:.1f},{top - 3}"
        SubElement(svg, "polygon", {"points": corners})
    places = _apart([y(total) for total in course.totals[-1]], 20)
    for p, name in enumerate(names):
        colour = COLOURS[p]
        points = " ".join(f"{x(t):.1f},{y(all_[p]):.1f}" for t, all_ in enumerate(course.totals))
        stroke = {"stroke": colour, "stroke-width": "3", "stroke-dasharray": DASHES[p]}
        SubElement(svg, "polyline", {"points": points, "fill": "none"} | stroke)
        for turn, player in course.misses:
            if player == p and turn < len(course.totals):
                place = {"cx": f"{x(turn):.1f}", "cy": f"{y(course.totals[turn][p]):.1f}"}
                SubElement(svg, "circle", place | {"r": "5", "fill": "none", "stroke": colour})
        begins, ends = WIDTH - RIGHT + 6, WIDTH - RIGHT + 6 + KEY
        height = f"{places[p]:.1f}"
        key = {"x1": f"{begins}", "x2": f"{ends}", "y1": height, "y2": height}
        SubElement(svg, "line", key | stroke)
        _text(svg, ends + 5, places[p] + 5, _short(name))
    return Picture(tostring(svg, encoding="unicode"), title, tuple(lines))


def luck_chart(
    review: Review, names: Sequence[str], texts: Sequence[str], phrases: Phrases
) -> Picture:
    """Each player's luck and skill as bars with their standard errors (two to each side).

    Args:
        texts: The sentences that say the same.
    """
    title = phrases.say("chart.luck")
    bars = [
        (name, kind, part, COLOURS[p])
        for p, name in enumerate(names)
        for kind, part in (
            (phrases.say("chart.luck_name"), review.luck[p]),
            (phrases.say("chart.skill_name"), review.skill[p]),
        )
    ]
    most = max(10.0, *(abs(part.value) + 2 * part.error for _, _, part, _ in bars))
    zero, scale = WIDTH / 2, (WIDTH / 2 - LEFT) / most
    height = TOP + BAR_ROW * len(bars) + BOTTOM
    svg = _svg(title, texts, height)
    for i, (name, kind, part, colour) in enumerate(bars):
        row = TOP + i * BAR_ROW
        middle, wide = row + 31, part.value * scale
        _text(svg, 8, row + 18, f"{_short(name)}, {kind}")
        _line(svg, zero, row + 20, zero, row + 42, opacity="0.6")
        _rect(svg, min(zero, zero + wide), middle - 7, abs(wide), 14, {"fill": colour})
        half = 2 * part.error * scale
        _line(svg, zero + wide - half, middle, zero + wide + half, middle)
    for mark in (-most, most):
        _text(svg, zero + mark * scale, height - 8, numeral(round(mark)), anchor="middle")
    _text(svg, zero, height - 8, "0", anchor="middle")
    return Picture(tostring(svg, encoding="unicode"), title, tuple(texts))


def dice_chart(found: Fairness, phrases: Phrases) -> Picture:
    """How often each face of each kind of dice came, and the band fair dice keep to."""
    title = phrases.say("chart.dice")
    lines = [
        phrases.say(
            "chart.die",
            colour=Term(f"colour.{each.colour.value}"),
            counts=", ".join(
                phrases.say("page.named", name=str(f + 1), text=str(n))
                for f, n in enumerate(each.counts)
            ),
        )
        for each in found.dice
    ]
    misread = [
        phrases.say("chart.misread_face", colour=colour, face=face + 1, count=count)
        for each in found.dice
        for colour in (phrases.colour(each.colour.value),)
        for face, count in enumerate(each.misread)
        if count
    ]
    lines = [phrases.tell(found.verdict()), *lines]
    if misread:
        lines.append(phrases.say("chart.misread", faces=", ".join(misread)))
    svg = _svg(title, lines)
    group = (WIDTH - LEFT) / len(found.dice)
    floor, room = HEIGHT - BOTTOM - 20, HEIGHT - BOTTOM - 20 - TOP
    for k, each in enumerate(found.dice):
        left = LEFT / 2 + k * group
        most = max(1.0, each.high, *each.counts) * 1.05
        top, bottom = floor - each.high / most * room, floor - each.low / most * room
        style = {"fill": "currentColor", "fill-opacity": "0.15"}
        _rect(svg, left, top, group - 12, bottom - top, style)
        for face, count in enumerate(each.counts):
            middle = left + (face + 0.5) * (group - 12) / FACES
            _line(svg, middle, floor, middle, floor - count / most * room, width=8)
            _text(svg, middle, floor + 17, str(face + 1), anchor="middle")
            if each.misread[face]:
                height = max(3.0, each.misread[face] / most * room)
                style = {"fill": WARNING, "stroke": "currentColor"}
                _rect(svg, middle - 4, floor - height, 8, height, style)
        name = phrases.colour(each.colour.value)
        _text(svg, left + (group - 12) / 2, HEIGHT - 8, name, anchor="middle")
    return Picture(tostring(svg, encoding="unicode"), title, tuple(lines))


def ratings_chart(players: Sequence[PlayerStatistics], phrases: Phrases) -> Picture | None:
    """Each player's rating as a point with two deviations to each side; None without a rating."""
    rated = [(each.name, each.rating) for each in players if each.rating is not None]
    if not rated:
        return None
    title = phrases.say("chart.ratings")
    lines = [
        phrases.say("chart.rating", name=name, rating=round(r.mean), within=round(2 * r.deviation))
        for name, r in rated
    ]
    low = min(r.mean - 2 * r.deviation for _, r in rated)
    high = max(r.mean + 2 * r.deviation for _, r in rated)
    scale = (WIDTH - 2 * LEFT) / max(1.0, high - low)
    height = TOP + BAR_ROW * len(rated) + BOTTOM
    svg = _svg(title, lines, height)
    for i, (name, rating) in enumerate(rated):
        row, x = TOP + i * BAR_ROW, LEFT + (rating.mean - low) * scale
        half, colour = 2 * rating.deviation * scale, COLOURS[i % len(COLOURS)]
        _text(svg, 8, row + 18, name)
        _line(svg, x - half, row + 31, x + half, row + 31, opacity="0.6", width=4)
        place = {"cx": f"{x:.1f}", "cy": f"{row + 31}", "r": "8"}
        SubElement(svg, "circle", place | {"fill": colour, "stroke": "currentColor"})
    for mark in (low, high):
        at = LEFT + (mark - low) * scale
        _text(svg, at, height - 8, numeral(round(mark)), anchor="middle")
    return Picture(tostring(svg, encoding="unicode"), title, tuple(lines))


def decided_chart(found: LuckShare, phrases: Phrases) -> Picture | None:
    """How often luck decided, as the parts of a bar; None if no game was reviewed."""
    if not found.reviewed:
        return None
    title = phrases.say("chart.decided")
    parts = [
        (phrases.say("chart.luck_name"), found.luck, COLOURS[0], "1"),
        (phrases.say("chart.skill_name"), found.choices, COLOURS[1], "1"),
        (phrases.say("chart.close_name"), found.close, "currentColor", "0.35"),
    ]
    lines = [
        phrases.say(
            "chart.decided_share",
            luck=found.luck,
            choices=found.choices,
            close=found.close,
            count=found.reviewed,
            games=found.games,
        )
    ]
    svg = _svg(title, lines, TOP + BAR_ROW + len(parts) * KEY_ROW)
    left, wide = LEFT / 2, WIDTH - LEFT
    for i, (name, count, colour, opacity) in enumerate(parts):
        fill = {"fill": colour, "fill-opacity": opacity}
        width = count / found.reviewed * wide
        _rect(svg, left, TOP, width, 32, fill)
        left += width
        row = TOP + BAR_ROW + i * KEY_ROW
        _rect(svg, LEFT / 2, row, 16, 16, fill)
        label = phrases.say("page.named", name=name, text=numeral(count))
        _text(svg, LEFT / 2 + 26, row + 15, label)
    return Picture(tostring(svg, encoding="unicode"), title, tuple(lines))


def _svg(title: str, lines: Iterable[str], height: int = HEIGHT) -> Element:
    svg = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {height}",
            "role": "img",
            "aria-label": f"{title}. {' '.join(lines)}",
            "font-size": "18",
            "fill": "currentColor",
            "stroke-width": "2",
        },
    )
    SubElement(svg, "title").text = title
    return svg


def _line(
    svg: Element, x1: float, y1: float, x2: float, y2: float, *, opacity: str = "1", width: int = 2
) -> None:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    style = {"stroke": "currentColor", "stroke-opacity": opacity, "stroke-width": str(width)}
    SubElement(svg, "line", ends | style)


def _rect(
    svg: Element, x: float, y: float, width: float, height: float, style: Mapping[str, str]
) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}"}
    SubElement(svg, "rect", {**place, **style})


def _text(svg: Element, x: float, y: float, text: str, *, anchor: str = "start") -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "fill": "currentColor"}
    SubElement(svg, "text", place).text = text


def _short(name: str) -> str:
    """A name, cut off where it is wider than ten ordinary letters."""
    ends = list(accumulate(map(_width, name)))
    if not ends or ends[-1] <= 100:
        return name
    return name[: sum(end <= 85 for end in ends)].rstrip() + "…"


def _width(letter: str) -> int:
    """About how wide a letter is in a sans-serif font, in tenths of an ordinary one."""
    if letter in "fijlrtI.,'’-|! ":
        return 6
    if letter in "mwMW@%" or east_asian_width(letter) in "WF":
        return 16
    return 12 if letter.isupper() or letter in "<>" else 10


def _apart(places: Sequence[float], least: float) -> list[float]:
    """The same places, moved down where two are nearer than `least`."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    found = list(places)
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + least)
    over = max(found, default=0) - (HEIGHT - BOTTOM)
    return [place - max(0, over) for place in found]
