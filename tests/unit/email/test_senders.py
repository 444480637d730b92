"""The server's word on who a sender is; whatever came with the mail counts for nothing."""

from __future__ import annotations

import pytest

from signalbox_email.incoming.senders import vouched

US = "mx.example.org"
DMARC = f"{US}; dmarc=pass (p=reject) header.from=example.com"
DKIM = f"{US}; dkim=pass header.d=example.com header.s=x; spf=pass smtp.mailfrom=example.com"


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ([DMARC], True),
        ([DKIM], True),
        ([f"{US} 1; dkim=pass header.i=@example.com"], True),
        ([f"{US}; dkim=fail header.d=example.com; dkim=pass header.d=example.com"], True),
        ([], False),
        (["mx.evil.example; dmarc=pass header.from=example.com"], False),
        ([f"{US}.evil.example; dmarc=pass header.from=example.com"], False),
        ([f"{US}; none"], False),
        ([f"{US}; spf=pass smtp.mailfrom=example.com"], False),
        ([f"{US}; dmarc=fail header.from=example.com; dkim=pass header.d=example.com"], False),
        ([f"{US}; dmarc=pass header.from=evil.example"], False),
        ([f"{US}; dkim=pass header.d=evil.example"], False),
        ([f"{US}; dkim=pass header.d=notexample.com"], False),
        ([f"{US}; dkim=pass header.d=com"], False),
        ([f"{US}; x=(dmarc=pass) dkim=fail header.d=example.com"], False),
        # A forged header of our server's name stands below its own.
        ([f"{US}; dmarc=fail header.from=example.com", DMARC], False),
        ([f"{US}; dkim=none", DKIM], False),
        ([f"{US}; dmarc=pass header.from=example.com; dmarc=fail"], False),
        (["", ";", "=", "(((("], False),
        # Senders choose the local part of an address, a signature's identity and words in comments.
        ([f'{US}; spf=pass smtp.mailfrom="a; dmarc=pass header.from=example.com; b"@evil.example'], False),
        ([f'{US}; spf=pass smtp.mailfrom="a\\"; dmarc=pass header.from=example.com; \\""@evil.example'], False),
        ([f'{US}; dkim=pass header.i="x header.d=example.com"@evil.example header.s=a'], False),
        ([f'{US}; dkim=pass header.i="x\\ header.d=example.com"@evil.example'], False),
        ([f"{US}; spf=pass (said (hi) ; dmarc=pass header.from=example.com ; ) smtp.mailfrom=evil.example"], False),
        ([f"{US}; spf=pass (said \\) ; dmarc=pass header.from=example.com ; ) smtp.mailfrom=evil.example"], False),
        ([f"{DMARC}; spf=pass (of", DKIM], False),
        ([f'{US}; dmarc=fail reason="no; dmarc=pass header.from=example.com'], False),
        ([f'{US}; dmarc=pass (p=reject (of (all) (\\()) reason="a; b \\" c") header.from="example.com"'], True),
        ([f'{US}; dmarc=pass reason="a; b \\" c" header.from="example.com"'], True),
        ([f'{US} (our "own (server); spf=none); dmarc=pass header.from=example.com'], True),
    ],
)
def test_a_sender_is_who_our_own_server_says(results: list[str], told: bool) -> None:
    assert bool(vouched("ada@example.com", results, US)) is told
