"""Search the whole lab for a word, a question, an operation, or a pasted error message.

One index has a row for each concept question, term, page, tab, card, task, program, question, operation and failure.
Failures come first only for a text that looks like a message or a symptom. A pasted message is looked up in the same
way as on *What went wrong?*, so that both give the same answer.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

from lab.failures import finder
from lab.failures.catalogue import BY_KEY, KNOWN, NEARBY
from lab.failures.text_kind import kind_of
from lab.lessons.achievements import ACHIEVEMENTS
from lab.lessons.concepts import CONCEPTS
from lab.lessons.glossary import TERMS
from lab.lessons.pages import BY_FILE, PAGES
from lab.operation_table import OPS

MAX_ANSWERS = 6
MAX_FAILURES = 2  # of these answers, unless an error message matches for certain
MAX_QUESTION = 5000  # characters of a question: a traceback is long
MAX_WORDS = 12  # of a question; the single words of a longer text are not searched for
MIN_SCORE = 0.3  # of an answer
BODY_WEIGHT = 0.4  # of a word that is in an entry's text but not in its name
PREFIX_WEIGHT = 0.8  # of a word that shares only its beginning with a searched word
MIN_PREFIX = 0.5  # share of the longer word: "grad" is not "gradcheck", "hand" is not "handwritten"
TITLE_BONUS = 0.05  # of an entry whose title is the question, but for common words: "autograd explained"
COVER_WEIGHT = 0.25  # of the words that an entry has in any of its names: "cost" in one name, "backprop" in another
MIN_TYPED = 5  # letters that a word needs for its spelling to be corrected
SPELLING = 0.8  # similarity that a misspelt word must have to a known one
# Added to the score, to order entries that fit equally well
PRIOR = {"question": 0.12, "term": 0.1, "operation": 0.1, "page": 0.08, "tab": 0.05, "card": 0.03}

COMMON = frozenset(
    re.findall(
        r"\w+",
        "a about an and are as at be been between by can could define definition did do does explain explained "
        "explanation example for from get give had have here how i if in into is it its like me meaning must my need "
        "of on one or out please s should show so some tell than that the their them then there these this to us use "
        "used using want was we what when which who "
        "why will with work works would you your dont doesn doesnt isn isnt",
    )
)
COMPLAINT = re.compile(
    r"\b(my|error|exception|traceback|warning|raises?|wrong|nan|inf|none|doesn.?t|don.?t|isn.?t|aren.?t|won.?t|can.?t|"
    r"cannot|never|stuck|fails?|failed|crash\w*|explod\w*|vanish\w*|leak\w*|forgot\w*|diverge\w*|increas\w*|"
    r"out of memory|grows?|growing|go(?:es|ing)? up|ris(?:es|ing)|is (?:zero|0)|dies|dying|always|too|not|no longer|"
    r"nothing|called? (?:\w+ )?(?:twice|again))\b"
)
# In these questions, "my" is not a complaint
HOW_TO = re.compile(
    r"^\s*(?:how (?:do|can|should|to)|can|where|use|save|test|train|upload|build|write|make|create|compare|hand)\b"
)
# What went wrong, even in a question that starts with "why"
FAILED = re.compile(r"\b(none|nans?|inf|infinity|stuck|error|crash\w*|raises?|fails?|explod\w*)\b")
ASKS = re.compile(r"^\s*(what (is|are|does)|why (is|are|does|do)?|how (do|does|is|to)|when|who|derivative of)\b")


@dataclass(frozen=True)
class SearchHit:
    """An answer. kind: "question", "term", "page", "tab", "card", "task", "program", "operation", "failure", "message".
    text: one sentence. path, query: the address it leads to. sure: the question is certainly about this."""

    kind: str
    title: str
    text: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    sure: bool = False


@dataclass(frozen=True)
class SearchRow:
    """One row of the index.

    titles   its names as people type them
    names    the words of each name
    in_any   the words of all names together
    body     its other words
    """

    answer: SearchHit
    titles: frozenset[str]
    names: tuple[frozenset[str], ...]
    in_any: frozenset[str]
    body: frozenset[str]


@dataclass(frozen=True)
class Index:
    """The rows, and the weight of each word: the fewer rows have it, the larger (inverse document frequency)."""

    entries: tuple[SearchRow, ...]
    weights: Mapping[str, float]
    rarest: float  # the largest weight; used also for words that no row has

    def weight(self, words: Collection[str]) -> float:
        """Add up the weights of these words."""
        return sum(self.weights.get(word, self.rarest) for word in words)


def search(question: str) -> list[SearchHit]:
    """Return the answers, the best first, or none if nothing fits. A sure match of a message is the only answer.

    Code and the numbers of a curve get none: the page *What went wrong?* reads them.
    """
    question = question[:MAX_QUESTION]
    if kind_of(question) != "message":
        return []
    pasted = finder.by_message(question)
    sure = [_failure(match.key, sure=True) for match in pasted if match.sure]
    if sure:
        return sure
    failures = (
        [_failure(match.key) for match in finder.look_up(question)[:MAX_FAILURES]] if _complains(question) else []
    )
    asked = _words(question)
    if not 0 < len(asked) <= MAX_WORDS:
        return failures
    found = _ranked(asked)
    text = _typed(question)
    named = [row.answer for row in _index().entries if text in row.titles]  # small words count: "hand in", "by hand"
    titled = [answer for answer in named if _typed(answer.title) == text]
    exact = [answer for score, answer in found if score >= 1]
    answers = (*titled, *named, *failures, *exact, *(answer for _, answer in found))
    return list({(answer.kind, answer.title): answer for answer in answers}.values())[:MAX_ANSWERS]


def _typed(name: str) -> str:
    """Return a name as people type it: in small letters, without hyphens, underscores and the sign at the end."""
    return " ".join(re.sub("[-_]", " ", name.lower()).strip(" \t\n?.!").split())


def _complains(question: str) -> bool:
    """Tell an error message or a description of a problem from a question about how things work."""
    text = question.lower()
    if finder.ERROR.search(question):
        return True
    text = re.sub(r"\bmy\b" if HOW_TO.match(text) else r"\bmy own\b", "", text)
    if text.lstrip().startswith("why ") and FAILED.search(text):
        return True
    return bool(COMPLAINT.search(text)) and not (ASKS.match(text) and " my " not in f" {text} ")


def _ranked(asked: Collection[str]) -> list[tuple[float, SearchHit]]:
    index = _index()
    asked = {_known(word, index) for word in asked}
    near = asked.union(*map(_related, asked))
    # The other entries score 0.
    touched = (entry for entry in index.entries if not (near.isdisjoint(entry.in_any) and near.isdisjoint(entry.body)))
    scored = ((_score(asked, entry, index), entry) for entry in touched)
    fitting = [(score, entry) for score, entry in scored if score >= MIN_SCORE]

    def order(pair: tuple[float, SearchRow]) -> float:
        score, entry = pair
        cover = COVER_WEIGHT * _share(asked, entry.in_any, index)
        titled = TITLE_BONUS * (asked == entry.names[0])
        return -(score + cover + titled + PRIOR.get(entry.answer.kind, 0))

    return [(score, entry.answer) for score, entry in sorted(fitting, key=order)]


def _share(asked: Collection[str], words: Collection[str], index: Index) -> float:
    """Return the share of the question, by weight, that is among these words."""
    return sum(index.weights.get(word, 0.0) * _match(word, words) for word in asked) / index.weight(asked)


def _score(asked: Collection[str], entry: SearchRow, index: Index) -> float:
    """Score from 0 to 1 how well an entry's best name fits the question, or, at most BODY_WEIGHT, its text.

    The score of a name is the weight of the words that it shares with the question, relative to the weights of both
    (a cosine in which each word counts once).
    """
    total = index.weight(asked)
    best = 0.0
    for name in entry.names:
        shared = sum(index.weights.get(word, 0.0) * _match(word, name) for word in asked)
        if shared:
            best = max(best, shared / math.sqrt(total * index.weight(name)))
    return max(best, BODY_WEIGHT * _share(asked, entry.body, index)) if best < 1 else 1.0


def _match(word: str, others: Collection[str]) -> float:
    if word in others:
        return 1.0
    return 0.0 if _related(word).isdisjoint(others) else PREFIX_WEIGHT


@lru_cache(maxsize=1000)
def _related(word: str) -> frozenset[str]:
    """Return the words of the index that share their stem with this one."""
    return frozenset(other for other in _index().weights if _same_stem(word, other))


def _same_stem(one: str, other: str) -> bool:
    """Return whether two words share most of the longer one: "detach", "detached"; "initialise", "initialisation"."""
    if min(len(one), len(other)) < 4 or not (one.isalpha() and other.isalpha()):
        return False
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if shared == min(len(one), len(other)):
        return shared >= MIN_PREFIX * max(len(one), len(other))
    return shared >= 5 and shared >= 0.65 * max(len(one), len(other))


def _known(word: str, index: Index) -> str:
    """Return the word, or, if no row has it, a known word with the same stem or nearly the same spelling."""
    if word in index.weights:
        return word
    if stems := [other for other in index.weights if other in _related(word)]:
        return max(stems, key=len)
    if len(word) < MIN_TYPED:
        return word
    alike = (other for other in index.weights if other[0] == word[0])  # a slip is rarely in the first letter
    return next(iter(difflib.get_close_matches(word, alike, n=1, cutoff=SPELLING)), word)


# ---------------------------------------------------------------- the index


@cache
def _index() -> Index:
    entries = tuple(_entries())
    counts = Counter(word for entry in entries for word in entry.body.union(*entry.names))
    weights = {word: math.log(1 + len(entries) / count) for word, count in counts.items()}
    return Index(entries, weights, max(weights.values()))


def _entries() -> Iterator[SearchRow]:
    for concept in CONCEPTS:
        answer = SearchHit("question", concept.question, concept.answer, concept.path, concept.query)
        yield _entry(answer, concept.also, concept.answer)
    for word, term in TERMS.items():
        yield _entry(SearchHit("term", word, term.meaning, term.path, term.query), term.also, term.meaning)
    for page in PAGES:
        answer = SearchHit("page", page.title, page.question, page.path)
        yield _entry(answer, (), f"{page.question} {page.words}")
        for name, title in page.tabs.items():
            yield _entry(
                SearchHit("tab", title, f"A tab of {page.title}.", page.path, {page.tab: name}), (), page.title
            )
    for name, op in OPS.items():
        words = (*op.aliases, name.replace("_", " "))
        aliases = tuple(
            f"{what} of {word}"
            for what in ("derivative", "gradient", "backward")
            for word in (name, *words)
            if _words(word)
        )
        text = f"Its rule, its code, its curve and its gradient check ({op.kind})."
        yield _entry(SearchHit("operation", name, text, "operations", {"op": name}), (*words, *aliases), op.kind)
    for key, achievement in ACHIEVEMENTS.items():
        kind = next((kind for kind in ("question", "debug") if key.startswith(kind)), "task" if "/" in key else "card")
        kind = {"question": "quiz", "debug": "program"}.get(kind, kind)
        title = achievement.title.partition(": ")[2] or achievement.title
        yield _entry(SearchHit(kind, title, SAYS[kind], BY_FILE[achievement.file].path, achievement.query), (), "")
    for key, known in KNOWN.items():
        body = " ".join((*known.phrases, *known.keywords, known.symptom, known.meaning, known.fix))
        yield _entry(_failure(key), known.keywords, body)


SAYS = {
    "card": "A card of the path: prepared, and ticked when it is done.",
    "task": "A task of Build it yourself, checked as you write.",
    "program": "A short program with a failure to find and fix.",
    "quiz": "A question to answer, with the place in the lab that proves it.",
}


def _entry(answer: SearchHit, also: Collection[str], body: str) -> SearchRow:
    titles = frozenset(_typed(name) for name in (answer.title, *also))
    aliases = (_spoken(name) for name in (answer.title, *also))
    names = (frozenset(_words(name)) for name in (answer.title, *also, *aliases))
    kept = tuple(dict.fromkeys(name for name in names if name))
    return SearchRow(answer, titles, kept, frozenset().union(*kept), frozenset(_words(body)))


def _spoken(name: str) -> str:
    """Return a name in code as people also type it: "requires grad". "is_leaf" stays: "is" would be lost."""
    apart = re.sub(r"(?<=[a-z])_(?=[a-z])", " ", name)
    return name if COMMON & set(apart.lower().split()) - set(name.lower().split()) else apart


def _failure(key: str, sure: bool = False) -> SearchHit:
    if key in BY_KEY:
        return SearchHit("failure", BY_KEY[key].name, BY_KEY[key].symptom, "what-went-wrong", {"failure": key}, sure)
    return SearchHit("message", NEARBY[key].name, NEARBY[key].symptom, "what-went-wrong", {"shape": key}, sure)


def _words(text: str) -> list[str]:
    """Extract the meaningful words, each once, in the singular, with signs such as += and names such as __mul__."""
    text = re.sub(r"\bwhere (?:do|does|did|is|are|can|should)\b", "", text.lower())  # not the function
    text = re.sub(r"^\W*(?:what is |whats )?(?:the )?difference between\b", "", text)
    text = re.sub(r"\bin[- ]place\b", "inplace", text)
    text = re.sub(r"\(\s*\d+\s*,[\d\s,]*\)", " shape ", text)
    text = re.sub(r"\w\[[^\]]*\]\s*[-+*/]?=(?!=)", " overwrite ", text)
    found = re.findall(r"\*\*|[-+*/@]=|(?<!\w)[=+*/@](?!\w)|[a-z_][a-z0-9_]*|\d+", text.replace("-", " "))
    kept = [word for word in found if word not in COMMON]
    return list(dict.fromkeys(_singular(word) for word in (kept or found)))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
