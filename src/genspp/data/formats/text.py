"""What the formats that are text share: UTF-8, with or without a byte order mark."""

import codecs

from genspp.data.limits import check_lines
from genspp.errors import DataError

_BEGINNINGS = {
    b"PK\x03\x04": "a zip archive, as Excel's .xlsx files are",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "compressed with gzip",
}


def decode(name: str, content: bytes) -> str:
    """Return the text of a file; what is no UTF-8 is named by its line."""
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            raise DataError(f"{name} is {kind}, not text; give it the ending that it ought to have, or export it.")
    check_lines(name, content)
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8."
        ) from None
    if "\0" in text.partition("\n")[0]:
        raise DataError(f"{name}, line 1: a zero byte, as in a file saved as UTF-16; save the file as UTF-8.")
    return text
