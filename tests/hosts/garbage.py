#!/usr/bin/env python3
"""Sends to a port what no peer would: nothing, too little, too much, chance.

    garbage.py tcp|udp ADDRESS PORT

Some connections are closed, some reset; the others stay open, with what they began unfinished, until
standard input ends. Prints "sent" before it waits for that.
"""

import random
import socket
import struct
import sys


def words(chance):
    """The bytes to send on each connection, and true if that stays open."""
    for size in (0, 1, 4, 15, 16, 17, 31, 32, 63, 64, 255, 256, 4096, 60000):
        for stays in (True, False):
            yield chance.randbytes(size), stays
    yield b"GET / HTTP/1.0\r\n\r\n" * 500, False
    # What begins like that which opens a connection of libfabric's: version, kind, the size of what
    # follows a head of 32 bytes. Nothing follows, or something else.
    for version in range(5):
        for kind in range(5):
            for size in (socket.htons(64), 0xffff):
                head = struct.pack("=BBH", version, kind, size)
                yield head + bytes(28), True
                yield head + chance.randbytes(28 + chance.choice((12, 64, 256, 4096))), False


def main():
    kind, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    chance = random.Random(port)
    held = []
    for number, (text, stays) in enumerate(words(chance)):
        if kind == "udp":
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.sendto(text, (address, port))
            continue
        one = socket.create_connection((address, port), timeout=10)
        try:
            one.sendall(text)
        except OSError:
            pass  # A peer that closes before the end is right.
        if stays:
            held.append(one)
        else:
            if number % 4 == 1:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()
    print("sent", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
