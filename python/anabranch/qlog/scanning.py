"""Reads a JSON text value by value, so that a list of any length takes bounded memory.

Values are decoded by the standard library. This file knows only the outer objects and lists, which
it reads member by member.
"""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

PIECE = 1 << 16
"""Bytes that are read at once."""

MOST_VALUE = 1 << 26
"""Characters of the longest value that is decoded as a whole: no event needs more."""

LONGEST_WORD = 16
"""Characters that a word or an escape of JSON has at most: `-Infinity`, `\\ud83d\\ude00`."""

SPACE = re.compile(r"[ \t\n\r]*")
"""What may stand between the parts of a JSON text (RFC 8259 §2)."""


class CutOff(ValueError):
    """The text ended before a value did."""


class Scanner:
    """A JSON text that is read once, from its start or from a byte where a value begins.

    All methods raise OSError, ValueError where the text is not JSON, and CutOff where it ends too
    early. Errors say which part of the text that is, as `where` has it.
    """

    def __init__(self, file: BinaryIO, at: int = 0) -> None:
        """Reads on from byte `at`."""
        file.seek(at)
        self.where = "the file"
        self._file = file
        self._decoder = json.JSONDecoder()
        self._letters = codecs.getincrementaldecoder("utf-8")()
        self._held, self._place = "", 0
        """The text in hand, and how far it was read."""
        self._before = at
        """Bytes of the file before the text in hand."""
        self._ended = False

    @property
    def at(self) -> int:
        """The byte of the file at which the next part begins."""
        return self._byte(self._place)

    def peek(self) -> str:
        """The next character that is not space; empty at the end."""
        while True:
            found = SPACE.match(self._held, self._place)
            self._place = found.end() if found else self._place
            if self._place < len(self._held):
                return self._held[self._place]
            if not self._more(PIECE):
                return ""

    def end(self) -> None:
        """The text ends here."""
        if self.peek():
            raise self._wrong("Extra data", self._place)

    def value(self) -> Any:
        """The next value, whole."""
        self.peek()
        size = PIECE
        while True:
            try:
                found, end = self._decoder.raw_decode(self._held, self._place)
            except json.JSONDecodeError as error:
                if not self._may_go_on(error) or len(self._held) - self._place > MOST_VALUE:
                    raise self._wrong(error.msg, error.pos) from None
                if not self._more(size):
                    raise self._at_the_end(error) from None
                size *= 2
            except RecursionError:
                raise ValueError(
                    f"{self.where} is not JSON of a log: it is nested too deeply"
                ) from None
            except ValueError as error:  # a number with thousands of digits
                raise ValueError(f"{self.where} is not JSON: {error}") from None
            else:
                # A number at the end of the text in hand may go on, even if `.` or `e+` follows it.
                number = self._held[self._place] in "-0123456789"
                if not (number and len(self._held) - end < 3 and self._more(PIECE)):
                    self._place = end
                    return found

    def members(self) -> Iterator[str]:
        """The keys of an object; the caller reads the value of each before it asks for the next."""
        self._open("{")
        if self._close("}"):
            return
        while True:
            if self.peek() != '"':
                raise self._unexpected("a key")
            key: str = self.value()
            self._open(":")
            yield key
            if not self._goes_on("}"):
                return

    def items(self) -> Iterator[int]:
        """The numbers of the values of a list, from 0; the caller reads each value before the next."""
        self._open("[")
        if self._close("]"):
            return
        for number in itertools.count():
            yield number
            if not self._goes_on("]"):
                return

    def _goes_on(self, closing: str) -> bool:
        """Whether a comma follows; `closing` ends the object or list."""
        if self._close(closing):
            return False
        self._open(",")
        return True

    def _close(self, mark: str) -> bool:
        if self.peek() != mark:
            return False
        self._place += 1
        return True

    def _open(self, mark: str) -> None:
        if not self._close(mark):
            raise self._unexpected(f"'{mark}'")

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        """Whether the error may be one because the text in hand ends within a string or a word."""
        within = error.msg.startswith("Unterminated string")
        return within or len(self._held) - error.pos <= LONGEST_WORD

    def _at_the_end(self, error: json.JSONDecodeError) -> ValueError:
        """The error of a value that the end of the text follows."""
        closed = any(mark in self._held[error.pos :] for mark in "]}")
        if closed and not error.msg.startswith("Unterminated string"):
            return self._wrong(error.msg, error.pos)
        return CutOff(f"{self.where} is cut off")

    def _unexpected(self, right: str) -> ValueError:
        if self.peek():
            return self._wrong(f"Expecting {right}", self._place)
        return CutOff(f"{self.where} is cut off")

    def _wrong(self, why: str, place: int) -> ValueError:
        """An error at a place of the text in hand."""
        return ValueError(f"{self.where} is not JSON: {why} at byte {self._byte(place)}")

    def _byte(self, place: int) -> int:
        """The byte of the file at a place of the text in hand."""
        return self._before + len(self._held[:place].encode())

    def _more(self, size: int) -> bool:
        """Reads on; whether there was more."""
        while not self._ended:
            piece = self._file.read(size)
            self._ended = not piece
            try:
                text = self._letters.decode(piece, final=self._ended)
            except UnicodeDecodeError as error:
                raise ValueError(f"{self.where} is not JSON: {error}") from None
            if text:
                self._before = self._byte(self._place)
                self._held, self._place = self._held[self._place :] + text, 0
                return True
        return False
