"""Descent: optimizers on a surface, all of training on four points, and a weight that is shared over time."""

import math
from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab import charts
from lab.charts import Axis, Chart, Line, Mark, Track
from lab.designs.network import TARGETS
from lab.text import numeral, short
from lab.training.descent import four_points, over_time
from lab.training.descent.surfaces import NETWORK, REACH, SURFACES, Surface, network_surface, weights
from lab.training.descent.walk import CONVERGED, DIVERGED, KINDS, MOST, OptimizerStep, Walk
from lab.ui import address, page, progress, state
from lab.ui.address import Field
from lab.ui.chart_host import ChartHost, clicked_points
from lab.ui.guess import FIRST, guess, verdict
from lab.ui.memoize import memoize
from lab.ui.table import markdown_table
from lab.ui.terms import prose

NAME = "descent"
TABS = page.Tabs("descent", "descent tab")
TITLES = {key: surface.title for key, surface in SURFACES.items()} | {NETWORK: "Two weights of a network"}
RATES = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.08, 0.09, 0.1, 0.11, 0.15, 0.2, 0.5, 1.0, 2.0)
GUESSED = 10  # steps after which the guess is answered
TICK, SLICE = 0.1, 20  # seconds between two slices of a run, and the steps in each
SOON = {"10": "within 10 steps", "30": "within 30", "100": "within 100", "never": "not within 100"}
LARGEST = {"first": "the first", "between": "one between", "last": "the last"}
WEIGHTS = list(weights())
TRY_THIS = {
    "down": "On the bowl, find the largest rate with which SGD still converges: what happens at 1? Then start on the "
    "saddle at y = 0, and at y = 0.1. Where has the first one converged?",
    "four": "Find a rate with which the loss grows instead. What do the gradients look like just before it does?",
    "time": "Linear, 30 steps: compare w = 0.9, 1 and 1.1. Then take tanh and w = 2: why does it not explode?",
}


def main() -> None:
    with page.run(NAME, FIELDS) as current:
        st.title("Descent")
        if current.restored:
            st.session_state["descent running"] = False
        TABS.show({"down": _down, "four": _four, "time": _time})
        session = st.session_state
        progress.done("why-the-loss-fell", session["descent guess"] is not None and session["descent steps"] >= 10)
        page.closing(TRY_THIS[TABS.open], "pages/training_lab.py", "Next: a whole training run, with all instruments")


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _floats(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _start(text: str) -> tuple[float, ...]:
    x, y = _floats(text)
    if not all(abs(value) <= REACH for value in (x, y)):  # false for nan, too
        raise ValueError(text)
    return x, y


def _rates(text: str) -> tuple[float, ...]:
    sgd, momentum, adam = _floats(text)
    if not {sgd, momentum, adam} <= set(RATES):
        raise ValueError(text)
    return sgd, momentum, adam


def _weights(text: str) -> tuple[int, int]:
    first, second = (int(part) for part in text.split("-"))
    if first == second or max(first, second) >= len(WEIGHTS):
        raise ValueError(text)
    return first, second


def _joined(values: tuple[float, ...]) -> str:
    return ",".join(map(address.number, values))


START = ("descent x", "descent y")
RATE = tuple(f"descent rate {kind}" for kind in KINDS)
PAIR = ("descent first", "descent second")
STEPS = Field("steps", "descent steps", 0, int, limits=(0, MOST))
GUESS = Field("guess", "descent guess", None, address.one_of("past", "before", *KINDS))
FOUR_STEPS = Field("four_steps", "descent four steps", 0, int, limits=(0, four_points.MOST))
SOON_GUESS = Field("soon", "descent soon", None, address.one_of(*SOON), address.optional)
LARGEST_GUESS = Field("largest", "descent largest", None, address.one_of(*LARGEST), address.optional)
SEED = Field("seed", "descent seed", 0, int, limits=(0, 999))
W = Field("w", "descent w", 0.8, float, address.number, limits=(-2.0, 2.0))
X = Field("input", "descent input", 0.5, float, address.number, limits=(-1.0, 1.0))
LENGTH = Field("length", "descent length", 6, int, limits=(1, over_time.LONGEST))
KEPT = Field("last", "descent last", over_time.LONGEST, int, limits=(1, over_time.LONGEST))
FIELDS = (
    TABS.field,
    Field("surface", "descent surface", "bowl", address.one_of(*TITLES)),
    Field(
        "weights",
        PAIR,
        (WEIGHTS.index("W1[0, 1]"), WEIGHTS.index("W2[1, 0]")),
        _weights,
        lambda pair: "{}-{}".format(*pair),
    ),
    Field("start", START, (None, None), _start, _joined),  # what is not said is what the surface proposes
    Field("rates", RATE, (None,) * len(RATE), _rates, _joined),
    STEPS,
    GUESS,
    Field(
        "four_rate", "descent four rate", four_points.RATE, lambda text: RATES[RATES.index(float(text))], address.number
    ),
    SEED,
    FOUR_STEPS,
    SOON_GUESS,
    Field("kind", "descent kind", "tanh", address.one_of(*over_time.KINDS)),
    W,
    X,
    LENGTH,
    KEPT,
    LARGEST_GUESS,
)


# ---------------------------------------------------------------- down a surface


def _down() -> None:
    st.markdown(
        "Three optimizers start at one point; click on the picture to move it. The hollow marks show where the next "
        "step **would** land: guess, then press Step."
    )
    left, right = st.columns([4, 3], gap="medium")
    with right:
        surface = _chosen()
    walks = _walks(surface)
    with left:
        _transport(walks)
        boards = ChartHost(NAME)
        boards.board("landscape")
    with right:
        _guess(surface, walks["momentum"], {kind: walk.ahead(GUESSED).loss for kind, walk in walks.items()})
        how = st.empty()
    below = st.container(key="descent-next").empty()
    running = st.session_state["descent running"]
    st.fragment(_show, run_every=TICK if running else None)(surface, walks, boards, how, below)


def _chosen() -> Surface:
    """The surface, the start and the rates, each with its widgets."""
    session = st.session_state

    def begin_anew() -> None:
        state.step()
        _reset()
        state.reset([GUESS])
        for key in (*START, *RATE):
            session[key] = None

    key = st.selectbox("Surface", TITLES, format_func=TITLES.__getitem__, key="descent surface", on_change=begin_anew)
    if key == NETWORK:
        numbers = []
        for column, pair_key, other in zip(st.columns(2), PAIR, PAIR[::-1], strict=True):
            choices = [number for number in range(len(WEIGHTS)) if number != session[other]]
            with column:
                numbers.append(st.selectbox("Weight", choices, format_func=WEIGHTS.__getitem__, key=pair_key))
        surface = network_surface(*(WEIGHTS[number] for number in numbers))
        st.caption("Δ is how far a weight is from where training has left it; the other eight stay there.")
    else:
        surface = SURFACES[key]
    for point in clicked_points("descent click")[-1:]:
        session.update(zip(START, (min(max(round(value, 2), -REACH), REACH) for value in point), strict=True))
    for keys, proposed in ((START, surface.start), (RATE, surface.rates)):
        for one, value in zip(keys, proposed, strict=True):
            if session[one] is None:
                session[one] = value
    for column, one, name in zip(st.columns(2), START, surface.names, strict=True):
        column.slider(f"Start, {name}", -REACH, REACH, key=one, step=0.01)
    for column, one, kind in zip(st.columns(3), RATE, KINDS.values(), strict=True):
        column.select_slider(f"Rate, {kind.title}", RATES, key=one, format_func=address.number)
    return surface


def _reset() -> None:
    state.reset([STEPS])
    st.session_state["descent running"] = False


def _walks(surface: Surface) -> dict[str, Walk]:
    """The walks that are on the page: a run goes on where it was."""
    session = st.session_state
    start = session[START[0]], session[START[1]]
    rates = [session[key] for key in RATE]
    return memoize(
        "descent walks",
        (surface.formula, start, rates),
        lambda: {kind: Walk(surface, kind, rate, start) for kind, rate in zip(KINDS, rates, strict=True)},
    )


def _transport(walks: Mapping[str, Walk]) -> None:
    session = st.session_state

    def go(by: int) -> None:
        session["descent steps"] = min(session["descent steps"] + by, MOST)

    def run(on: bool) -> None:
        session["descent running"] = on

    over = session["descent steps"] >= MOST or _ended(walks, session["descent steps"])
    running = session["descent running"]
    with st.container(horizontal=True, gap="small"):
        st.button("Step", key="descent step", on_click=go, args=(1,), type="primary", disabled=over or running)
        st.button("Run 10", key="descent ten", on_click=go, args=(10,), disabled=over or running)
        if running:
            st.button("Stop", key="descent stop", on_click=run, args=(False,), icon=":material/stop:")
        else:
            st.button("Run to the end", key="descent run", on_click=run, args=(True,), disabled=over)
        st.button("Reset", key="descent reset", on_click=_reset, disabled=not session["descent steps"])


def _ended(walks: Mapping[str, Walk], steps: int) -> bool:
    return all(walk.ahead(steps).state != "descending" for walk in walks.values())


def _guess(surface: Surface, momentum: Walk, losses: Mapping[str, float]) -> None:
    """A question about the first ten steps, answered by them once they are taken."""
    if surface.lowest:
        question = f"After {GUESSED} steps of momentum: x past the minimum, or before it?"
        answers = {"past": "past it", "before": "before it"}
        began, came, lowest = momentum.ahead(0).at[0], momentum.ahead(GUESSED).at[0], surface.lowest[0]
        right = "past" if (came - lowest) * (began - lowest) < 0 else "before"
        because = f"x is {numeral(came)}; it began at {numeral(began)}, and the minimum is at {numeral(lowest)}."
    else:
        question = f"Whose loss is the lowest after {GUESSED} steps?"
        answers = {key: kind.title for key, kind in KINDS.items()}
        right = min(losses, key=lambda key: losses[key] if math.isfinite(losses[key]) else math.inf)
        because = ", ".join(f"{KINDS[key].title} {numeral(loss)}" for key, loss in losses.items()) + "."
    session = st.session_state
    if session["descent guess"] not in answers:
        session["descent guess"] = None
    guessed = guess(question, answers, "descent guess")
    if guessed and session["descent steps"] >= GUESSED:
        st.markdown(f"{verdict(guessed == right)} **After {GUESSED} steps: {answers[right]}.** {because}")


def _show(
    surface: Surface, walks: Mapping[str, Walk], boards: ChartHost, how: DeltaGenerator, below: DeltaGenerator
) -> None:
    """The picture and the numbers; and, while it runs, the next slice of it."""
    session = st.session_state
    if session["descent running"]:
        session["descent steps"] = min(session["descent steps"] + SLICE, MOST)
        if session["descent steps"] >= MOST or _ended(walks, session["descent steps"]):
            session["descent steps"] = min(max(len(walk.taken(MOST)) for walk in walks.values()), MOST)
            session["descent running"] = False
            st.rerun()
    steps = session["descent steps"]
    ahead = {kind: walk.ahead(steps) for kind, walk in walks.items()}
    theme = page.theme()

    def drawn() -> tuple[Chart, str, str]:
        tracks = [
            Track(KINDS[kind].title, walk.places(steps), step.to if step.state == "descending" else None, step.state)
            for (kind, walk), step in zip(walks.items(), ahead.values(), strict=True)
        ]
        title = f"{surface.title}: {surface.formula}"
        chart = charts.landscape(title, *surface.heights(), tracks, surface.names, surface.lowest, theme)
        return chart, _now(walks, ahead, steps), _numbers(surface, ahead)

    chart, said, numbers = memoize("descent landscape", (walks, steps, theme), drawn)
    boards.fill({"landscape": chart})
    how.markdown(said)
    below.markdown(numbers)


def _now(walks: Mapping[str, Walk], ahead: Mapping[str, OptimizerStep], steps: int) -> str:
    rows = [
        (
            KINDS[kind].title,
            short(step.loss),
            short(math.hypot(*step.gradient)),
            step.state if step.state == "descending" else f"{step.state} after {len(walks[kind].taken(steps))}",
        )
        for kind, step in ahead.items()
    ]
    meanings = [
        f"**{word}**: {meaning}"
        for word, meaning in (("converged", CONVERGED), ("diverged", DIVERGED))
        if any(step.state == word for step in ahead.values())
    ]
    return "\n\n".join([markdown_table([_steps(steps), "loss", "|gradient|", "state"], rows), *meanings])


def _numbers(surface: Surface, ahead: Mapping[str, OptimizerStep]) -> str:
    """The next step of each, with all numbers that lead to it."""
    rows = []
    for kind, step in ahead.items():
        rate = st.session_state[f"descent rate {kind}"]
        for i, name in enumerate(surface.names):
            m, v = ([numeral(pair[i]) for pair in step.memory] + ["–", "–"])[:2]
            update, at, to = step.update[i], step.at[i], step.to[i]
            known = KINDS[kind].title, name, numeral(step.gradient[i]), m, v
            if step.state == "descending":
                product = f"{address.number(rate)} · {_signed(update / rate)} = {numeral(update)}"
                rows.append((*known, product, f"{numeral(at)} − {_signed(update)} = {numeral(to)}"))
            else:
                rows.append((*known, "no step", f"{numeral(at)}: {step.state}"))
    rules = "; ".join(f"{kind.title} {kind.rule}" for kind in KINDS.values())
    return "\n\n".join(
        [
            "**The next step**, before it is taken: the update is the rate times a direction; "
            "θ − update is the next θ.",
            markdown_table(["optimizer", "θ", "gradient", "m", "v", "rate · direction = update", "θ − update"], rows),
            f":small[{rules}. m and v are what the optimizer remembers once this gradient has arrived.]",
        ]
    )


def _signed(number: float) -> str:
    """In brackets where it has a sign."""
    return f"({numeral(number)})" if number < 0 else numeral(number)


# ---------------------------------------------------------------- four points


def _four() -> None:
    st.markdown(
        "Four points with three inputs each train a network of 41 parameters. Guess how soon its loss is below "
        f"{four_points.ENOUGH}, then press Step."
    )
    st.caption("Mean squared error, linear last layer. A sum, or a tanh at the end, gives other numbers.")
    session = st.session_state

    def go(by: int) -> None:
        session["descent four steps"] = min(session["descent four steps"] + by, four_points.MOST)

    left, right = st.columns([3, 2], gap="large")
    with left:
        guessed = guess(f"Guess: the loss is below {four_points.ENOUGH}", SOON, "descent soon")
    waits = guessed is None
    with right:
        rate = st.select_slider("Rate", RATES, key="descent four rate", format_func=address.number)
        seed = st.number_input("Seed of the first weights", *SEED.limits, key="descent seed")
        steps = st.slider("Steps", *FOUR_STEPS.limits, key="descent four steps", disabled=waits)
        if waits:
            steps = 0
    with left, st.container(horizontal=True, gap="small"):
        full = waits or steps >= four_points.MOST
        st.button("Step", key="descent four step", on_click=go, args=(1,), type="primary", disabled=full)
        st.button("Run 100", key="descent four run", on_click=go, args=(four_points.MOST,), disabled=full)
        st.button("Reset", key="descent four reset", on_click=go, args=(-steps,), disabled=not steps)
    moments = memoize("descent moments", (rate, seed, steps), lambda: four_points.train(rate, seed, steps))
    last = moments[-1]
    with right:
        st.metric(f"Loss after {_steps(steps)}", numeral(last.loss))
        st.markdown(FIRST if guessed is None else _soon(moments, guessed))
    with left:
        boards = ChartHost(f"{NAME}-four")
        boards.board("loss")
        boards.fill(
            {
                "loss": charts.lines(
                    "Loss by step",
                    [Line("mean squared error", [(float(i), moment.loss) for i, moment in enumerate(moments)])],
                    Axis("step", ends=(0, four_points.MOST)),
                    Axis("loss", log=True),
                    marks=[Mark("y", four_points.ENOUGH, str(four_points.ENOUGH))],
                    height=260,
                    theme=page.theme(),
                )
            }
        )
        wanted = ", ".join(numeral(value) for value in TARGETS[:, 0])
        st.markdown(f"**Loss and predictions as they fall**, the latest first. Wanted: {wanted}.")
        rows = [
            (step, numeral(moments[step].loss), *(numeral(value) for value in moments[step].predictions))
            for step in range(steps, -1, -1)
        ]
        with st.container(height=240 if steps > 4 else "content", border=steps > 4):
            st.markdown(markdown_table(["step", "loss", *(f"point {i}" for i in range(1, 5))], rows))
    with st.expander(f"Every parameter’s gradient after {_steps(steps)} ({len(last.parameters)} of them)"):
        st.markdown(
            markdown_table(
                ["parameter", "value", "gradient", f"value − {address.number(rate)} · gradient"],
                [
                    (name, numeral(value), numeral(gradient), numeral(value - rate * gradient))
                    for name, value, gradient in last.parameters
                ],
            )
        )


def _soon(moments: Sequence[four_points.Moment], guessed: str) -> str:
    """Where the loss has come below what is enough, and how the guess was, once the steps say so."""
    below = next((step for step, moment in enumerate(moments) if moment.loss < four_points.ENOUGH), None)
    if below is not None:
        right = next(name for name in SOON if below <= int(name))
        said = f"It was below {four_points.ENOUGH} for the first time after {_steps(below)}"
        if below:
            said += f", at {numeral(moments[below].loss)}; one step before it was {numeral(moments[below - 1].loss)}"
    elif len(moments) > four_points.MOST:
        right, said = "never", f"After {_steps(four_points.MOST)} it is {numeral(moments[-1].loss)}"
    else:
        return f"It has not been below {four_points.ENOUGH} yet."
    return f"{verdict(guessed == right)} {said}."


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


# ---------------------------------------------------------------- shared over time


def _time() -> None:
    prose(
        "The [[gradient]] of w is a sum with one [[message]] from each time step. Guess which step sends the largest, "
        "then move w, the length, and where the state is [[detached|detach]]."
    )
    controls, picture = st.columns([2, 3], gap="large")
    with controls:
        guessed = guess("Guess: the largest message comes from which time step?", LARGEST, "descent largest")
        kind = st.segmented_control(
            "State", over_time.KINDS, format_func=over_time.KINDS.__getitem__, required=True, key="descent kind"
        )
        w = st.slider("Weight w", *W.limits, key="descent w", step=0.05)
        x = st.slider("Input x of each time step", *X.limits, key="descent input", step=0.05)
        length = st.slider("Time steps", *LENGTH.limits, key="descent length")
        kept = st.slider("Keep gradients for the last … steps", *KEPT.limits, key="descent last")
    assert kind
    if guessed is None:
        with picture:
            st.markdown(FIRST)
        return
    run = memoize("descent run", (kind, w, x, length, kept), lambda: over_time.unroll(kind, w, x, length, kept))
    with controls:
        cut = length - kept
        lost = (
            "The state is never detached."
            if cut <= 0
            else (f"Detached: the first {cut} {'step sends' if cut == 1 else 'steps send'} nothing.")
        )
        st.markdown(
            f"Gradient of w: **{numeral(run.gradient)}**, the sum of {len(run.messages)} messages. By finite "
            f"differences: {numeral(run.numerical)}. {lost}"
        )
        st.markdown(_largest(run, guessed))
    with picture:
        boards = ChartHost(f"{NAME}-time")
        boards.board("messages")
        boards.board("length")
    by_length = memoize("descent by length", (kind, w, x, kept), lambda: over_time.by_length(kind, w, x, kept))
    boards.fill({"messages": _messages(run), "length": _by_length(by_length)})
    total, rows = 0.0, []
    for message in run.messages:
        total += message.message
        rows.append(
            (message.time, numeral(message.upstream), numeral(message.state), numeral(message.message), numeral(total))
        )
    st.markdown("**The messages to w**, in the order of their arrival: upstream gradient · state before the time step.")
    with st.container(height=320 if len(rows) > 7 else "content", border=len(rows) > 7):
        headers = ["time step", "upstream gradient", "state before", "message", "gradient so far"]
        st.markdown(markdown_table(headers, rows))


def _largest(run: over_time.Unrolled, guessed: str) -> str:
    """Which message is the largest, and how the guess was; several are where they are equal."""
    size = max(abs(message.message) for message in run.messages)
    times = [message.time for message in run.messages if math.isclose(abs(message.message), size, rel_tol=1e-9)]
    length = run.messages[0].time
    places = {"first": 1 in times, "between": any(1 < time < length for time in times), "last": length in times}
    which = f"time step {times[0]}" if len(times) == 1 else f"{len(times)} time steps alike"
    last, first = run.messages[0], run.messages[-1]
    return (
        f"{verdict(places[guessed])} **The largest, {numeral(size)}, comes from {which}.** Step {last.time} sends "
        f"{numeral(last.message)}, step {first.time} {numeral(first.message)}: a message from far back is multiplied "
        "on its way by one factor for each time step."
    )


def _messages(run: over_time.Unrolled) -> Chart:
    points = [(float(message.time), message.message) for message in reversed(run.messages)]
    return charts.lines(
        "The message of each time step",
        [Line("message to w", points)],
        Axis("time step", ends=(0, None)),
        Axis("message"),
        height=220,
        theme=page.theme(),
    )


def _by_length(found: Mapping[str, list[tuple[float, float]]]) -> Chart:
    drawn = [Line(name, points) for name, points in found.items()]
    return charts.lines(
        "Sizes of the gradients, by the number of time steps",
        drawn,
        Axis("time steps", ends=(0, over_time.LONGEST)),
        Axis("|gradient|", log=True),
        height=260,
        theme=page.theme(),
    )


main()
