"""The key of a data folder that signs the audit, and what others need to check its signatures.

`audit.key` (mode 0600) holds 32 random bytes. What leaves the folder is signed with Ed25519, with a key made of these: whoever
has the public half checks it, and can't make one. The head that stays beside the key, and is written after each seal, has a
mark instead (HMAC-SHA256 with the same bytes): only who could sign anyway can check it, and no process that is at rest has to
load a library for it.
"""

from __future__ import annotations

import hmac
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from runtime.errors import StoreError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_NAME: Final = "audit.key"
AUDIT_KEY_BYTES: Final = 32
SIGNATURE_PREFIX: Final = "ed25519:"
PURPOSE: Final = b"signalbox audit ed25519"


def checks_out(public: str, words: str, signature: str) -> bool:
    """True if the owner of the public key, in hex, signed these words."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature.removeprefix(SIGNATURE_PREFIX)), words.encode())
    except (InvalidSignature, ValueError):
        return False
    return signature.startswith(SIGNATURE_PREFIX)


class AuditFileFault(StoreError):
    """A file beside the audit can't be trusted or read: no other try mends that, a person does."""


class AuditKey:
    """The key of one data folder, made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / KEY_NAME

    @property
    def is_there(self) -> bool:
        return self._path.exists()

    @property
    def public(self) -> str:
        """The public half, in hex."""
        return self._private().public_key().public_bytes_raw().hex()

    def mark(self, words: str) -> str:
        """A mark that counts beside this key alone."""
        return hmac.digest(self._secret(), words.encode(), "sha256").hex()

    def sign(self, words: str) -> str:
        return f"{SIGNATURE_PREFIX}{self._private().sign(words.encode()).hex()}"

    def signed(self, words: str, signature: str) -> bool:
        """True if a signature or a mark was made here."""
        if signature.startswith(SIGNATURE_PREFIX):
            return checks_out(self.public, words, signature)
        return hmac.compare_digest(signature.encode("utf-8", "replace"), self.mark(words).encode())

    def _private(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(hmac.digest(self._secret(), PURPOSE, "sha256"))

    def _secret(self) -> bytes:
        """Errors: AuditFileFault for half a key, by which anybody could sign."""
        if not self._path.exists():
            self._make()
        secret = self._path.read_bytes()
        if len(secret) != AUDIT_KEY_BYTES:
            raise AuditFileFault(f"{self._path} is damaged: it holds {len(secret)} bytes instead of {AUDIT_KEY_BYTES}.")
        return secret

    def _make(self) -> None:
        """Put a key there as a whole. Of two processes that make one the first wins."""
        descriptor, fresh = tempfile.mkstemp(prefix=f"{KEY_NAME}.", dir=self._path.parent)  # 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(os.urandom(AUDIT_KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                self._path.hardlink_to(fresh)
        finally:
            Path(fresh).unlink()
