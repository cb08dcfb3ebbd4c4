"""One segment as a Zstandard frame, with a window of the base as its prefix, and back."""

from typing import TYPE_CHECKING

from . import libraries

if TYPE_CHECKING:
    from .libraries import zstd

# Of differences, the higher levels save no more, and take up to twice as long.
LEVEL = 1
# Window and segment of the largest object together have 2^26 bytes.
_WINDOW_LOG_MAX = 27


def make_prefix(window: bytes | bytearray) -> "zstd.ZstdDict | None":
    """Return a copy of the window in the form in which both directions need it."""
    return libraries.zstd.ZstdDict(window, is_raw=True) if window else None


def compress(segment: bytes, prefix: "zstd.ZstdDict | None", level: int = LEVEL) -> bytes:
    """Return a frame with its size and a checksum. A prefix needs long-distance matching."""
    parameter = libraries.zstd.CompressionParameter
    options: dict[int, int] = {parameter.compression_level: level, parameter.checksum_flag: 1}
    if prefix:
        options[parameter.enable_long_distance_matching] = 1
        lowest, highest = parameter.window_log.bounds()
        size = len(prefix) + len(segment)
        options[parameter.window_log] = min(max(size.bit_length(), lowest), highest)
    compressor = libraries.zstd.ZstdCompressor(options=options, zstd_dict=prefix and prefix.as_prefix)
    compressor.set_pledged_input_size(len(segment))
    return compressor.compress(segment, mode=libraries.zstd.ZstdCompressor.FLUSH_FRAME)


def decompress(frame: bytes, size: int, prefix: "zstd.ZstdDict | None") -> bytes:
    """Return the segment of a frame, of `size` bytes. Raises `ValueError` if it is no such frame."""
    parameter = libraries.zstd.DecompressionParameter.window_log_max
    # A frame needs no larger window than its content and its prefix, and may not ask for more memory.
    needed = (size + (len(prefix) if prefix else 0)).bit_length() + 1
    options: dict[int, int] = {parameter: min(max(needed, parameter.bounds()[0]), _WINDOW_LOG_MAX)}
    decompressor = libraries.zstd.ZstdDecompressor(prefix and prefix.as_prefix, options=options)
    try:
        segment = decompressor.decompress(frame, size)
    except libraries.zstd.ZstdError as error:
        raise ValueError(f"it cannot be decoded: {error}") from error
    if len(segment) != size or not decompressor.eof:
        raise ValueError("it has another size")
    return segment
