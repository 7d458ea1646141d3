"""HTTPS in front of the blob service, for programs that accept no other address than one like Azure's.

It is a proxy as HTTPS_PROXY means it: it connects a client, whatever host that asks for, with a listener that has a
certificate for the host and passes the bytes on to the service.
"""

import asyncio
import datetime
import ssl
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PIECE_BYTES = 1 << 16


@contextmanager
def tls_front(host, service, folder):
    """Serves until the block ends; yields the address of the proxy and the file with its certificate."""
    certificate = folder / "certificate.pem"
    write_certificate(host, certificate)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    loop = asyncio.new_event_loop()
    port = loop.run_until_complete(listen(context, service))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}", certificate
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


async def listen(context, service):
    """Opens both listeners and returns the port of the proxy."""

    async def serve(reader, writer):
        await connect(reader, writer, service)

    secure = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)

    async def serve_proxy(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await connect(reader, writer, secure.sockets[0].getsockname())

    proxy = await asyncio.start_server(serve_proxy, "127.0.0.1", 0)
    return proxy.sockets[0].getsockname()[1]


async def connect(reader, writer, address):
    """Passes bytes on in both directions until both ends are done."""
    far_reader, far_writer = await asyncio.open_connection(*address)
    await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))


async def pass_on(source, target):
    with suppress(OSError):
        while piece := await source.read(PIECE_BYTES):
            target.write(piece)
            await target.drain()
    target.close()


def write_certificate(host: str, path: Path):
    """Writes a certificate, which signs itself, together with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + certificate.public_bytes(encoding))
