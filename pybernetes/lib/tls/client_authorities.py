"""Ask TLS clients for certificates as Go's servers do: name the authorities, and let the program judge what is shown.

A client with several certificates chooses by the names. A client whose certificate is of nobody that the server knows is
connected all the same, with a verified chain that is empty: it may have a token besides, and is told 401 otherwise. Python's
``ssl`` has no call for either, so OpenSSL is asked itself, through the library that ``ssl`` has loaded.
"""

from __future__ import annotations

import ctypes
import ssl
from collections.abc import Iterable
from functools import lru_cache
from types import SimpleNamespace

_POINTER = ctypes.c_void_p
_VERIFY = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _POINTER)


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
            verify=library.X509_verify_cert,
            set_chain=library.X509_STORE_CTX_set0_verified_chain,
            clear_errors=library.ERR_clear_error,
            verify_with=library.SSL_CTX_set_cert_verify_callback,
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
    functions.verify.argtypes = [_POINTER]
    functions.verify.restype = ctypes.c_int
    functions.set_chain.argtypes = [_POINTER, _POINTER]
    functions.set_chain.restype = None
    functions.clear_errors.argtypes = []
    functions.clear_errors.restype = None
    functions.verify_with.argtypes = [_POINTER, _VERIFY, _POINTER]
    functions.verify_with.restype = None
    return functions


def _handle(context: ssl.SSLContext, openssl: SimpleNamespace) -> ctypes.c_void_p | None:
    """Return OpenSSL's own context; None where it is not where CPython keeps it."""
    # The pointer is the first thing in the object, behind what all objects have.
    handle = _POINTER.from_address(id(context) + object.__basicsize__)
    if not handle.value or openssl.options(handle) & 0xFFFFFFFF != context.options & 0xFFFFFFFF:
        return None
    return handle


def announce(context: ssl.SSLContext, certificates: Iterable[bytes]) -> bool:
    """Name the subjects of DER certificates in the handshakes of a server; return whether that was possible."""
    openssl = _openssl()
    if openssl is None:
        return False
    handle = _handle(context, openssl)
    if handle is None:
        return False
    for certificate in certificates:
        data = ctypes.c_char_p(certificate)
        parsed = openssl.parse(None, ctypes.byref(data), len(certificate))
        if parsed:
            openssl.add(handle, parsed)
            openssl.free(parsed)
    return True


def tolerate(context: ssl.SSLContext) -> bool:
    """Connect clients whose certificate cannot be verified, with an empty chain; return whether that was possible.

    Whoever asks for the user of a connection must go by the chain: ``getpeercert`` then tells what a client claims.
    """
    openssl = _openssl()
    handle = _handle(context, openssl) if openssl is not None else None
    if openssl is None or handle is None:
        return False
    openssl.verify_with(handle, _verify, None)
    return True


@_VERIFY
def _verify(chains: int, _: int) -> int:
    """Verify as OpenSSL does, and forget the chain of what is not good; an exception in here refuses the client."""
    openssl = _openssl()
    if openssl is None:
        return 0
    if openssl.verify(chains) != 1:
        openssl.set_chain(chains, None)
        openssl.clear_errors()
    return 1
