"""One flipped bit of a small file, found and flipped back: for options and manifests, which no stage makes again."""

import hashlib
from typing import Final

from heedful.integrity import digest_line

LARGEST: Final = 1 << 15  # bytes of a file that is searched: each bit takes a hash


def with_digest(content: bytes, digest: str) -> bytes | None:
    """The content with one bit flipped that has this digest; None if there is none."""
    if len(content) > LARGEST:
        return None
    before = hashlib.blake2b(digest_size=8)  # of what stands before the byte
    for place, byte in enumerate(content):
        for bit in range(8):
            other = before.copy()
            other.update(bytes([byte ^ 1 << bit]))
            other.update(content[place + 1 :])
            if other.hexdigest() == digest:
                return content[:place] + bytes([byte ^ 1 << bit]) + content[place + 1 :]
        before.update(content[place : place + 1])
    return None


def sealed_again(content: bytes) -> bytes | None:
    """A manifest with one bit flipped, so that its digest is right; None if no single bit does it."""
    length = len(digest_line(b""))
    body, line = content[:-length], content[-length:]
    right = digest_line(body)
    if sum((one ^ other).bit_count() for one, other in zip(line, right, strict=False)) == 1:
        return body + right  # the digest itself was hit
    digest = line.split(b'"')[-2].decode("ascii", errors="replace") if line.count(b'"') == 4 else ""
    found = with_digest(body, digest)
    return None if found is None else found + line


def flipped_byte(before: bytes, after: bytes) -> int:
    """The place at which two contents of the same length differ first."""
    return next(place for place, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])
