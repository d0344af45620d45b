"""Copies of a shared library in which one entry point is replaced by a function that does nothing and
returns 0: GASNET_OK, a null pointer, an event that is done.

Only the name is redirected, in the dynamic symbol table: what calls the function by that name
reaches the replacement, and every other name keeps its code.
"""

import contextlib
import os
import pathlib
import struct

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
EXECUTABLE = 1
LOADED, DYNAMIC_SYMBOLS, FUNCTION = 1, 11, 2
PAGE = 4096

# By the machine's number in ELF: code that returns 0 in the registers of integers and of doubles;
# prefixes that may stand before a function's first instruction; whole functions that do no more.
MACHINES = {
    62: (bytes.fromhex("31c00f57c0c3"), bytes.fromhex("f30f1efa"),
         (bytes.fromhex("c3"), bytes.fromhex("31c0c3"))),
    183: (bytes.fromhex("000080d200e4006fc0035fd6"), bytes.fromhex("5f2403d5"),
          (bytes.fromhex("c0035fd6"), bytes.fromhex("00008052c0035fd6"))),
}


class Library:
    """A shared library: its functions, and copies with one of them replaced."""

    def __init__(self, path):
        self.image = bytearray(pathlib.Path(path).read_bytes())
        fields = HEADER.unpack_from(self.image)
        ident, machine, segments_at, sections_at = fields[0], fields[2], fields[5], fields[6]
        segments, sections = fields[10], fields[12]
        if ident[:6] != b"\x7fELF\x02\x01" or machine not in MACHINES:
            raise ValueError(f"{path}: no mutants are made of ELF for machine {machine}")
        self.replacement, self.landing, self.empty = MACHINES[machine]
        self.segments = [PROGRAM_HEADER.unpack_from(self.image, segments_at + i * PROGRAM_HEADER.size)
                         for i in range(segments)]
        headers = [SECTION_HEADER.unpack_from(self.image, sections_at + i * SECTION_HEADER.size)
                   for i in range(sections)]
        self.values = {}  # of a function's name: the offset of its address in the file
        for _, kind, _, _, at, size, link, _, _, _ in headers:
            if kind == DYNAMIC_SYMBOLS:
                names = headers[link][4]
                for symbol_at in range(at, at + size, SYMBOL.size):
                    name, info, _, section, _, _ = SYMBOL.unpack_from(self.image, symbol_at)
                    if info & 15 == FUNCTION and section != 0:
                        end = self.image.index(0, names + name)
                        self.values[self.image[names + name:end].decode()] = symbol_at + 8
        self.file_name = os.path.basename(os.path.realpath(path))
        self.replacement_at = self.add_replacement()

    def add_replacement(self):
        """Writes it behind the code, into the rest of the last page, and returns its address."""
        for kind, flags, at, address, _, size, _, _ in self.segments:
            end = -(-(at + size) // 16) * 16
            fits = end + len(self.replacement) <= -(-(at + size) // PAGE) * PAGE
            if kind == LOADED and flags & EXECUTABLE and fits:
                place = slice(end, end + len(self.replacement))
                if not any(self.image[at + size:place.stop]):
                    self.image[place] = self.replacement
                    return address + end - at
        raise ValueError("no room behind the library's code")

    def address(self, name):
        return struct.unpack_from("<Q", self.image, self.values[name])[0]

    def does_nothing(self, name):
        """Returns true if the function is its own replacement, so that there is nothing to find out."""
        address = self.address(name)
        for kind, _, at, start, _, size, _, _ in self.segments:
            if kind == LOADED and start <= address < start + size:
                code = bytes(self.image[at + address - start:at + address - start + 16])
                return code.removeprefix(self.landing).startswith(self.empty)
        return False

    def write(self, path):
        """A copy in which nothing is replaced yet."""
        pathlib.Path(path).write_bytes(self.image)

    @contextlib.contextmanager
    def replaced(self, name, path):
        """Replaces a function in a copy that `write` has made, for as long as the context lasts."""
        with open(path, "r+b", buffering=0) as file:
            os.pwrite(file.fileno(), struct.pack("<Q", self.replacement_at), self.values[name])
            try:
                yield
            finally:
                os.pwrite(file.fileno(), struct.pack("<Q", self.address(name)), self.values[name])
