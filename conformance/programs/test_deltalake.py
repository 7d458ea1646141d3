"""Delta Lake tables through delta-rs: every commit is a file that must not exist yet."""

import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from conftest import program


@pytest.fixture
def options(account):
    return {
        "azure_storage_account_name": account.name,
        "azure_storage_account_key": account.key,
        "azure_storage_endpoint": account.blob,
        "azure_allow_http": "true",
    }


@pytest.fixture
def address(container):
    return f"az://{container}/table"


def rows(start, end):
    return pyarrow.table({"id": list(range(start, end)), "name": [f"n{number}" for number in range(start, end)]})


@program("deltalake")
def test_deltalake_writes_changes_and_compacts_a_table(address, options):
    for start in (0, 10, 20):
        write_deltalake(address, rows(start, start + 10), mode="append", storage_options=options)
    table = DeltaTable(address, storage_options=options)
    table.delete("id >= 25")
    merge = table.merge(rows(20, 40), "t.id = s.id", source_alias="s", target_alias="t")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    assert table.to_pyarrow_table().num_rows == 40
    table.optimize.compact()
    table.create_checkpoint()
    assert len(table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)) > 0
    assert DeltaTable(address, storage_options=options).to_pyarrow_table().num_rows == 40


@program("deltalake")
def test_deltalake_reads_an_earlier_version(address, options):
    write_deltalake(address, rows(0, 10), storage_options=options)
    write_deltalake(address, rows(10, 15), mode="overwrite", storage_options=options)
    assert DeltaTable(address, version=0, storage_options=options).to_pyarrow_table().num_rows == 10
    assert DeltaTable(address, storage_options=options).to_pyarrow_table().num_rows == 5


@program("deltalake")
def test_deltalake_lets_one_of_two_conflicting_commits_win(address, options):
    write_deltalake(address, rows(0, 10), storage_options=options)
    first = DeltaTable(address, storage_options=options)
    second = DeltaTable(address, storage_options=options)
    first.delete("id < 5")
    with pytest.raises(CommitFailedError):
        second.delete("id < 7")
    assert DeltaTable(address, storage_options=options).to_pyarrow_table().num_rows == 5
