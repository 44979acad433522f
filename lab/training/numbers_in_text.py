"""Read numbers as people write them: with units, currencies, thousands separators, decimal commas and clock times."""

from __future__ import annotations

import re

MAX_LENGTH = 40  # characters of a number
CLOCK = "hours"  # the unit of clock times
_CURRENCY = r"[A-Z]{0,3}[$€£¥₹₩₽₺₫₴₪฿]|[A-Z]{3} |Rs\.?"
_WRITTEN = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−]?) ?(?P<before>{_CURRENCY})? ?(?P<sign2>[-+−]?)"
    r"(?P<digits>[0-9][0-9.,'’ \u00a0\u202f]*|[.,][0-9]+)(?P<power>[eE][-+]?[0-9]+)?"
    r"(?P<unit>\s?(?:[^\W0-9_]|[%‰°/)$€£¥₹₩₽₺₫₴₪฿])[^0-9,;|]{0,11})?",
)
_GROUPED = re.compile(r"[0-9]{1,3}(?:(['’ \u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:[.,][0-9]*)?")
_POINT = re.compile(r"[0-9]*\.?[0-9]*|[1-9][0-9]{0,2}(,[0-9]{2,3})*,[0-9]{3}(\.[0-9]*)?")  # 1234.5 and 1,234.5
_COMMA = re.compile(r"[0-9]*,?[0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+(,[0-9]*)?")  # 1234,5 and 1.234,5
_CLOCK = re.compile(r"([0-9]{1,3}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?(?: ?([AaPp])\.?[Mm]\.?)?")
_FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}  # when written right after the digits


def number(text: str, comma: bool = False) -> float | None:
    """Return the number that a text is, without a unit; None if it is none. comma: read 1,234 as 1.234."""
    found = with_unit(text, comma)
    return found[0] if found and not found[1] else None


def with_unit(text: str, comma: bool = False) -> tuple[float, str] | None:
    """Return the number in a text, and its unit or currency; None if there is none. A clock time is hours."""
    if text.isascii() and "_" not in text:  # float() would accept 1_000, and digits of other scripts
        try:
            if not (comma and "." in text):
                return float(text), ""
        except ValueError:
            pass
    parts = _parts(text)
    if parts is None:
        hours = clock(text)
        return None if hours is None else (hours, CLOCK)
    digits, unit, factor = parts
    is_point, is_comma = bool(_POINT.fullmatch(digits)), bool(_COMMA.fullmatch(digits))
    if not (is_point or is_comma):
        return None
    use_comma = is_comma and (comma or not is_point)
    plain = digits.replace(".", "").replace(",", ".") if use_comma else digits.replace(",", "")
    return float(plain) * factor, unit


def _parts(text: str) -> tuple[str, str, float] | None:
    """Return the digits with their marks, the unit, and what to multiply by."""
    found = _WRITTEN.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if not found:
        return None
    digits, unit = found["digits"].rstrip(), found["unit"] or ""
    if found["open"]:  # (12) is -12 in accounts
        if not unit.endswith(")"):
            return None
        unit = unit[:-1]
    if re.search(r"[^0-9.,]", digits):
        if not _GROUPED.fullmatch(digits):
            return None
        digits = re.sub(r"[^0-9.,]", "", digits)
    negative = "-" in found["sign"] + found["sign2"] or "−" in found["sign"] + found["sign2"] or bool(found["open"])
    factor = (-1.0 if negative else 1.0) * float("1" + (found["power"] or ""))
    if unit in _FACTORS:
        factor, unit = factor * _FACTORS[unit], ""
    unit = ((found["before"] or "") + unit).strip().lower().rstrip("s.")
    return (digits, unit, factor) if digits.strip(".,") else None


def marks_comma(text: str) -> bool:
    """Tell whether a text is a number that can only be read with a decimal comma, such as 3,5 or 1.234,50."""
    parts = _parts(text)
    return parts is not None and bool(_COMMA.fullmatch(parts[0])) and not _POINT.fullmatch(parts[0])


def marks_point(text: str) -> bool:
    """Tell whether a text is a number that can only be read with a decimal point, such as 3.5 or 1,234.50."""
    parts = _parts(text)
    return parts is not None and bool(_POINT.fullmatch(parts[0])) and not _COMMA.fullmatch(parts[0])


def clock(text: str) -> float | None:
    """Return a clock time or a duration in hours; None if the text is neither."""
    found = _CLOCK.fullmatch(text)
    if not found:
        return None
    hours = int(found[1]) % 12 + 12 * (found[4] in "Pp") if found[4] else int(found[1])
    return hours + int(found[2]) / 60 + float(found[3] or 0) / 3600
