"""pyarrow's AzureFileSystem, which is the Azure SDK for C++: data sets of Parquet files, streams, listings."""

import pyarrow
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet
import pytest

from conftest import noise, program


@pytest.fixture
def files(account):
    scheme = "http" if account.is_plain_http else "https"
    return pyarrow.fs.AzureFileSystem(
        account.name,
        account_key=account.key,
        blob_storage_authority=account.blob_authority,
        blob_storage_scheme=scheme,
        # It asks there, in vain, whether the account has a hierarchical namespace.
        dfs_storage_authority=account.blob_authority,
        dfs_storage_scheme=scheme,
    )


@program("pyarrow")
def test_pyarrow_writes_and_reads_a_data_set(files, container):
    table = pyarrow.table({"day": [1, 1, 2, 3], "value": [1.5, 2.5, 3.5, 4.5]})
    pyarrow.dataset.write_dataset(
        table, f"{container}/data", format="parquet", partitioning=["day"], partitioning_flavor="hive", filesystem=files
    )
    read = pyarrow.dataset.dataset(f"{container}/data", format="parquet", partitioning="hive", filesystem=files)
    assert read.to_table().num_rows == 4
    assert read.to_table(filter=pyarrow.dataset.field("day") == 1)["value"].to_pylist() == [1.5, 2.5]
    names = {info.path for info in files.get_file_info(pyarrow.fs.FileSelector(f"{container}/data"))}
    assert names == {f"{container}/data/day={day}" for day in (1, 2, 3)}


@program("pyarrow")
def test_pyarrow_tells_what_is_there_and_what_is_not(files, container):
    with files.open_output_stream(f"{container}/folder/a", metadata={"Content-Type": "text/plain"}) as stream:
        stream.write(b"a")
    asked = [f"{container}/folder/a", f"{container}/folder", f"{container}/missing", "no-such-container/a"]
    kinds = [info.type for info in files.get_file_info(asked)]
    missing = pyarrow.fs.FileType.NotFound
    assert kinds == [pyarrow.fs.FileType.File, pyarrow.fs.FileType.Directory, missing, missing]
    with pytest.raises(FileNotFoundError):
        files.open_input_file(f"{container}/missing")


@program("pyarrow")
def test_pyarrow_streams_a_large_file_and_reads_parts_of_it(files, container):
    content = noise(12 << 20)
    with files.open_output_stream(f"{container}/large") as stream:
        for start in range(0, len(content), 1 << 20):
            stream.write(content[start : start + (1 << 20)])
    with files.open_input_file(f"{container}/large") as file:
        assert file.size() == len(content)
        file.seek(5 << 20)
        assert file.read(1000) == content[5 << 20 : (5 << 20) + 1000]
    files.copy_file(f"{container}/large", f"{container}/copy")
    with files.open_input_stream(f"{container}/copy") as file:
        assert file.read() == content
    files.delete_file(f"{container}/large")
    assert [info.path for info in files.get_file_info(pyarrow.fs.FileSelector(container))] == [f"{container}/copy"]
