"""The crate object_store, through its Python package obstore; DataFusion, Polars, LanceDB and InfluxDB build on it."""

import obstore
import pytest
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import AzureStore

from conftest import noise, program


@pytest.fixture
def store(account, container):
    options = {"allow_http": True}
    return AzureStore(
        container,
        account_name=account.name,
        account_key=account.key,
        endpoint=account.blob,
        client_options=options,
    )


@program("object_store")
def test_object_store_puts_only_what_is_new_or_unchanged(store):
    first = obstore.put(store, "a/b.txt", b"first", mode="create")
    with pytest.raises(AlreadyExistsError):
        obstore.put(store, "a/b.txt", b"again", mode="create")
    obstore.put(store, "a/b.txt", b"second", mode={"e_tag": first["e_tag"]})
    with pytest.raises(PreconditionError):
        obstore.put(store, "a/b.txt", b"third", mode={"e_tag": first["e_tag"]})
    assert bytes(obstore.get(store, "a/b.txt").bytes()) == b"second"
    with pytest.raises(FileNotFoundError):
        obstore.head(store, "missing")


@program("object_store")
def test_object_store_uploads_in_parts_and_reads_ranges(store):
    content = noise(11 << 20)
    obstore.put(store, "large", content, attributes={"Content-Type": "text/plain"}, chunk_size=5 << 20)
    parts = obstore.get_ranges(store, "large", starts=[0, 6 << 20], lengths=[10, 10])
    assert [bytes(part) for part in parts] == [content[:10], content[6 << 20 : (6 << 20) + 10]]
    assert obstore.get(store, "large").attributes["Content-Type"] == "text/plain"
    obstore.copy(store, "large", "copy")
    with pytest.raises(AlreadyExistsError):
        obstore.copy(store, "large", "copy", overwrite=False)
    obstore.rename(store, "copy", "moved")
    assert obstore.head(store, "moved")["size"] == len(content)


@program("object_store")
def test_object_store_lists_and_deletes_many(store):
    for number in range(30):
        obstore.put(store, f"many/{number % 3}/{number:02}", b"x")
    assert len(obstore.list(store, prefix="many").collect()) == 30
    assert sorted(obstore.list_with_delimiter(store, "many")["common_prefixes"]) == ["many/0", "many/1", "many/2"]
    later = obstore.list(store, prefix="many/2", offset="many/2/20").collect()
    assert [meta["path"] for meta in later] == ["many/2/23", "many/2/26", "many/2/29"]
    obstore.delete(store, [f"many/{number % 3}/{number:02}" for number in range(30)])
    assert obstore.list(store, prefix="many").collect() == []
