"""Numbers as people read them."""

import math


def count(value):
    """A whole number, every digit of it."""
    return "–" if value is None else f"{value:,}"


def significant(value, digits=3):
    """Three digits, without an exponent where that is short."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1000 and value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    rounded = to_digits(value, digits)
    size = math.floor(math.log10(abs(rounded)) + 1e-12)
    if -4 < size < 7:
        return f"{rounded:,.{max(0, digits - 1 - size)}f}"
    return power(value, digits)


def to_digits(value, digits=3):
    """Rounded to so many digits."""
    return float(f"{value:.{digits - 1}e}")


def power(value, digits=3):
    """4.91 × 10⁻⁹"""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if mantissa == "1" else f"{mantissa} × 10{raised}"


def scaled(value, units):
    """In the largest unit that leaves one or more of it."""
    for unit, size in units:
        if abs(to_digits(value / size)) >= 1 or size == units[-1][1]:
            return f"{significant(value / size)} {unit}"
    raise AssertionError("units end with the smallest")


def seconds(value):
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0 s"
    if abs(value) >= 1000:
        return f"{value:,.0f} s"
    return scaled(value, [("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)])


def size(value):
    """Bytes."""
    if value is None:
        return "–"
    if value < 1024:
        return f"{value:,.0f} B"
    return scaled(value, [("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)])


def rate(value):
    """Bytes a second."""
    if value is None or not math.isfinite(value):
        return "–"
    return scaled(value, [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1)])


def factor(value):
    return "–" if value is None or not math.isfinite(value) else significant(value)


def percent(share):
    return "–" if share is None or not math.isfinite(share) else f"{100 * share:.0f} %"


def counted(n, one, many=None):
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def words(name):
    """A name of a method or an operation, to be read in a sentence."""
    return str(name).replace("_", " ")


def levels(numbers):
    """levels 0 to 2, 4"""
    numbers = sorted(numbers)
    runs = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    parts = [f"{a}" if a == b else f"{a}, {b}" if b == a + 1 else f"{a} to {b}" for a, b in runs]
    return ("level " if len(numbers) == 1 else "levels ") + ", ".join(parts)


SPOKEN = {
    "cg": "Conjugate gradients",
    "flexible_cg": "Flexible conjugate gradients",
    "pipelined_cg": "Pipelined conjugate gradients",
    "enlarged_cg": "Enlarged conjugate gradients",
    "minres": "MINRES",
    "gmres": "GMRES",
    "fgmres": "Flexible GMRES",
    "bicgstab": "BiCGStab",
    "idr": "IDR",
    "stationary": "The stationary iteration",
}


def spoken_method(name):
    return SPOKEN.get(name, words(name))
