"""True arguments of a call whose secrets nobody is to read: sealed in its row, opened for the call alone."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
from typing import Final

NONCE_BYTES: Final = 12  # what AES-GCM is made for
KEY_BYTES: Final = 32  # AES-256


class Unsealable(Exception):
    """It was sealed with another key, for another call, or was changed."""


class Sealer:
    """Seals with the key of this data folder. `about` binds a text to where it belongs: elsewhere it does not open."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, text: str, about: str) -> str:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(NONCE_BYTES)
        sealed = AESGCM(self._key).encrypt(nonce, text.encode("utf-8", "surrogatepass"), _bytes(about))
        return base64.b64encode(nonce + sealed).decode()

    def open(self, sealed: str, about: str) -> str:
        """Errors: Unsealable."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            whole = base64.b64decode(sealed, validate=True)
            opened = AESGCM(self._key).decrypt(whole[:NONCE_BYTES], whole[NONCE_BYTES:], _bytes(about))
            return opened.decode("utf-8", "surrogatepass")
        except (InvalidTag, binascii.Error, ValueError) as error:
            raise Unsealable("sealed with another key, or changed") from error

    def mark(self, text: str, about: str) -> str:
        """A mark that whoever has the key makes of the same text again, without the library that seals: that takes 8 MB."""
        return hmac.digest(self._key, _bytes(f"mark of {about}\0{text}"), "sha256").hex()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
