"""What do a client and a server of grpc.health.v1 say to each other? Two messages of at most one field each."""

import struct
from enum import IntEnum
from typing import Final

CHECK: Final = "/grpc.health.v1.Health/Check"
WATCH: Final = "/grpc.health.v1.Health/Watch"
CONTENT_TYPE: Final = "application/grpc"
OK: Final = "0"
NOT_FOUND: Final = "5"
UNIMPLEMENTED: Final = "12"

_PREFIX: Final = struct.Struct(">?I")  # compressed or not, length
_SERVICE_TAG: Final = 0x0A  # field 1, a string
_STATUS_TAG: Final = 0x08  # field 1, a number


class ServingStatus(IntEnum):
    UNKNOWN = 0
    SERVING = 1
    NOT_SERVING = 2
    SERVICE_UNKNOWN = 3


def framed(message: bytes) -> bytes:
    return _PREFIX.pack(False, len(message)) + message


def unframed(data: bytes) -> bytes | None:
    """The first message; None while it is not complete."""
    if len(data) < _PREFIX.size:
        return None
    is_compressed, length = _PREFIX.unpack_from(data)
    if is_compressed:
        raise ValueError("compressed messages are not supported")
    message = data[_PREFIX.size : _PREFIX.size + length]
    return message if len(message) == length else None


def check_request(service: str = "") -> bytes:
    name = service.encode()
    return framed(bytes([_SERVICE_TAG, len(name)]) + name if name else b"")


def requested_service(message: bytes) -> str:
    """Names of up to 127 bytes, which take one byte for their length."""
    if not message:
        return ""
    if message[0] != _SERVICE_TAG or len(message) < 2 or len(message) != 2 + message[1]:
        raise ValueError("not a health check request")
    return message[2:].decode()


def check_response(status: ServingStatus) -> bytes:
    return framed(bytes([_STATUS_TAG, status]) if status else b"")


def answered_status(message: bytes) -> ServingStatus:
    if not message:
        return ServingStatus.UNKNOWN
    if len(message) != 2 or message[0] != _STATUS_TAG:
        raise ValueError("not a health check response")
    return ServingStatus(message[1])
