"""Tell TLS clients which authorities a server takes certificates of, as Go's servers do.

A client with several certificates chooses by these names. Python's ``ssl`` can verify by authorities but has no call that
names them, so OpenSSL is asked itself, through the library that ``ssl`` has loaded.
"""

from __future__ import annotations

import ctypes
import ssl
from collections.abc import Iterable
from functools import lru_cache
from types import SimpleNamespace

_POINTER = ctypes.c_void_p


@lru_cache(maxsize=1)
def _openssl() -> SimpleNamespace | None:
    """Return the functions of OpenSSL that are needed; None where the interpreter has it in another form."""
    try:
        import _ssl

        library = ctypes.CDLL(_ssl.__file__)
        functions = SimpleNamespace(
            parse=library.d2i_X509,
            free=library.X509_free,
            add=library.SSL_CTX_add_client_CA,
            options=library.SSL_CTX_get_options,
        )
    except (ImportError, AttributeError, OSError):
        return None  # linked into the interpreter, or another library than OpenSSL
    functions.parse.restype = _POINTER
    functions.parse.argtypes = [_POINTER, ctypes.POINTER(ctypes.c_char_p), ctypes.c_long]
    functions.free.argtypes = [_POINTER]
    functions.free.restype = None
    functions.add.argtypes = [_POINTER, _POINTER]
    functions.options.argtypes = [_POINTER]
    functions.options.restype = ctypes.c_uint64
    return functions


def announce(context: ssl.SSLContext, certificates: Iterable[bytes]) -> bool:
    """Name the subjects of DER certificates in the handshakes of a server; return whether that was possible."""
    openssl = _openssl()
    if openssl is None:
        return False
    # The pointer to OpenSSL's context is the first thing in the object, behind what all objects have.
    handle = _POINTER.from_address(id(context) + object.__basicsize__)
    if not handle.value or openssl.options(handle) & 0xFFFFFFFF != context.options & 0xFFFFFFFF:
        return False
    for certificate in certificates:
        data = ctypes.c_char_p(certificate)
        parsed = openssl.parse(None, ctypes.byref(data), len(certificate))
        if parsed:
            openssl.add(handle, parsed)
            openssl.free(parsed)
    return True
