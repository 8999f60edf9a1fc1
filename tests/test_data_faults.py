import pytest

from genspp.data.faults import Faults, check_on_bad_row
from genspp.errors import DataError, SettingsError


def faults(count):
    found = Faults("a.csv")
    for number in range(count, 0, -1):
        found.add(number, f"fault {number}")
        found.add(number, "another of the same row")
    return found


def test_none_one_and_many():
    faults(0).refuse()
    with pytest.raises(DataError, match=r"^a\.csv, line 1: fault 1 \(a hint\)\.$"):
        faults(1).refuse("a hint")
    with pytest.raises(
        DataError, match=r"^a\.csv has 2 rows that cannot be used:\n  line 1: fault 1\n  line 2: fault 2$"
    ):
        faults(2).refuse()


def test_the_first_twenty_are_listed():
    with pytest.raises(DataError) as error:
        faults(1023).refuse()
    first, *listed, last = str(error.value).splitlines()
    assert "1,023 rows" in first and last == "  and 1,003 more"
    assert listed == [f"  line {number}: fault {number}" for number in range(1, 21)]
    assert "more" not in faults(20).note(30)[0]


def test_what_is_said_of_rows_that_were_left_out():
    assert faults(0).note(5) == ()
    assert faults(1).note(5) == ("1 of 5 rows of a.csv were left out:", "  line 1: fault 1")


def test_what_becomes_of_bad_rows():
    check_on_bad_row("skip")
    with pytest.raises(SettingsError, match="on_bad_row is 'ignore'; choose one of error, skip"):
        check_on_bad_row("ignore")
