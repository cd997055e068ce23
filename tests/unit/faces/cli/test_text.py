from __future__ import annotations

from ldiversity.faces.cli._text import one_line, printable, shell_line


def test_commands_are_quoted_for_a_shell() -> None:
    assert shell_line("estimate", "a b", "--where", "age >= 5") == "estimate 'a b' --where 'age >= 5'"


def test_control_and_direction_characters_are_written_as_escapes() -> None:
    assert printable("a\x1b[2J\u202e\n") == "a\\x1b[2J\\u202e\\n"


def test_other_characters_stay_as_they_are() -> None:
    assert printable("naïve 病 🙂") == "naïve 病 🙂"


def test_a_message_of_several_lines_becomes_one() -> None:
    assert one_line("first.\n  second.\n") == "first. second."
