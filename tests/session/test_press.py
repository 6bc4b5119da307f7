"""The button's press in every moment: counted once, never lost, and answered when rejected."""

from __future__ import annotations

from dataclasses import replace

from companion.engine import DieColour, Phase
from companion.session.confirm import LONGEST_VERDICT_S, SAME_PRESS_S, VERDICT_S, WATCHED_S
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView
from tests.session.fakes import Stage, dice_seen, tilted


def shown(stage: Stage) -> str:
    """What the table view shows of the last announcement."""
    announcement = stage.session.view().announcement
    assert announcement is not None
    return stage.session.phrases.tell(*announcement.lines)


def reading(stage: Stage) -> None:
    """The dice lie still and are being read."""
    stage.session.see(TrayView(TrayStatus.MOVING))
    stage.port.is_reading = True


def test_a_confirmation_within_a_second_of_another_counts_once(two: Stage) -> None:
    two.roll(4, 3)
    for _ in range(3):
        two.time.pass_s(0.3)
        rejected = two.session.press()
        assert rejected is not None
        assert rejected.code == "WRONG_PHASE"
    assert [said.kind for said in two.told] == ["roll"]
    assert two.confirmed == 1
    two.time.pass_s(SAME_PRESS_S)
    assert two.session.press() is not None
    assert two.told[-1].text == "Waiting for Ada and Ben."


def test_a_refusal_is_announced_once_until_something_changes(two: Stage) -> None:
    two.session.see(tilted("green"))
    for _ in range(3):
        two.time.pass_s(0.3)
        two.session.press()
    assert [said.kind for said in two.told] == ["refused"]
    two.session.see(dice_seen(4, 3))
    assert two.session.press() is None, "a new reading"
    two.time.pass_s(SAME_PRESS_S)
    two.session.press()
    assert two.told[-1].text == "Waiting for Ada and Ben."
    two.answer(0, None)
    two.session.press()
    assert two.told[-1].text == "Waiting for Ben.", "an answer came"


def test_dice_taken_out_while_answers_are_missing_repeat_no_refusal(two: Stage) -> None:
    two.roll(4, 3)
    two.time.pass_s(SAME_PRESS_S)
    two.session.press()
    two.session.see(TrayView(TrayStatus.MOVING))
    two.session.press()
    assert [said.kind for said in two.told] == ["roll", "refused"]


def test_a_press_once_all_have_answered_waits_for_nobody(two: Stage) -> None:
    two.roll(4, 3)
    two.answer(0, None, done=False)
    two.answer(1, None, done=False)
    two.time.pass_s(SAME_PRESS_S)
    two.session.press()
    assert two.told[-1].text == "Everybody has answered. The action is about to close."


def test_the_next_roll_is_confirmed_however_soon_it_comes(two: Stage) -> None:
    two.roll(4, 3)
    assert two.session.undo() is None
    assert two.roll(5, 5) is None
    assert two.state.roll.white_sum == 10


def test_a_press_while_the_dice_are_read_confirms_them(two: Stage) -> None:
    reading(two)
    assert two.session.press() is None
    assert two.told == []
    two.time.pass_s(0.2)
    two.session.see(dice_seen(4, 3))
    assert two.state.phase is Phase.ACTION1
    assert [said.kind for said in two.told] == ["roll"]
    assert two.confirmed == 1
    two.time.pass_s(5.0)
    assert [said.kind for said in two.told] == ["roll"]


def test_a_press_before_the_first_reading_after_a_restart_is_refused(two: Stage) -> None:
    """A die that was corrected before it may be read wrongly again."""
    two.session.see(replace(dice_seen(4, 3), frame=7))
    again = two.again()
    again.port.is_reading = True
    again.session.see(TrayView(TrayStatus.READING))
    rejected = again.session.press()
    assert rejected is not None
    assert rejected.code == "NOT_READABLE"
    again.session.see(dice_seen(4, 3))
    assert again.state.phase is Phase.ROLL, "the reading is shown before it is confirmed"
    assert again.session.press() is None
    assert again.state.phase is Phase.ACTION1


def test_a_press_before_an_unreadable_verdict_is_refused_with_it(two: Stage) -> None:
    reading(two)
    two.session.press()
    two.session.press()
    two.session.see(tilted("green"))
    assert [said.text for said in two.told] == ["The green die isn’t lying flat. Throw it again."]
    two.port.is_reading = False
    two.session.see(dice_seen(4, 3))
    assert two.state.phase is Phase.ROLL, "the press was answered; the dice were thrown since"


def test_a_press_between_frames_waits_for_the_next_frame(two: Stage) -> None:
    """The lamp's light changes, and frames are left out: a sleeve may nudge a die unseen."""
    two.port.is_unwatched = True
    two.session.see(dice_seen(4, 3))
    assert two.session.press() is None
    two.time.pass_s(0.4)
    assert two.state.phase is Phase.ROLL
    two.port.is_unwatched = False
    two.time.pass_s(0.2)
    assert two.state.phase is Phase.ACTION1
    assert two.state.roll.white_sum == 7


def test_a_reading_while_nobody_watches_does_not_answer_a_press(two: Stage) -> None:
    two.port.is_unwatched = True
    two.session.see(dice_seen(4, 3))
    two.session.press()
    two.session.see(replace(dice_seen(4, 3), frame=9))
    assert two.state.phase is Phase.ROLL
    two.port.is_unwatched = False
    two.time.pass_s(WATCHED_S)
    assert two.state.phase is Phase.ACTION1


def test_dice_nudged_between_frames_are_not_confirmed(two: Stage) -> None:
    two.port.is_unwatched = True
    two.session.see(dice_seen(4, 3))
    two.session.press()
    two.time.pass_s(0.3)
    two.port.is_unwatched = False
    two.port.is_reading = True
    two.session.see(TrayView(TrayStatus.MOVING))
    two.time.pass_s(0.3)
    assert two.state.phase is Phase.ROLL
    two.session.see(dice_seen(1, 3))
    assert two.state.roll.white_sum == 4


def test_a_press_that_never_gets_its_verdict_is_answered_all_the_same(two: Stage) -> None:
    reading(two)
    two.session.press()
    two.port.is_reading = False
    two.time.pass_s(VERDICT_S)
    assert [said.text for said in two.told] == ["The dice are still moving."]
    two.session.see(dice_seen(4, 3))
    assert two.state.phase is Phase.ROLL


def test_a_press_waits_for_a_busy_machine_that_is_still_reading(two: Stage) -> None:
    reading(two)
    two.session.press()
    two.time.pass_s(4.5)
    assert two.told == []
    two.session.see(dice_seen(4, 3))
    assert two.state.phase is Phase.ACTION1
    assert two.confirmed == 1


def test_a_press_does_not_wait_for_ever(two: Stage) -> None:
    reading(two)
    two.session.press()
    two.time.pass_s(LONGEST_VERDICT_S)
    assert [said.kind for said in two.told] == ["refused"]


def test_a_refusal_is_taken_off_the_screen_once_its_reason_is_gone(two: Stage) -> None:
    two.session.see(tilted("green"))
    two.session.press()
    assert shown(two).startswith("The green die isn’t lying flat.")
    two.session.see(dice_seen(4, 3))
    assert shown(two) == "Ada throws next."
    two.session.press()
    two.time.pass_s(SAME_PRESS_S)
    two.session.press()
    assert shown(two) == "Waiting for Ada and Ben."
    two.session.see(TrayView(TrayStatus.MOVING))
    assert shown(two) == "Waiting for Ada and Ben.", "what lies in the tray does not matter"
    number = two.session.view().announced
    two.answer(0, None)
    assert shown(two).startswith("White 7.")
    assert two.session.view().announced == number, "it is no news"
    assert [said.kind for said in two.told] == [
        "refused",
        "retracted",
        "roll",
        "refused",
        "retracted",
    ]


def test_a_refusal_while_the_tray_stays_as_it_is_stays_too(two: Stage) -> None:
    two.session.see(tilted("green"))
    two.session.press()
    two.session.see(replace(tilted("green"), frame=9))
    assert shown(two).startswith("The green die isn’t lying flat.")


def test_a_refusal_stays_while_the_picture_is_blamed(two: Stage) -> None:
    unread = tilted("green")
    two.session.see(unread)
    two.session.press()
    blurred = Problem(ProblemCode.PICTURE_BLURRED)
    two.session.see(replace(unread, problems=(*unread.problems, blurred)))
    two.session.press()
    assert shown(two).startswith("The green die isn’t lying flat.")
    assert [said.kind for said in two.told] == ["refused"]


def test_a_press_while_dice_roll_is_rejected_at_once(two: Stage) -> None:
    two.session.see(TrayView(TrayStatus.MOVING))
    rejected = two.session.press()
    assert rejected is not None
    assert rejected.code == "NOT_READABLE"
    two.session.see(dice_seen(4, 3))
    assert two.state.phase is Phase.ROLL


def test_a_remembered_press_does_not_confirm_a_typed_roll(two: Stage) -> None:
    reading(two)
    two.session.press()
    two.type_roll(1, 1)
    two.session.see(dice_seen(4, 3))
    two.time.pass_s(10.0)
    assert two.state.roll.white_sum == 2
    assert two.confirmed == 1
    assert [said.kind for said in two.told] == ["roll"]


def test_a_press_ends_with_the_game_whose_dice_were_being_read(two: Stage) -> None:
    for end in (two.session.pause, two.session.end):
        reading(two)
        assert two.session.press() is None
        assert end() is None
        said = len(two.told)
        two.time.pass_s(2 * LONGEST_VERDICT_S)
        assert two.told[said:] == [], "nobody waits for that roll any more"
        assert two.session.start("base", 0) is None
        reading(two)
        assert two.session.press() is None
        assert end() is None
        assert two.session.start("base", 0) is None
        two.session.see(dice_seen(4, 3))
        assert two.state.phase is Phase.ROLL, "the press was meant for the other game"


def test_a_hold_names_the_players_who_passed(two: Stage) -> None:
    two.roll(4, 3)
    two.answer(0, "R7")
    two.told.clear()
    assert two.session.hold() is None
    assert [(said.kind, said.text) for said in two.told] == [
        ("passed", "No answer, so they pass: Ben.")
    ]
    assert shown(two).startswith("Ada may cross "), "what is shown is what is left of the roll"
    two.told.clear()
    assert two.session.hold() is None
    assert [said.kind for said in two.told] == ["turn"], "action 2 ends with the next turn"


def test_repeating_announces_the_options_still_open(two: Stage) -> None:
    two.roll(4, 3)
    two.session.say_again()
    first = two.told[-1].text
    assert "red 6 or 7" in first
    two.answer(0, "R7")
    two.answer(1, None)
    two.time.pass_s(10.0)
    assert two.state.phase is Phase.ACTION2
    two.session.say_again()
    assert two.told[-1].text.startswith("White 7.")
    assert "red" not in two.told[-1].text, "red 7 is crossed, and 6 and 7 are behind it"
    assert "yellow 6 or 7" in two.told[-1].text


def test_a_hold_is_meant_for_the_action_it_began_in(two: Stage) -> None:
    two.roll(4, 3)
    two.answer(0, "R7")
    two.time.pass_s(10.0)
    two.answer(1, None)  # while the button is held down
    two.time.pass_s(1.0)
    assert two.state.phase is Phase.ACTION2
    rejected = two.session.hold(1.5)
    assert rejected is not None
    assert rejected.code == "GONE_ON"
    assert (two.state.phase, sum(two.state.misses)) == (Phase.ACTION2, 0)
    two.time.pass_s(1.0)
    assert two.session.hold(1.5) is None
    assert two.state.phase is Phase.ROLL


def test_a_hold_while_dice_are_due_is_a_press(two: Stage) -> None:
    two.session.see(dice_seen(3, 4))
    assert two.session.hold(1.5) is None
    assert two.state.phase is Phase.ACTION1
    assert two.confirmed == 1


def test_a_hold_without_a_game_says_what_a_press_says(stage: Stage) -> None:
    held, pressed = stage.session.hold(1.5), stage.session.press()
    assert held is not None
    assert held.code == "NO_GAME"
    assert pressed == held


def test_a_press_waits_for_a_reading_with_the_die_that_came_back(two: Stage) -> None:
    two.close_red()
    two.session.hold()
    two.session.hold()
    two.session.see(dice_seen(4, 3, red=0))
    while two.state.phase is not Phase.ROLL or DieColour.RED not in two.state.dice:
        assert two.session.undo() is None
    two.told.clear()
    assert two.session.press() is None
    assert two.told == []
    two.session.see(dice_seen(4, 3))
    assert two.state.phase is Phase.ACTION1


def test_a_hold_that_closes_a_row_announces_the_row_first(two: Stage) -> None:
    two.close_red()
    assert two.session.hold() is None
    assert [said.kind for said in two.told[-2:]] == ["closed", "passed"]


def test_a_press_right_after_a_removal_waits_for_the_verdict(two: Stage) -> None:
    two.close_red()
    two.session.see(dice_seen(4, 3))  # thrown early, six dice
    two.session.hold()
    two.session.hold()
    assert two.state.phase is Phase.ROLL
    two.told.clear()
    assert two.session.press() is None
    two.session.see(replace(dice_seen(4, 3), frame=9))
    two.session.see(TrayView(TrayStatus.READING))
    assert two.told == []
    two.session.see(dice_seen(4, 3, red=0))
    assert two.state.phase is Phase.ACTION1
    assert [said.kind for said in two.told] == ["roll"]
