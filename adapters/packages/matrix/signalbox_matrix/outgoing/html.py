"""Tree to the HTML that Matrix clients show: that of Signalbox, without what the specification does not list.

Source: spec.matrix.org/v1.16/client-server-api/#mroommessage-msgtypes, "HTML tags and attributes", read 2026-11.
"""

from __future__ import annotations

import re
from typing import Final

from signalbox.markup import Document, to_html

# Words and attributes are escaped in what is rewritten here, so each of these is a tag of ours.
ATTRIBUTES: Final = re.compile(r' (?:target|rel|title)="[^"<>]*"|(?<=<td) class="[^"<>]*"|(?<=<th) class="[^"<>]*"')
MOMENT: Final = re.compile(r'<time datetime="[^"<>]*">([^<>]*)</time>')
LANGUAGE_CODE: Final = re.compile(r'<pre data-info="([\w+#.-]+)[^"<>]*"><code>')
OTHER_CODE: Final = re.compile(r'<pre data-info="[^"<>]*">')
TAG: Final = re.compile(r"<[a-z][^<>]*>")


def to_matrix(document: Document) -> str:
    made = MOMENT.sub(r"\1", to_html(document))
    made = LANGUAGE_CODE.sub(r'<pre><code class="language-\1">', made)
    made = OTHER_CODE.sub("<pre>", made)
    return TAG.sub(lambda tag: ATTRIBUTES.sub("", tag[0]), made)
