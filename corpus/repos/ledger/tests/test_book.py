from ledger import Book, parse_amount


def test_balance():
    book = Book.read(["# January", "2026-01-01;Salary;1000", "", "2026-01-31;Coffee beans;-12.50"])
    assert book.balance() == 98750


def test_statement_ends_with_the_balance():
    assert Book.read(["2026-01-01;Salary;1000"]).statement().splitlines()[-1].split() == ["balance", "1000.00"]


def test_whole_amounts():
    assert parse_amount("3") == 300
