"""How is an HTTP server reached that listens on a socket file in a cluster's folder?"""

import http.client
import json
import os
import socket
from pathlib import Path

_TIMEOUT_SECONDS = 10


def unix_request(socket_file: Path, method: str, path: str, body: object = None) -> tuple[int, bytes]:
    client = http.client.HTTPConnection("localhost", timeout=_TIMEOUT_SECONDS)
    with _connection(socket_file) as connection:
        client.sock = connection
        client.request(method, path, None if body is None else json.dumps(body))
        response = client.getresponse()
        return response.status, response.read()


def _connection(socket_file: Path) -> socket.socket:
    """Through the folder's descriptor, since the path of a socket may have 107 bytes only."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_TIMEOUT_SECONDS)
    descriptor = os.open(socket_file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        connection.connect(f"/proc/self/fd/{descriptor}/{socket_file.name}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(descriptor)
    return connection
