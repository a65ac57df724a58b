"""Warning headers, within the bounds that upstream keeps."""

from __future__ import annotations

from collections.abc import Collection

# In characters: all texts together, and each of them once they are too many. Upstream's numbers.
MOST = 4096
_EACH = 256


def headers(texts: Collection[str]) -> bytes:
    """Return the header lines of some texts; what a header cannot carry is left out."""
    printable = [
        text for text in texts if text and not any(char < " " or "\x7f" <= char < "\xa0" for char in text)
    ]
    if sum(map(len, printable)) <= MOST:
        return b"".join(map(_line, printable))
    lines, written = [], 0
    for text in printable:
        if written >= MOST:
            break
        lines.append(_line(text[:_EACH]))
        written += min(len(text), _EACH)
    return b"".join(lines)


def _line(text: str) -> bytes:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'Warning: 299 - "{quoted}"\r\n'.encode("utf-8", "replace")
