"""Read numbers as people write them: with units, currencies, separators of thousands, decimal commas, clock times."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import NamedTuple

MAX_LENGTH = 40  # characters of a number
CLOCK = "hours"  # the unit of clock times
_SIGNS = "$¢£¤¥฿" + "".join(map(chr, range(0x20A0, 0x20C2)))  # currencies
_UNITS = rf"%‰°/\u2100-\u214f\u3300-\u33ff{_SIGNS}"  # that begin a unit as letters do, such as ㎡
_GAPS = "'’ \u00a0\u202f"  # between thousands
_WRITTEN = re.compile(
    rf"(?P<before>[<>≤≥~≈]=?)? ?(?P<sign>[-+−]?) ?(?P<currency>[A-Z]{{0,3}}[{_SIGNS}]|[A-Z]{{3}} |Rs\.?)? ?"
    rf"(?P<sign2>[-+−]?)(?P<digits>[0-9][0-9.,{_GAPS}]*|[.,][0-9]+)(?:[eEdD](?P<power>[-+]?[0-9]+))?"
    rf"(?P<error> ?(?:±|\+/-) ?[0-9.,]+)?(?P<unit>\s?(?:[^\W0-9_]|[{_UNITS}])[^0-9,;|]{{0,11}})?"
)
_ASIDE = re.compile(r"(?<=\w) ?\([^()]*\)$")  # as in 77 kW (105 PS)
_GROUPED = re.compile(rf"[0-9]{{1,3}}(?:([{_GAPS}])[0-9]{{3}})(?:\1[0-9]{{3}})*(?:[.,][0-9]*)?")
POINT = r"[0-9]*\.?[0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}(?:\.[0-9]*)?"  # 1234.5 and 1,234.5
COMMA = r"[0-9]*,?[0-9]*|[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]*)?"  # 1234,5 and 1.234,5
_CLOCK = re.compile(
    r"([0-9]{1,3})(?::| ?h ?)([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?(?: ?m(?:in)?)?(?: ?([AaPp])\.?[Mm]\.?)?"
)
_FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}  # when written right after the digits


class ReadNumber(NamedTuple):
    """A number in a text: read with a decimal point, and with a decimal comma; nan if it cannot be read so."""

    point: float
    comma: float
    unit: str = ""  # or currency, or a mark such as < and ±

    def value(self, comma: bool) -> float:
        """Return the number; comma: where it can be read both ways, read 1,234 as 1.234."""
        return self.point if math.isnan(self.comma) or not (comma or math.isnan(self.point)) else self.comma


def number(text: str) -> ReadNumber | None:
    """Return the number in a text, with its unit; None if there is none. Clock times are hours."""
    if len(text) > MAX_LENGTH:
        return None
    if not text.isascii():  # digits of any script, and full-width signs
        wide = (unicodedata.normalize("NFKC", c) if unicodedata.east_asian_width(c) in "FH" else c for c in text)
        text = "".join(str(unicodedata.decimal(c, c)) for c in "".join(wide))
    negative = text.startswith("(") and text.endswith(")")  # (12) is -12 in accounts
    found = _WRITTEN.fullmatch(text[1:-1] if negative else _ASIDE.sub("", text))
    if not found:
        return _clock(text)
    digits, unit = found["digits"].rstrip(), found["unit"] or ""
    if _GROUPED.fullmatch(digits):
        digits = re.sub(f"[{_GAPS}]", "", digits)
    negative |= any(sign in "-−" for sign in (found["sign"] or "+", found["sign2"] or "+"))
    factor = (-1.0 if negative else 1.0) * _FACTORS.get(unit, 1.0)
    power = f"e{found['power'] or 0}"
    point, comma = re.fullmatch(POINT, digits), re.fullmatch(COMMA, digits)
    if not (point or comma) or unit.strip()[:1].isnumeric():  # such as ½
        return None
    unit = "".join([found["before"] or "", found["currency"] or "", "±" * bool(found["error"]), unit.strip()])
    return ReadNumber(
        factor * float(digits.replace(",", "") + power) if point else math.nan,
        factor * float(digits.replace(".", "").replace(",", ".") + power) if comma else math.nan,
        "" if unit in _FACTORS else unit.strip().lower().rstrip("s."),
    )


def is_number(text: str) -> bool:
    """Return whether a text is a number without a unit."""
    return bool((found := number(text)) and not found.unit)


def _clock(text: str) -> ReadNumber | None:
    """Read a clock time or a duration, in hours."""
    found = _CLOCK.fullmatch(text)
    if not found:
        return None
    hours = int(found[1]) % 12 + 12 * (found[4] in "Pp") if found[4] else int(found[1])
    value = hours + int(found[2]) / 60 + float(found[3] or 0) / 3600
    return ReadNumber(value, value, CLOCK)
