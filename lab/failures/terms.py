"""Reduce a text to terms: one form for each thing, however, and in whichever language, it is written."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from types import MappingProxyType

_LENGTH = r"(?:\d+|n|b|bs|batch(?:[_ ]?size)?)"  # of an axis
# Ways in which code, or several words, name one thing: (pattern, term), replaced in this order
_WRITTEN = tuple(
    (re.compile(pattern), f" {term} " if term else "")
    for pattern, term in (
        (r"[’']", ""),  # don't
        (r"\bin[-\s_]*place\b", "inplace"),
        (r"\b(\w+) ?(?:\+=|= ?\1 ?\+) ?(?:lr|alpha|eta|rate|learning_rate|0?\.\d+) ?\*", "plus rate"),  # w += lr * grad
        (r"(\w)\[[^][]*\] ?=(?!=)", r"\1 slicewrite"),
        (r"\.(?:add|sub|mul|div|clamp|fill|copy)_\b", " methodwrite"),
        (r"\bnot a number\b|\bnans\b", "nan"),
        (r"\bwhere (?:can|could|did|do|does|exactly|in|is|should|to)\b", ""),  # not the function
        (r"\b(?:second|2nd) (?:time|call)\b|\b(?:two|2) times\b|\bdos veces\b|\bdeux fois\b|\bduas vezes\b", "twice"),
        (r"\bout of memory\b|\boom\b", "memory grow"),
        (r"\b(?:go|goes|going|gone|went|creeps?|creeping) up\b|\bfill(?:s|ed|ing)? up\b", "grow"),
        (r"\b(?:auf null|auf 0|a cero|a zero)\b", "zero"),
        (r"\btasa de aprendizaje\b|\btaux d ?apprentissage\b|\btaxa de aprendizado\b", "rate"),
        (r"\blearning[-_ ]?rate\b|\bstep[- ]?size\b|\bbase_lr\b|\blr\b", "rate"),
        (r"\brequir(?:e|es|ing)[-_ ]?(?:a )?grad(?:ient)?s?\b", "requiresgrad"),
        (r"\bgrad[-_ ]?fn\b", "gradfn"),
        (r"\bretain(?:s|ed|ing)?[-_ ]?(?:the )?(?:graph|variables)\b", "retaingraph"),
        (r"\bretain[-_ ]?grad\b", "retaingrad"),
        (r"\bzero[-_ ]?grad\b|\bgrad\.(?:data\.)?zero_", "zerograd"),
        (r"\b(?:clear|empty|reset|zero)(?:ing|ed|s)? (?:out )?(?:the |my |old )?grad(?:ient)?s\b", "zerograd"),
        (r"\bgrad(?:ient)?s (?:\w+ ){1,3}(?:cleared|emptied|reset|zeroed)\b", "zerograd"),
        (r"\b(?:add|pile|sum)(?:s|ed|ing)? up\b|\bcumulative\b", "accumulate"),
        (r"\bno[-_ ]?grad\b|\binference_mode\b|\bset_grad_enabled(?:\(false\))?", "nograd"),
        (r"\b\d[\d.]*e\+?\d{1,2}\b|\b\d{7,}\b", "huge"),
        (r"\b\d[\d.]*e-\d+\b", "small"),
        (r"(?<![-\w])inf\W+nan\b", "explode nan"),  # too large first, then no number
        (r"\*\* ?(?:0?\.5\b|\(1 ?/ ?2\))", "sqrt"),
        (r"\b(?:1\.46\d*|0?\.55\d*)\b", "softmaxfloor"),  # of cross entropy on probabilities: 10 classes, 3 classes
        (r"\b(?:non|not a)[-_ ]?leaf\b|\bis_leaf false\b", "nonleaf"),
        (r"\bgrad(?:ient)?[-_ ]?check(?:s|er|ers|ing)?\b", "gradcheck"),
        (r"\bfinite[- ]?differences?\b|\bnumeric(?:al|ally)?\b|\banalytic(?:al|ally)?\b", "numerical"),
        (r"\bsingle[- ]precision\b|\bfp32\b|\bfloat32\b", "singleprecision"),
        (r"\bdouble[- ]precision\b|\bfp64\b|\bfloat64\b|\bdouble\(\)", "doubleprecision"),
        (r"\bcross[-_ ]?entropy\b", "crossentropy"),
        (
            r"(?<![a-z])accum(?:ulation)?(?![a-z])|(?<=grad_)acc\b|(?<=gradient_)acc\b",
            "onpurpose",
        ),  # done, not suffered
        (r"\bmodule[-_ ]?list\b", "modulelist"),
        (r"\.long\(\)|\blong ?tensors?\b", "integer"),
        (rf"[\[(]\s*{_LENGTH}\s*,\s*1\s*[\])]", "shape column"),  # (64, 1)
        (rf"[\[(]\s*{_LENGTH}(?:\s*,\s*{_LENGTH})*\s*,?\s*[\])]", "shape"),
        (r"[-+*/@]=", "writes"),
        (r"[<>]=?\s*0?\.\d", "threshold"),
        (r"\b0\b(?![.,\d])", "zero"),
    )
)


def _table(text: str) -> MappingProxyType[str, str]:
    """ "name: word word" in each line, as word -> name."""
    lines = (line.split(": ") for line in text.strip().splitlines())
    return MappingProxyType({word: name.strip() for name, words in lines for word in words.split()})


# Words of the field that mean the same here
_SAME = _table("""
    gradient: grad grads gradients derivative derivatives
    twice: second again
    integer: int integers int64 int32 whole randint
    inplace: overwrite overwrites overwritten
    explode: explodes exploding diverge diverges diverging diverged divergence blows blow skyrockets
    inf: infinity infinite
    unit: neuron neurons units nodes filter filters channels
    memory: ram vram
    leak: leaks leaking
    grow: grows growing increase increases increasing climb climbs rise rises rising bigger larger pile surges
    oscillate: oscillates oscillating swing swings swinging zigzag zigzags wobbles jump jumps jumping bounces fluctuates
    initial: initialise initialize initialized initialised init initd inits starting
    intermediate: inner middle
    small: tiny smaller
    update: updated updates updating change changes changed
    predict: prediction predictions predicts predicted pred preds output outputs
    number: numbers element elements
    train: trains trained training learn learns learned learning finetuned
    divide: divided dividing divides division div
    plot: matplotlib plotting pyplot plt
    state: repackage
    rnn: lstm gru recurrent bptt
    evaluation: validation eval validating evaluating testing
    zero: zeros zeroed zeroes
    dead: dying dies die died kills
    mean: average averaged avg
    round: rounding threshold thresholding thresholded
    probability: probabilities
    subtract: subtracting minus subtracted
    vector: nonscalar
    forget: forgot forgotten missing omitted
    epsilon: eps
    free: freed released frees
    numpy: np scipy
    loss: cost costs
    nothing: none
    item: tolist
    loss: verlust perte perdida perda
    weight: gewicht gewichte gewichten poids peso pesos
    memory: speicher arbeitsspeicher memoria memoire
    rate: lernrate
    step: schritt schritte schritten paso pasos
    layer: schicht schichten capa capas couche couches camada camadas
    grow: wachst wachsen steigt steigen grosser crece aumenta sube augmente cresce
    gradient: gradienten gradiente gradientes
    twice: zweimal zweite zweiten zweites
    train: trainiert trainieren lernt lernen entrena entrenar aprende aprender apprend apprendre
    unit: neuronen neurona neuronas neurones neuronio neuronios
    predict: vorhersage vorhersagen prediccion predicciones ausgabe ausgaben salida salidas sortie sorties
    mean: mittelwert durchschnitt media promedio moyenne
    zero: nullen ceros cero
    vanishing: verschwindet verschwinden verschwindende desaparece desvanece disparaissent
    explode: explodiert explota explose
    initial: initialisiert initialisieren inicializar inicializados initialises
    graph: graphen grafo graphe
    vector: vektor
    update: andern andert cambia cambian changent
    forget: vergessen olvide oublie
    list: liste lista
    batch: lote lotes
""")
# Of Chinese, in which very many of the questions about PyTorch are asked: a longer word before one that it contains
_CHINESE = _table("""
    intermediate: 中间变量 中间层 中间
    nonleaf: 非叶子
    leaf: 叶子节点 叶子
    twice: 第二次 两次 二次
    shape: 形状 维度
    memory: 显存 内存
    vanishing: 消失
    explode: 爆炸 发散
    dead: 死亡
    unit: 神经元
    initial: 初始化
    accumulation: 累积 累加
    integer: 整数 整型
    rate: 学习率
    grow: 增长 上涨 增加 上升
    oscillate: 震荡 振荡
    zerograd: 清零
    zero: 全零 全为零 全0
    divide: 除以
    inplace: 原地
    graph: 计算图
    free: 释放
    freeze: 冻结
    optimizer: 优化器
    parameter: 参数
    weight: 权重
    update: 更新
    broadcast: 广播
    mean: 平均值 均值 平均
    doubleprecision: 双精度
    singleprecision: 单精度
    hidden: 隐藏
    layer: 层
    gradient: 梯度
    loss: 损失
    predict: 输出 预测
    train: 训练
    evaluation: 验证 测试
    vector: 向量
    scalar: 标量
    twice: 再次
""")
# Words that only a German sentence has: in it, "die" is an article
_GERMAN = re.compile(r"\b(?:ich|und|der|das|nicht|ist|wird|werden|meine?|beim|warum|wenn|sind)\b")
# These tell failures apart, but none of them speaks for one by itself
NEGATIONS = frozenset(
    ["arent", "cannot", "cant", "didnt", "doesnt", "dont", "isnt", "no", "non", "not", "without", "wont"]
)
# In any question, or the name of a library
_NOTHING = frozenset(
    re.findall(
        r"\w+",
        "a all although always am an and any are as at be been between bug but by can could "
        "did do does doesn don error errors every fail failed fails fix for from get gets give "
        "gives got has have help how i if im in into is isn issue it its ive jax jnp just keras like m me "
        "may message might must my need needs nn of on only or our out please problem pytorch question raise raises "
        "runtimeerror s says self should shouldnt so some something somewhere still t tensorflow tf than that the "
        "then there this to too torch typeerror use used userwarning using valueerror very w want warning was we "
        "what when which while why will with would you your "
        # German, Spanish, French
        "aber auf bei beim das dass dem den der ein eine einem einen einer es fehler geht hat ich immer ist jede jedem "
        "jeden jeder kein keine kommt mal man meine mein mit muss nach nicht noch nur oder schon sehr sich sind "
        "und von wann warum was wenn wie wird zu zum zur "
        "como con cuando de del despues donde el en entre es esta hay la las lo los mas me mi mis muy para pero "
        "por que se si sin sobre su tengo todo una uno ya "
        "apres avec ce ces dans des est et il je le les mais mes mon ne ou par pas plus pour pourquoi quand qui sa ses "
        "sont sur tout un une",
    )
)
# The longer before the shorter
_ENDINGS = tuple(
    re.findall(
        r"\w+",
        "izations ization isations isation izing ising ized ised izes ises ize ise ations ation ating ated ates ators "
        "ator ate ences ence able ings ing ies ied ed es ly s e y",
    )
)


def terms(text: str) -> list[str]:
    """Return the words of a text that say something, each in one form, and their pairs as "one two"."""
    for word, term in _CHINESE.items():
        text = text.replace(word, f" {term} ")
    text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))  # é -> e
    text = re.sub(
        r"([^\x00-\x7f]+)", r" \1 ", re.sub(r"([a-z])([A-Z][a-z])", r"\1 \2", text.replace("ß", "ss"))
    ).lower()
    if _GERMAN.search(text):
        text = re.sub(r"\bdie\b", "", text)
    for pattern, term in _WRITTEN:
        text = pattern.sub(term, text)
    words = [_stem(word) for word in re.findall(r"[a-z][a-z0-9]+", text.replace("_", " ")) if word not in _NOTHING]
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]


@cache
def _stem(word: str) -> str:
    word = _SAME.get(word, word)
    for ending in _ENDINGS:
        least = 4 if len(ending) > 2 else 3
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word
