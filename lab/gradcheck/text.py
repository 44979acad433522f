"""How numbers are written for a reader, everywhere in the lab."""

import math


def numeral(number: float) -> str:
    """Four significant digits, a real minus sign, "NaN" and "∞": as the player writes it (static/player/format.js)."""
    if math.isnan(number):
        return "NaN"
    size = abs(number)
    if math.isinf(number):
        text = "∞"
    elif size >= 1e6 or 0 < size < 1e-4:
        mantissa, exponent = f"{size:.3e}".split("e")
        text = f"{float(mantissa):g}e{int(exponent)}".replace("-", "−")
    else:  # whole digits are never left out
        text = f"{size:.0f}" if size >= 1e4 else f"{float(f'{size:.4g}'):g}"
    return f"−{text}" if number < 0 else text
