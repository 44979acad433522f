"""Find the encoding of a file: by its mark, by strict decoding, and by how plausible the words are that it gives."""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from lab.text import read_rows

_FILE = read_rows(Path(__file__).with_name("encodings.toml"))
ENCODINGS: Mapping[str, str] = _FILE["encodings"]
ALPHABETS = [frozenset(letters) for letters in _FILE["alphabets"].values()]
KANA = frozenset(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"))
EAST_ASIAN = {"cp932": KANA | {"CJK"}, "euc_jp": KANA | {"CJK"}, "gb18030": {"CJK"}, "big5": {"CJK"}}  # their scripts
SAMPLE_BYTES = 20_000  # of lines with letters outside ASCII, which tell the encoding
NEARLY_AS_GOOD = 0.1  # difference in the share of plausible words that tells no encoding from another
MAX_OTHERS = 3  # readings that are mentioned
_WORD = re.compile(r"(?:[A-Za-z]|[^\x00-\x7f])+")


def decode(content: bytes, encoding: str | None = None, expected: str = "") -> tuple[str, str]:
    """Return the text of a file, and its encoding, which is found if none is given; "�" stands for what is not of it.

    expected: a text that is in the file, which decides between encodings that are as plausible.
    Raises LookupError for an unknown encoding, UnicodeError if there is no text at all.
    """
    head = content[:2000]
    if encoding:
        return content.decode(encoding, "replace"), encoding
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return content.decode("utf-16"), "utf-16"
    if head.count(0) > len(head) / 4:  # every second byte of European text in UTF-16
        encoding = "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"
        return content.decode(encoding), encoding
    try:
        return content.decode(), "utf-8"
    except UnicodeDecodeError:
        likely = _likely(content)
        return decode(content, next((one for one in likely if expected in content.decode(one, "replace")), likely[0]))


def described(encoding: str) -> str:
    """Return the name of an encoding for readers, and what it is for."""
    return f"{encoding.upper()} ({ENCODINGS[encoding]})" if encoding in ENCODINGS else encoding


def doubts(text: str, encoding: str) -> list[str]:
    """Return what is to be said of a text that was read in this encoding, if it was a guess or does not fit."""
    found = [f"characters that are not {encoding.upper()}: {lost:,}, shown as �"] if (lost := text.count("�")) else []
    likely = _likely(text.encode(encoding, "replace")) if encoding in ENCODINGS else []
    if likely[:1] != [encoding]:  # it is certain, or was chosen
        return found
    words, others = _words(text[:SAMPLE_BYTES]), []
    for other in likely[1:]:
        differ = (
            (word, read) for word in words if (read := reread(word, encoding, other)) != word and read.isprintable()
        )
        if pair := next(differ, None):
            others.append(f"{other} for {pair[1][:20]!r} instead of {pair[0][:20]!r}")
    example = f", such as {', '.join(others[:MAX_OTHERS])}" if others else ""
    return [f"the encoding is a guess: if words look wrong, choose another one{example}", *found]


def reread(text: str, encoding: str, other: str) -> str:
    """Return what a text would have been in another encoding than the one that it was read in."""
    return text.encode(encoding, "replace").decode(other, "replace")


def _likely(content: bytes) -> list[str]:
    """Return the encodings that give the most plausible words, the one to be chosen first."""
    lines = b"".join(line for line in io.BytesIO(content) if not line.isascii())[:SAMPLE_BYTES]
    shares = {}
    if share := _plausible(lines.decode(errors="replace"), "utf-8"):  # but for a few bytes
        shares["utf-8"] = share
    for encoding in ENCODINGS:
        try:  # the last character may be cut
            shares[encoding] = _plausible(codecs.getincrementaldecoder(encoding)().decode(lines), encoding)
        except UnicodeDecodeError:
            continue
    near = [one for one in shares if shares[one] >= max(shares.values()) - NEARLY_AS_GOOD]
    return sorted(near, key=lambda one: -shares[one] * _of_one_language(lines.decode(one, "ignore")))


def _of_one_language(text: str) -> float:
    """Return which share of the Latin letters outside ASCII the likeliest language has; 1 if there are none."""
    counts = Counter(c for c in text.lower() if not c.isascii() and _script(c) == "LATIN")
    known = max(sum(count for c, count in counts.items() if c in letters) for letters in ALPHABETS)
    return known / counts.total() if counts else 1.0


def _words(text: str) -> list[str]:
    """Return the different words with letters outside ASCII."""
    return [word for word in dict.fromkeys(_WORD.findall(text)) if not word.isascii()]


def _plausible(text: str, encoding: str) -> float:
    """Return which share of the words is plausible; 1 if nothing tells."""
    judged = [one for word in _words(text) if (one := _is_word(word, encoding)) is not None]
    return sum(judged) / len(judged) if judged else 1.0


def _is_word(word: str, encoding: str) -> bool | None:
    """Return whether letters may form a word of a language that this encoding is for; None if nobody can tell.

    They are of one script, with capitals as words have them; in Latin, letters of ASCII stand among them.
    """
    if any(c == "�" or unicodedata.category(c)[0] == "C" for c in word):
        return False
    word = re.sub("[’–]", "", word)  # which join words
    letters = [(c, _script(c)) for c in word if unicodedata.east_asian_width(c) not in "WF" or c.isalpha()]
    for end in (0, -1):  # a quotation mark, a unit as in m²
        if letters and not letters[end][1]:
            del letters[end]
    word, scripts = "".join(c for c, _ in letters), {script for _, script in letters}
    if word.isascii():
        return None
    if encoding in EAST_ASIAN:  # with capitals of ASCII at one end, as in B棟
        return set(map(_script, re.sub("^[A-Z]+|[A-Z]+$", "", word, count=1))) <= EAST_ASIAN[encoding]
    cased = word.islower() or word.isupper() or word[1:].islower()
    if scripts == {"LATIN"}:
        return cased and (len(word) == 1 or 3 * sum(map(str.isascii, word)) >= len(word))
    return (scripts in ({"CYRILLIC"}, {"GREEK"}) and cased) or scripts in ({"HANGUL"}, {"HEBREW"}, {"ARABIC"})


@lru_cache(maxsize=2_000)  # characters come from visitors
def _script(character: str) -> str:
    """Return the script of a letter, such as LATIN; "" for other characters."""
    name = unicodedata.name(character, "") if unicodedata.category(character)[0] in "LM" else ""
    return name.partition(" ")[0] if " LETTER" in name or name.startswith(("CJK", "HANGUL", "KATAKANA")) else ""
