"""Interpreters for the real servers are found by running them, and a missing one is said, not passed over."""

import pytest

from tests.live.pythons import NoPython, find_python


def test_a_found_interpreter_runs():
    assert find_python((3, 11)).exists()


def test_no_interpreter_that_is_new_enough_is_an_error_that_says_so():
    with pytest.raises(NoPython, match=r"no Python >= 3\.99 found"):
        find_python((3, 99))


def test_a_chosen_interpreter_that_does_not_run_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("PLACET_TEST_PYTHON", str(tmp_path / "python"))

    assert find_python((3, 11)) != tmp_path / "python"
