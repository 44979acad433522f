"""Tell what a number is by its name, in the languages and the spellings in which trainers print it."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from functools import lru_cache

# Words in full; a word of STEMS also counts as the beginning or the end of a longer one, as in "Trainingsverlust",
# and one in a script without spaces anywhere
WORDS = {
    "loss": """loss losses cost nll mse rmse rmsle mae bce logloss objective perplexity ppl crossentropy xent
        error errors err elbo koszt coût perte pertes perda erro errore strata kayıp verlies förlust mất lỗi""",
    "accuracy": "acc acc1 accuracy accuracies top1 prec1 exactitude exactitud acurácia precisión précision",
    "lr": "lr lernrate",
    "epoch": "epoch epochs ep e epoche epochen époque époques época épocas epoca epoche epok epoka tijdperk",
    "step": """step steps iteration iterations iter iters it batch batches update updates global trainer schritt
        schritte étape étapes pas paso pasos passo passos iteración itération iteração iterazione round rounds""",
    "run": "run fold trial seed lauf experiment falte",
    "train": "train training tr trn learn entraînement apprentissage addestramento treino treinamento eğitim",
    "val": """val valid validation validating vali eval evaluation evaluating test testing dev holdout heldout
        validación validazione validação prueba teste doğrulama walidacja""",
    "gradient": "grad grads gradient gradients gradnorm gnorm",
}
STEMS = {
    "loss": "loss verlust fehler pérdida perdita perdida потер ошибк лосс 损失 損失 误差 誤差 ロス 손실 오차",
    "accuracy": """accuracy treffer genauigkeit accuratezza точност 正确率 准确率 精度 準確率 正解率 정확도 doğruluk
        dokładność""",
    "lr": "lr 学习率 學習率 学習率 학습률",
    "epoch": "эпох 轮 輪 周期 エポック 에포크 에폭",
    "step": "iteration шаг итерац 步 迭代 次数 ステップ 스텝 반복",
    "train": "train entrenamiento trainings обуч 训练 訓練 학습 훈련",
    "val": "test validierung validation валид тест 验证 測試 测试 驗證 検証 テスト 검증 테스트",
    "gradient": "градиент 梯度",
}
OTHER = {  # a number with such a word is no loss, score or counter of this moment
    *("time", "eta", "elapsed", "sec", "secs", "second", "seconds", "runtime", "duration", "ms", "speed", "wall"),
    *("timestamp", "date", "relative", "remaining", "memory", "mem", "tokens", "samples", "consumed", "skipped", "nan"),
    *("best", "min", "max", "lowest", "highest", "worst", "previous", "improved", "from", "threshold", "target"),
    *("patience", "std", "stdev", "variance", "delta", "scale", "scaler", "weight", "size", "per", "number"),
}
# Words between a count and how many there will be, as in "3 of 40"; and in the name of the latter
OF = "of von de di van sur из 总共 总 總 共 全 総 총"
TOTAL = {"total", "max", "of"}
LEARNING = ("aprendizaje", "обучения", "apprentissage")  # at the end of "learning rate"
MAX_ABBREVIATION = 2  # letters of one, such as "ep", which is a name alone only
FILLERS = {
    *("the", "a", "an", "is", "was", "are", "of", "at", "for", "after", "and", "with", "in", "to", "then"),
    *("第", "no", "nr", "number", "current"),
}
NORM_ALONE = {"norm", "total", "global", "l2"}  # words of the name of a norm that says of nothing else
FIRST_WITHOUT_SPACES = 0x2E80  # character of a script that writes words without spaces
MAX_CACHED = 20_000  # names
MAX_HEADING = 5  # words above which a name is no heading
LAYERED = ("dead units", "update ratio")  # each may be followed by the name of a layer
_EXACT = {word: kind for kind, words in WORDS.items() for word in words.split()}
_STEMS = {
    kind: re.compile(
        f"^(?:{(any_of := '|'.join(stems.split()))})|(?:{any_of})$"
        + "".join(f"|{stem}" for stem in stems.split() if ord(stem[0]) >= FIRST_WITHOUT_SPACES)
    )
    for kind, stems in STEMS.items()
}
# The same as regular expressions, and the words that counts have
OF_WORD = "|".join(word if ord(word[0]) >= FIRST_WITHOUT_SPACES else rf"{word}\b" for word in OF.split())
COUNTER_WORD = "|".join(word for table in (WORDS, STEMS) for kind in ("epoch", "step") for word in table[kind].split())
_TOTAL = re.compile("|".join(word for word in OF.split() if ord(word[0]) >= FIRST_WITHOUT_SPACES))
_PHASES = [stem for kind in ("train", "val") for stem in STEMS[kind].split() if not stem.isascii()]
_SPLIT = re.compile(r"[\s/_\-:()\[\]|.,@#'’&]+")
_CAMEL = re.compile(r"([a-zäöü])([A-Z])")
_NORM = re.compile(
    r"(?i)grad(ient)?s?|norms?|total|global|l2|2\.0|\b(gnorm|param(eter)?s?|train(ing)?|val(id(ation)?)?)\b"
)


def split(name: str) -> list[str]:
    """Return the words of a name, in lower case. Cross entropy is one: entropy alone is no loss."""
    return (
        _SPLIT.sub(" ", _CAMEL.sub(r"\1 \2", name).lower().replace("@1", "1"))
        .replace("cross entropy", "crossentropy")
        .split()
    )


@lru_cache(maxsize=MAX_CACHED)
def kinds_of(word: str) -> frozenset[str]:
    """Return the kinds of a word: keys of WORDS, or "other"."""
    if word in OTHER or word in _EXACT:
        return frozenset({"other" if word in OTHER else _EXACT[word]})
    return frozenset(kind for kind, stems in _STEMS.items() if stems.search(word))


def kinds(words: Iterable[str]) -> set[str]:
    return set().union(*map(kinds_of, words))


@lru_cache(maxsize=MAX_CACHED)
def is_phase(name: str) -> bool:
    """Return whether a name says training or validation, and no more."""
    return bool(phase(name)) and all(kinds_of(word) & {"train", "val"} for word in split(name))


@lru_cache(maxsize=MAX_CACHED)
def phase(name: str) -> str:
    """Return the last word of a name that says training or validation; "" if there is none."""
    word = next((word for word in reversed(split(name)) if kinds_of(word) & {"train", "val"}), "")
    return next((stem for stem in _PHASES if stem in word), word)


@lru_cache(maxsize=MAX_CACHED)
def heading(name: str) -> str:
    """Return what `phase` does for a name that may stand above other names; "" for any other."""
    words = split(name)
    return phase(name) if len(words) < MAX_HEADING and "other" not in kinds(words) else ""


@lru_cache(maxsize=MAX_CACHED)
def role(name: str) -> str | None:
    """Return what a number is, by its name (see `Table`); None for an unknown name."""
    short = name.rpartition(" - ")[2].strip()  # without the name of a run, as in "name of the run - train/loss"
    words = split(short)
    joined, found = " ".join(words), kinds(words)
    for kind in LAYERED:
        if joined.startswith(kind):
            layer = joined.removeprefix(kind).strip()
            return kind.replace(" ", "_") + (f"/{layer}" if layer else "")
    if "other" in found or name.endswith("/s"):
        return None
    if "norm" in words and NORM_ALONE.issuperset(words):
        return "grad_norm"
    if "gradient" in found and "loss" not in found:
        layer = _NORM.sub(" ", short).strip(string.whitespace + "/_-.:|")
        return f"grad_norm/{layer}" if layer else "grad_norm"
    part = "val" if "val" in found else "train"
    for kind in ("accuracy", "loss"):
        if kind in found:
            return f"{part}_{kind}"
    if "lr" in found or "learning rate" in joined or joined == "rate" or joined.endswith(LEARNING):
        return "lr"
    if not TOTAL.isdisjoint(words) or _TOTAL.search(short) or "%" in name:
        return None
    if len(words) > 1:
        found = kinds(word for word in words if len(word) > MAX_ABBREVIATION or not word.isascii())
    return next((kind for kind in ("run", "epoch", "step") if kind in found), None)


def is_score(name: str) -> bool:
    """Return whether a name is that of a loss or an accuracy."""
    return (role(name) or "").endswith(("loss", "accuracy"))
