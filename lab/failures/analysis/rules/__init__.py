"""What is wrong with what a text does. One small rule for each way of failing; a rule without confidence says nothing.

Each takes the program's events and the text, and yields what it found: the number of the failure, the place, one
sentence with the names of the text, and the changed lines.
"""

from collections.abc import Iterable

from lab.failures.analysis.edits import Text
from lab.failures.analysis.program import Program
from lab.failures.analysis.rules.accumulating import accumulation
from lab.failures.analysis.rules.case import Case, Rule, RuleHit
from lab.failures.analysis.rules.cuts import (
    averaged_with_graph,
    behind_a_cut,
    chosen_terms,
    judged_on_record,
    layers_behind_numpy,
    learned_numbers,
    moving_target,
    no_gradient,
    numbers_in_the_sum,
    parameter_behind_a_cut,
    read_but_not_asked,
    refused_by_numpy,
    validation_recorded,
)
from lab.failures.analysis.rules.gathered_losses import kept_graphs
from lab.failures.analysis.rules.leaves import (
    chained,
    gradient_of_the_middle,
    leaf_rebound,
    leaf_written,
    no_leaf_to_optimize,
    overwritten,
)
from lab.failures.analysis.rules.networks import (
    all_the_same,
    dead_by_bias,
    drawn_too_small,
    fading_recurrence,
    last_activation,
    many_sigmoids,
    moved_below_zero,
    sigmoids_in_forward,
)
from lab.failures.analysis.rules.numbers import (
    both_arms_of_where,
    coarse_difference,
    coarse_gradcheck,
    column_and_row,
    divided_by_zero,
    integers,
    log_of_zero,
    root_of_zero,
    zero_leaf,
)
from lab.failures.analysis.rules.optimizers import (
    climbing_optimizer,
    growing_rate,
    leaf_left_out,
    left_out,
    made_in_forward,
    moves_nothing,
    part_left_out,
    rate_too_high,
    replaced_layer,
    scheduled_too_early,
    steeper_than_the_rate,
    stepped_in_vain,
    unregistered,
    used_up,
)
from lab.failures.analysis.rules.reused_graphs import changed_between, many_numbers, used_again
from lab.failures.analysis.rules.steps import never_zeroed, turned_loss, uphill, wrong_order

RULES: tuple[Rule, ...] = (
    never_zeroed,
    wrong_order,
    uphill,
    turned_loss,
    climbing_optimizer,
    accumulation,
    used_again,
    changed_between,
    many_numbers,
    no_gradient,
    chosen_terms,
    read_but_not_asked,
    numbers_in_the_sum,
    learned_numbers,
    layers_behind_numpy,
    behind_a_cut,
    parameter_behind_a_cut,
    validation_recorded,
    judged_on_record,
    averaged_with_graph,
    refused_by_numpy,
    gradient_of_the_middle,
    no_leaf_to_optimize,
    leaf_written,
    leaf_rebound,
    chained,
    overwritten,
    column_and_row,
    log_of_zero,
    root_of_zero,
    divided_by_zero,
    zero_leaf,
    both_arms_of_where,
    integers,
    coarse_difference,
    coarse_gradcheck,
    last_activation,
    dead_by_bias,
    moved_below_zero,
    many_sigmoids,
    sigmoids_in_forward,
    fading_recurrence,
    drawn_too_small,
    all_the_same,
    rate_too_high,
    growing_rate,
    steeper_than_the_rate,
    scheduled_too_early,
    made_in_forward,
    unregistered,
    replaced_layer,
    left_out,
    leaf_left_out,
    part_left_out,
    stepped_in_vain,
    moves_nothing,
    used_up,
    moving_target,
    kept_graphs,
)


def judge(program: Program, source: str) -> Iterable[RuleHit]:
    """What the rules find, each failure once a line, in the order of the lines."""
    case = Case(program, Text(source))
    found: dict[tuple[int, int], RuleHit] = {}
    for rule in RULES:
        for hit in rule(case):
            line = getattr(hit.node, "lineno", 0)
            found.setdefault((line, hit.failure), hit)
    return [found[key] for key in sorted(found)]
