"""Certificates that the gateway shows to its own browser, so that it can see what is asked for over https.

One key for the life of the process, which never leaves it; the browser is told to trust that key and nothing else is. Whoever
the gateway itself speaks to has to prove its identity to the system's authorities, as for every request of a tool.
"""

from __future__ import annotations

import base64
import hashlib
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOSTS_KEPT: Final = 256
VALID_FOR: Final = timedelta(days=30)
CLOCK_APART: Final = timedelta(days=1)


class Certificates:
    """Makes a server context for each host."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.context = lru_cache(HOSTS_KEPT)(self._context)

    @property
    def pin(self) -> str:
        """The key as Chromium's `--ignore-certificate-errors-spki-list` has it."""
        public = self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return base64.b64encode(hashlib.sha256(public).digest()).decode()

    def _context(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        private = self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        with tempfile.NamedTemporaryFile(prefix="signalbox-browser-") as file:  # `ssl` takes them from files alone
            path = Path(file.name)
            path.write_bytes(self._signed(host) + private)
            context.load_cert_chain(path)
        return context

    def _signed(self, host: str) -> bytes:
        now, name = datetime.now(UTC), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Signalbox")])
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - CLOCK_APART)
            .not_valid_after(now + VALID_FOR)
            .add_extension(x509.SubjectAlternativeName([_named(host)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return made.public_bytes(serialization.Encoding.PEM)


def _named(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)
