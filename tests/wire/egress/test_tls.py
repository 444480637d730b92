"""HTTPS to the checked address, with the name that was asked for."""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from runtime.egress import Egress, NoAnswer, Refused, Why
from runtime.lean import late_certificates
from tests.wire.egress.listener import Names, everything, get, listening, redirect


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of `right.test` in one file, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "right.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("right.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def asked_for() -> list[str]:
    """The names in the handshakes."""
    return []


@pytest.fixture
def server(certificate: Path, asked_for: list[str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _, name, __: asked_for.append(name)
    return context


async def test_a_late_context_trusts_the_machines_certificates_from_its_first_connection(
    server: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those that aiohttp makes while it is imported."""
    with late_certificates():
        trusting, doubting = ssl.create_default_context(), ssl.create_default_context()
    assert trusting.cert_store_stats()["x509_ca"] == 0
    async with listening(ssl=server) as site:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        for _ in range(2):
            assert await status(site.port, trusting) == 200
        monkeypatch.setenv("SSL_CERT_FILE", os.devnull)
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await status(site.port, doubting)
    assert type(ssl.create_default_context()) is ssl.SSLContext


async def status(port: int, tls: ssl.SSLContext) -> int:
    """What a client of aiohttp's is answered."""
    async with aiohttp.ClientSession() as client:
        address = f"https://127.0.0.1:{port}/"
        async with client.get(address, ssl=tls, server_hostname="right.test") as answer:
            return answer.status


@pytest.fixture
def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


NAMES = {"right_test": [["127.0.0.1"]], "wrong_test": [["127.0.0.1"]]}


async def test_the_handshake_carries_the_name_and_the_right_one_is_believed(
    server: ssl.SSLContext, trusting: ssl.SSLContext, asked_for: list[str]
) -> None:
    async with listening(ssl=server) as site:
        egress = Egress(look_up=Names(**NAMES), allow=[site.opening], tls=trusting)
        assert (await get(egress, f"https://right.test:{site.port}/")).body == b"hello"
        assert asked_for == ["right.test"]


async def test_another_name_is_not_believed(server: ssl.SSLContext, trusting: ssl.SSLContext) -> None:
    async with listening(ssl=server) as site:
        egress = Egress(look_up=Names(**NAMES), allow=[site.opening], tls=trusting)
        for host in ("wrong.test", "127.0.0.1"):
            with pytest.raises(NoAnswer, match="could not prove its identity") as caught:
                await get(egress, f"https://{host}:{site.port}/")
            assert not caught.value.sent
        assert site.heads == []


async def test_an_unknown_authority_is_not_believed(server: ssl.SSLContext) -> None:
    async with listening(ssl=server) as site:
        with pytest.raises(NoAnswer, match="could not prove its identity: self-signed certificate"):
            await get(Egress(look_up=Names(**NAMES), allow=[site.opening]), f"https://right.test:{site.port}/")
        assert site.heads == []


async def test_an_encrypted_page_does_not_lead_to_a_plain_one(server: ssl.SSLContext, trusting: ssl.SSLContext) -> None:
    async with listening() as plain, listening(redirect(f"http://right.test:{plain.port}/"), ssl=server) as site:
        rules = [everything(plain.port, site.port)]
        egress = Egress(rules, look_up=Names(**NAMES), allow=[site.opening, plain.opening], tls=trusting)
        with pytest.raises(Refused, match="which is not encrypted") as caught:
            await get(egress, f"https://right.test:{site.port}/")
        assert (caught.value.why, plain.connections) == (Why.REDIRECT, 0)
