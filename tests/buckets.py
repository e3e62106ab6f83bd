"""What the tests need of an S3 server of this machine."""

import http.client

SECRET = "this-is-the-secret-key"  # noqa: S105 - of nothing


def ask(server: str, method: str, path: str, body: str = "") -> None:
    """Have the server do something that Arrow cannot ask for."""
    connection = http.client.HTTPConnection(server.removeprefix("http://"))
    connection.request(method, path, body, {"Content-Type": "text/plain"})
    assert connection.getresponse().status == 200
    connection.close()
