"""The raw bytes of a file or of standard input, which can be read again and are known not to have changed."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import sys
import weakref
from typing import BinaryIO, cast

from sepcert.data import faults
from sepcert.errors import DataError, Place

STANDARD_INPUT = "-"
KEPT_IN_MEMORY = 32 << 20
_PIECE = 1 << 20


class HashingReader(io.RawIOBase):
    """A binary stream that hashes what is read from it, and counts it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes, hash and return them."""
        piece = self._stream.read(size)
        self.digest.update(piece)
        self.count += len(piece)
        return piece

    def readinto(self, buffer: object) -> int:
        """Read into `buffer`; return how many bytes."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        piece = self.read(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the stream beneath."""
        self._stream.close()
        super().close()


class ByteSource:
    """Bytes that can be opened several times.

    A regular file is opened anew each time, and must keep its size, time of change and inode.  Standard input and
    pipes are copied, to memory or, when large, to a temporary file.

    Parameters
    ----------
    path : str
        A path, or ``-`` for standard input.

    Raises
    ------
    DataError
        There is no such file, it is a directory, or may not be read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._sha256: str | None = None
        self._copy: BinaryIO | None = None
        self._stat: tuple[int, ...] = ()
        try:
            if path == STANDARD_INPUT:
                if sys.stdin is None:
                    raise DataError(
                        faults.UNREADABLE,
                        "standard input is closed",
                        place=Place(path),
                        advice="pipe the data in, or name a file",
                    )
                self._spool(sys.stdin.buffer)
            elif _is_pipe(path):
                with open(path, "rb") as stream:
                    self._spool(stream)
            else:
                self._stat = _identity(os.stat(path))
                self.size = self._stat[0]
        except (OSError, ValueError) as error:
            raise self._failure(error) from error

    def _spool(self, stream: BinaryIO) -> None:
        import tempfile

        digest = hashlib.sha256()
        copy: BinaryIO = io.BytesIO()
        self.size = 0
        while piece := stream.read(_PIECE):
            if self.size <= KEPT_IN_MEMORY < self.size + len(piece):
                memory, copy = copy, tempfile.TemporaryFile()  # noqa: SIM115
                weakref.finalize(self, copy.close)
                memory.seek(0)
                copy.write(memory.read())
            copy.write(piece)
            digest.update(piece)
            self.size += len(piece)
        self._copy = copy
        self._sha256 = digest.hexdigest()

    def open(self) -> BinaryIO:
        """Return a stream at the first byte.

        Raises
        ------
        DataError
            The file cannot be opened, or is not the one it was.
        """
        if self._copy is not None:
            return cast(BinaryIO, _Window(self._copy))
        try:
            stream = open(self.path, "rb")  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise self._failure(error) from error
        if _identity(os.fstat(stream.fileno())) != self._stat:
            stream.close()
            raise self.changed()
        return stream

    def changed(self) -> DataError:
        """Return the error that says that the file changed while it was in use."""
        return DataError(
            faults.CHANGED,
            "the file changed while it was in use",
            place=Place(self.path),
            advice="run again on a file that nothing writes to",
        )

    def remember_sha256(self, reader: HashingReader) -> None:
        """Keep the hash of a stream of :meth:`open` if it was read to its end."""
        if reader.count == self.size:
            self._sha256 = reader.digest.hexdigest()

    def sha256(self) -> str:
        """Return the SHA-256 of the raw bytes in hexadecimal, read now unless that has happened already."""
        if self._sha256 is None:
            with self.open() as stream:
                digest = hashlib.sha256()
                while piece := stream.read(_PIECE):
                    digest.update(piece)
            self._sha256 = digest.hexdigest()
        return self._sha256

    def _failure(self, error: Exception) -> DataError:
        place = Place(self.path)
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            if self._stat:
                return DataError(faults.CHANGED, "the file has vanished", place=place, advice="run again")
            return DataError(faults.NOT_FOUND, "there is no such file", place=place, advice=_sibling(self.path))
        if isinstance(error, PermissionError):
            return DataError(
                faults.PERMISSION, "permission denied", place=place, advice="make it readable for this user"
            )
        if isinstance(error, IsADirectoryError):
            return DataError(faults.DIRECTORY, "this is a directory", place=place, advice="name the file in it")
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return DataError(faults.UNREADABLE, f"cannot read: {reason}", place=place)


class _Window(io.RawIOBase):
    """An own position in a shared stream; closing it leaves the stream open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = self._stream.seek(offset, whence) if whence != 1 else self._at + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        self._stream.seek(self._at)
        piece = self._stream.read(size)
        self._at += len(piece)
        return piece

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        piece = self.read(len(view))
        view[: len(piece)] = piece
        return len(piece)


def _is_pipe(path: str) -> bool:
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(path)
    if stat.S_ISREG(mode):
        return False
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return True
    raise OSError(0, "this is not a regular file")


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev


def _sibling(path: str) -> str:
    """Suggest a file in the same folder whose name without its ending is near."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except (OSError, ValueError):
        return "check the path"
    import difflib

    stems: dict[str, list[str]] = {}
    for known in sorted(names):
        stems.setdefault(os.path.splitext(known)[0].casefold(), []).append(os.path.join(folder, known))
    stem = os.path.splitext(name)[0].casefold()
    for close in difflib.get_close_matches(stem, stems, n=5, cutoff=0.75):
        for candidate in stems[close]:
            if os.path.isfile(candidate):
                return f"did you mean {candidate!r}?"
    return "check the path"
