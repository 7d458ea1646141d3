"""The asynchronous client of blobs, whose HTTP stack and signing are its own."""

import asyncio

import pytest
from azure.core import MatchConditions
from azure.core.credentials import AzureSasCredential
from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob import BlobBlock
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from account import CLIENT_OPTIONS
from blob_contents import MIB, some_bytes
from blob_sas import container_sas_token
from refusal import refused
from results import operation


@pytest.fixture
async def async_blobs(account):
    async with BlobServiceClient(account.blob_endpoint, credential=account.credential, **CLIENT_OPTIONS) as client:
        yield client


@pytest.fixture
async def async_container(account, container):
    options = CLIENT_OPTIONS | {"max_single_put_size": MIB, "max_block_size": MIB, "max_single_get_size": MIB}
    async with ContainerClient(
        account.blob_endpoint, container.container_name, credential=account.credential, **options
    ) as client:
        yield client


async def content_of(blob, **options):
    return await (await blob.download_blob(**options)).readall()


@operation("CreateContainer")
async def test_async_containers_come_and_go(async_blobs, container_names):
    name = container_names()
    container = await async_blobs.create_container(name, metadata={"colour": "red"})
    assert [found.name async for found in async_blobs.list_containers(name_starts_with=name)] == [name]
    with refused(409, "ContainerAlreadyExists", ResourceExistsError):
        await container.create_container()
    await async_blobs.delete_container(name)
    assert not await container.exists()


@operation("PutBlob")
@pytest.mark.parametrize("size", [0, 1, MIB, MIB + 1, 21 * MIB + 3])
async def test_async_content_of_every_size_comes_back(async_container, size):
    content = some_bytes(size)
    blob = async_container.get_blob_client("blob")
    await blob.upload_blob(content, max_concurrency=4)
    assert await content_of(blob, max_concurrency=4) == content


@operation("PutBlob")
@pytest.mark.parametrize("name", ["a/b c", "Grüße", "100%", "a+b", "what?#", "a%2Fb"])
async def test_an_async_odd_name_survives(async_container, name):
    blob = async_container.get_blob_client(name)
    await blob.upload_blob(b"odd", metadata={"a": "1"})
    assert await content_of(blob) == b"odd"
    assert [found.name async for found in async_container.list_blobs()] == [name]
    await blob.delete_blob()
    assert not await blob.exists()


@operation("GetBlob")
async def test_an_async_range_is_read(async_container, blob):
    client = async_container.get_blob_client("blob")
    assert await content_of(client, offset=3, length=3) == b"345"
    with refused(416, "InvalidRange"):
        await content_of(client, offset=11, length=1)


@operation("GetBlob")
async def test_an_async_missing_blob_is_not_found(async_container):
    with refused(404, "BlobNotFound", ResourceNotFoundError):
        await content_of(async_container.get_blob_client("missing"))


@operation("PutBlob")
async def test_async_writers_compare_and_swap(async_container, blob):
    client = async_container.get_blob_client("blob")
    etag = (await client.get_blob_properties()).etag
    condition = {"etag": etag, "match_condition": MatchConditions.IfNotModified, "overwrite": True}

    async def write(index):
        try:
            await client.upload_blob(str(index), **condition)
            return index
        except ResourceModifiedError:
            return None

    won = [index for index in await asyncio.gather(*map(write, range(8))) if index is not None]
    assert len(won) == 1
    assert await content_of(client) == str(won[0]).encode()


@operation("PutBlockList")
async def test_async_blocks_are_put_together(async_container):
    blob = async_container.get_blob_client("blob")
    await asyncio.gather(*(blob.stage_block(f"{index:06}", bytes([65 + index])) for index in range(10)))
    await blob.commit_block_list([BlobBlock(f"{index:06}") for index in reversed(range(10))])
    assert await content_of(blob) == b"JIHGFEDCBA"


@operation("AppendBlock")
async def test_async_appends_all_arrive(async_container):
    blob = async_container.get_blob_client("log")
    await blob.create_append_blob()
    await asyncio.gather(*(blob.append_block(f"{index:03}\n".encode()) for index in range(30)))
    assert sorted((await content_of(blob)).split()) == [f"{index:03}".encode() for index in range(30)]


@operation("ListBlobs")
async def test_async_blobs_are_listed_in_pages(async_container):
    for index in range(7):
        await async_container.upload_blob(f"{index}", b"")
    pages = async_container.list_blobs(results_per_page=3).by_page()
    found = [[blob.name async for blob in page] async for page in pages]
    assert [name for page in found for name in page] == [str(index) for index in range(7)]


@operation("AcquireBlobLease")
async def test_an_async_lease_goes_its_way(async_container, blob):
    client = async_container.get_blob_client("blob")
    lease = await client.acquire_lease(lease_duration=15)
    with refused(412, "LeaseIdMissing"):
        await client.set_blob_metadata({"a": "1"})
    await lease.renew()
    await client.set_blob_metadata({"a": "1"}, lease=lease)
    assert await lease.break_lease(0) == 0
    await client.set_blob_metadata({"a": "2"})


@operation("CopyBlob")
async def test_an_async_copy_is_made_at_once(async_container, blob):
    copy = async_container.get_blob_client("copy")
    assert (await copy.start_copy_from_url(blob.url))["copy_status"] == "success"
    assert await content_of(copy) == b"0123456789"


@operation("BlobBatch")
async def test_an_async_batch_deletes(async_container):
    for index in range(3):
        await async_container.upload_blob(f"{index}", b"")
    answers = await async_container.delete_blobs("0", "missing", "2", raise_on_any_failure=False)
    assert [answer.status_code async for answer in answers] == [202, 404, 202]
    assert [blob.name async for blob in async_container.list_blobs()] == ["1"]


@operation("Authentication")
async def test_an_async_container_sas_is_used(account, container, blob):
    credential = AzureSasCredential(container_sas_token(account, container.container_name, permission="r"))
    async with ContainerClient(
        account.blob_endpoint, container.container_name, credential=credential, **CLIENT_OPTIONS
    ) as client:
        assert await content_of(client.get_blob_client("blob")) == b"0123456789"
        with refused(403, "AuthorizationPermissionMismatch"):
            await client.delete_blob("blob")
