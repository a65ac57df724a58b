import pytest

from bench.harness.load import LoadError, _Exchange

WITH_LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}'
CHUNKED = b'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n'
EMPTY = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


def exchange() -> _Exchange:
    return _Exchange(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("answer", [WITH_LENGTH, CHUNKED, EMPTY])
def test_the_end_of_an_answer_is_found_however_it_is_cut(answer: bytes, step: int) -> None:
    state = exchange()
    pieces = [answer[start : start + step] for start in range(0, len(answer), step)]
    complete = [state.feed(memoryview(piece)) for piece in pieces]
    assert complete == [False] * (len(pieces) - 1) + [True]
    assert state.status == answer[9:12]
    assert state.received == len(answer)


def test_an_answer_without_a_known_end_is_refused() -> None:
    with pytest.raises(LoadError):
        exchange().feed(memoryview(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"))
