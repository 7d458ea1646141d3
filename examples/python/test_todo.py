"""The fixture comes with `pip install tablerock`: a fresh account for each test, on a server in memory."""

from todo import run


def test_an_item_from_its_addition_to_the_archive(tablerock_account):
    def todo(*arguments):
        return run(tablerock_account.connection_string, *arguments)

    (tree,) = todo("add", "home", "2026-12-24", "Buy a tree")
    (milk,) = todo("add", "home", "2026-12-01", "Buy milk")
    todo("add", "work", "2026-12-02", "Ship it")
    assert todo("list", "home") == [f"2026-12-01 {milk} Buy milk", f"2026-12-24 {tree} Buy a tree"]

    assert todo("done", "home", milk) == [f"done {milk}"]
    assert todo("list", "home") == [f"2026-12-24 {tree} Buy a tree"]
    assert todo("done", "home", milk) == [f"done {milk}"]
    assert todo("work") == ["archived 1"]
    assert todo("done", "home", milk) == [f"no item {milk} in home"]
    assert todo("work") == ["archived 0"]
    assert todo("archive", "home") == ["Buy milk"]
