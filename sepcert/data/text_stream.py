"""From raw bytes to blocks of whole lines of UTF-8: decompression, recoding, line ends, limits."""

from __future__ import annotations

import codecs
import io
import zlib
from typing import BinaryIO, NoReturn

import numpy as np

from sepcert.data import faults
from sepcert.data.source import ByteSource, HashingReader
from sepcert.errors import DataError, Place

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 256 << 20
UTF8_MARK = codecs.BOM_UTF8


class _Recoder(io.RawIOBase):
    """A stream in any encoding read as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        final = False
        while not self._ready and not final:
            piece = self._stream.read(1 << 16)
            final = not piece
            self._ready = self._decoder.decode(piece, final).removeprefix("\ufeff").encode("utf-8")
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()


def is_utf8(encoding: str) -> bool:
    """Whether text of the encoding can be read as UTF-8 as it stands."""
    return codecs.lookup(encoding).name in {"utf-8", "utf-8-sig", "ascii"}


class TextStream:
    r"""Blocks of whole lines, and where they are.

    Attributes
    ----------
    block : bytes
        The present block: whole lines that end in ``\n`` each; empty at the end.
    offset : int
        Position of its first byte in the decompressed, recoded stream.
    line : int
        1-based number of its first line.
    ended : bool
        Whether all of the stream has been read from the file.
    """

    def __init__(
        self,
        source: ByteSource,
        encoding: str,
        compression: str | None,
        *,
        hashing: bool = False,
        block_bytes: int | None = None,
    ) -> None:
        self.source = source
        self.block_bytes = BLOCK_BYTES if block_bytes is None else block_bytes
        self.block = b""
        self.offset = 0
        self.line = 1
        self.carriage_returns = False
        self._tail = b""
        self.ended = False
        self._raw = HashingReader(source.open()) if hashing else source.open()
        stream: BinaryIO = self._raw  # type: ignore[assignment]
        if compression == "gzip":
            import gzip

            stream = gzip.GzipFile(fileobj=stream, mode="rb")  # type: ignore[assignment]
        if not is_utf8(encoding):
            stream = _Recoder(stream, encoding)  # type: ignore[assignment]
        self._stream = stream

    def peek(self, lines: int, at_least: int = 1 << 16) -> bytes:
        """Return the first bytes without consuming them: at least so many, or so many lines, or all there is."""
        sample = self._read(at_least)
        if sample.startswith(UTF8_MARK):
            sample = sample[len(UTF8_MARK) :]
            self.offset = len(UTF8_MARK)
        while not self.ended and max(sample.count(b"\n"), sample.count(b"\r")) < lines:
            self._check_length(sample)
            more = self._read(max(len(sample), at_least))
            sample += more
        self._tail = sample
        return sample

    def end_lines_at_carriage_returns(self) -> None:
        """Read every CR as the end of a line (old Macintosh files)."""
        self.carriage_returns = True
        self._tail = self._tail.replace(b"\r", b"\n")

    def advance(self) -> bool:
        """Go to the next block; return False when there is none."""
        self.line += _count_lines(self.block)
        self.offset += len(self.block)
        held, self.block, self._tail = self._tail, b"", b""
        while not self.block and not self.ended:
            piece = self._read(max(self.block_bytes - len(held), len(held), 1))
            cut = piece.rfind(b"\n") + 1
            if cut:
                self.block = b"".join((held, memoryview(piece)[:cut]))
                held = piece[cut:]
            else:
                held += piece
                cut = held.rfind(b"\n") + 1
                self.block, held = held[:cut], held[cut:]
                self._check_length(held)
        if self.ended and held:
            self.block += held if held.endswith(b"\n") else held + b"\n"
            held = b""
        self._tail = held
        if b"\0" in self.block:
            self._nul()
        return bool(self.block)

    def skip(self, count: int) -> None:
        """Drop the first `count` bytes of the present block."""
        self.line += _count_lines(memoryview(self.block)[:count])
        self.offset += count
        self.block = self.block[count:]

    def seek(self, offset: int) -> None:
        """Continue at a later place of the stream, or within what is held; the line number is lost."""
        held = self.block + self._tail
        self.block = b""
        if self.offset <= offset < self.offset + len(held):
            self._tail = held[offset - self.offset :]
        else:
            self._tail = b""
            self.ended = False
            left = offset - self.offset - len(held)
            if self._stream.seekable():
                self._stream.seek(offset)
            else:
                while left > 0 and (piece := self._read(min(left, BLOCK_BYTES))):
                    left -= len(piece)
        self.offset = offset

    @property
    def raw_position(self) -> int:
        """How many raw bytes have been read."""
        return self._raw.count if isinstance(self._raw, HashingReader) else 0

    def close(self) -> None:
        """Close the file, and keep its hash when all of it was read."""
        if isinstance(self._raw, HashingReader):
            self.source.remember_sha256(self._raw)
        self._stream.close()
        self._raw.close()

    def _read(self, size: int) -> bytes:
        pieces: list[bytes] = []
        try:
            while size > 0 and (piece := self._stream.read(size)):
                pieces.append(piece)
                size -= len(piece)
        except UnicodeError as error:
            raise DataError(
                faults.ENCODING,
                f"the bytes cannot be decoded: {error}",
                place=Place(self.source.path),
                advice="convert the file to UTF-8",
            ) from error
        except (EOFError, zlib.error, OSError) as error:
            raise DataError(
                faults.GZIP if self._stream is not self._raw else faults.UNREADABLE,
                f"cannot read on: {error}",
                place=Place(self.source.path),
                advice="make the file anew",
            ) from error
        if size > 0:
            self.ended = True
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return data.replace(b"\r", b"\n") if self.carriage_returns else data

    def _check_length(self, data: bytes) -> None:
        if len(data) > LONGEST_LINE:
            raise DataError(
                faults.LONG_LINE,
                f"no line ends within {len(data)} bytes",
                place=Place(self.source.path, self.line),
                advice="this is not a text table, or its line ends are lost",
            )

    def _nul(self) -> NoReturn:
        at = self.block.index(b"\0")
        line = self.line + self.block.count(b"\n", 0, at)
        raise DataError(
            faults.NUL,
            f"a NUL byte at byte {self.offset + at}",
            place=Place(self.source.path, line),
            advice="this is a binary file, or UTF-16 without a byte-order mark",
        )


def _count_lines(data: bytes | memoryview) -> int:
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))
