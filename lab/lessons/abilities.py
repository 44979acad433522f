"""What a visitor can do in the end: each is ticked by deeds, never by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab.lessons.cards import CARDS
from practice import COURSES
from practice.debug import PROGRAMS
from practice.questions import QUESTIONS


@dataclass(frozen=True)
class Deed:
    """Something to be done, and the page and the parameters of its address where that begins."""

    title: str
    file: str
    query: Mapping[str, str]


DEEDS = MappingProxyType(
    {card.key: Deed(card.title, card.file, card.query) for card in CARDS}
    | {
        f"questions/{question.key}": Deed(
            f"Question: {question.text}", "pages/practise.py", {"tab": "ask", "question": question.key}
        )
        for question in QUESTIONS
    }
    | {
        course.deed(task.key): Deed(
            f"Task: {task.title} ({course.title})",
            "pages/build_it_yourself.py",
            {"tab": "courses", "course": course.key, "task": task.key},
        )
        for course in COURSES.values()
        for task in course.tasks
    }
    | {
        program.deed(program.key): Deed(
            f"Debug: {program.title}", "pages/practise.py", {"tab": "debug", "program": str(number)}
        )
        for number, program in enumerate(PROGRAMS, 1)
    }
)


@dataclass(frozen=True)
class Ability:
    """text: "I can ...". needs: the keys of the deeds that show it, all of them."""

    group: str
    text: str
    needs: tuple[str, ...]


ABILITIES = (
    Ability("Core", "say where each gradient of an expression comes from, message by message.",
            ("first-gradient", "two-messages", "by-hand", "questions/how-it-knows", "questions/classic")),
    Ability("Core", "say why gradients add up where a value is used twice.",
            ("two-messages", "questions/why-add", "questions/used-twice", "debug/overwritten")),
    Ability("Core", "tell automatic differentiation from a formula and from finite differences.",
            ("what-it-costs", "questions/three-ways", "questions/central-passes")),
    Ability("Core", "say why networks use reverse mode, and when forward mode wins.",
            ("forward-wins", "questions/why-reverse", "questions/forward-wins")),
    Ability("Building", "say what an operation writes down for the backward pass, and what a leaf does not.",
            ("questions/leaf-step", "questions/number-first")),
    Ability("Building", "sort a graph, and say why the order matters.",
            ("topological-order", "questions/why-an-order")),
    Ability("Building", "undo broadcasting in a backward rule, and find the rule of a matrix product.",
            ("forgotten-sum", "questions/bias-gradient", "questions/matmul-rule", "questions/column-and-row",
             "questions/column-gradient", "questions/mean-gradient", "questions/product-gradient",
             "tensors/unbroadcast", "tensors/matmul")),
    Ability("Building", "have an engine of my own beside the lab's, and read digits with it.",
            ("own-engine", "own-digits", "questions/what-building-teaches")),
    Ability("Building", "fill a Jacobian, and find backward(v) in it.", ("whole-jacobian",)),
    Ability("Building", "cut a gradient where I mean to, and refuse a write that would spoil one.",
            ("caught-write", "questions/detached", "questions/written-to", "tensors/modes", "tensors/guard",
             "debug/in_place", "debug/detached")),
    Ability("Building", "write an engine for numbers from an empty file, and train a network with it.",
            ("own-rule", *(f"scalars/{task.key}" for task in COURSES["scalars"].tasks))),
    Ability("Building", "write the backward rules of a network that classifies, so that large logits do no harm.",
            ("tensors/elementwise", "tensors/reduce", "tensors/functions", "tensors/softmax", "tensors/cross-entropy",
             "debug/softmax_twice")),
    Ability("Building", "add an operation with its backward rule, and have it checked.",
            ("scalars/functions", "tensors/functions", "functions/sigmoid")),
    Ability("Building", "write an engine whose operations are objects.",
            tuple(f"functions/{task.key}" for task in COURSES["functions"].tasks)),
    Ability("Testing", "check a gradient with a step that can be trusted.",
            ("breaking-step", "questions/step-too-small", "questions/relu-at-0")),
    Ability("Testing", "find a mistake in an engine from what it does.", ("broken-engine", "named-fault")),
    Ability("Testing", "find what is wrong in a program that gives no error, and fix it.",
            ("debug/column_minus_row", "debug/where_nan", "debug/late_capture", "debug/kept_loss")),
    Ability("Testing", "say how thousands of rules are tested.", ("questions/testing-rules",)),
    Ability("Training", "say why a loss falls, and what a step does to a weight.",
            ("why-the-loss-fell", "questions/one-step", "questions/two-long-steps", "questions/not-zeroed",
             "debug/zero_grad", "debug/sign", "debug/order")),
    Ability("Training", "train a network, and say why another one stands still.",
            ("trained-network", "questions/zero-weights", "questions/steepest-sigmoid", "questions/cut-off-unit",
             "questions/unsure", "questions/how-many-parameters")),
    Ability("Training", "write SGD and Adam, and read digits with an engine of my own.",
            ("tensors/optimizers", "tensors/digits")),
    Ability("Training", "read the errors of a backward pass, and see a loss that gives none.",
            ("questions/backward-twice", "questions/many-numbers", "questions/pairs",
             "questions/sum-without-keepdims", "debug/second_backward")),
    Ability("Beyond", "say what a graph made on the way can do, and what one made before.",
            ("questions/define-by-run", "questions/static-graph", "questions/forward-then-back")),
    Ability("Beyond", "say what memory can be traded for, and what a GPU would change.",
            ("questions/checkpointing", "questions/gpu")),
)  # read by rows  # fmt: skip
