"""Facts as bytes, for the cache and between processes: MessagePack."""

from __future__ import annotations

import msgspec

from warp_lint.facts.records import FileFacts

_decoder = msgspec.msgpack.Decoder(FileFacts)


def encoded(facts: FileFacts) -> bytes:
    """Facts as bytes; none when they hold what cannot be told in bytes, such as a lone surrogate."""
    try:
        return msgspec.msgpack.encode(facts)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return b""


def decoded(data: bytes) -> FileFacts | None:
    """Facts from bytes; None when these are not facts."""
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return None
