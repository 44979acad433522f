"""The rules that find failures in a program, and `apply_rules`, which runs them all.

A rule takes a Case (the program's events and its text) and yields RuleHits: the failure's number in catalogue.toml, the
place, one sentence with the program's own names, and the edit. A rule that is not sure reports nothing.
"""

from collections.abc import Iterable

from lab.failures.analysis.edits import Text
from lab.failures.analysis.program import Program
from lab.failures.analysis.rules.accumulating import accumulation
from lab.failures.analysis.rules.case import Case, Rule, RuleHit
from lab.failures.analysis.rules.cuts import (
    averaged_with_graph,
    choice_as_loss_term,
    evaluation_recorded,
    grad_without_requires_grad,
    layers_behind_numpy,
    learned_numbers,
    moving_target,
    network_behind_a_cut,
    no_gradient,
    number_as_loss_term,
    parameter_behind_a_cut,
    refused_by_numpy,
    still_frozen,
    unrecorded_loss_term,
    validation_recorded,
)
from lab.failures.analysis.rules.gathered_losses import kept_graphs
from lab.failures.analysis.rules.leaves import (
    grad_of_nonleaf,
    leaf_rebound,
    leaf_written,
    loop_name_rebound,
    optimizer_of_nonleaf,
    overwritten,
    recorded_updates,
)
from lab.failures.analysis.rules.networks import (
    activation_before_loss,
    dead_by_bias,
    drawn_too_small,
    fading_recurrence,
    identical_units,
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
    consumed_generator,
    growing_rate,
    leaf_left_out,
    left_out_by_axes,
    made_in_forward,
    network_left_out,
    optimizes_other_network,
    part_left_out,
    rate_above_curvature_limit,
    rate_too_high,
    replaced_layer,
    replaced_network,
    scheduled_too_early,
    unregistered,
)
from lab.failures.analysis.rules.reused_graphs import backward_from_many, graph_used_again, weights_changed_between
from lab.failures.analysis.rules.steps import gradient_ascent, never_zeroed, wrong_order, wrong_sign_of_loss

RULES: tuple[Rule, ...] = (
    never_zeroed,
    wrong_order,
    gradient_ascent,
    wrong_sign_of_loss,
    climbing_optimizer,
    accumulation,
    graph_used_again,
    weights_changed_between,
    backward_from_many,
    no_gradient,
    choice_as_loss_term,
    unrecorded_loss_term,
    grad_without_requires_grad,
    number_as_loss_term,
    learned_numbers,
    layers_behind_numpy,
    network_behind_a_cut,
    parameter_behind_a_cut,
    validation_recorded,
    evaluation_recorded,
    averaged_with_graph,
    refused_by_numpy,
    still_frozen,
    grad_of_nonleaf,
    optimizer_of_nonleaf,
    leaf_written,
    leaf_rebound,
    loop_name_rebound,
    recorded_updates,
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
    activation_before_loss,
    dead_by_bias,
    moved_below_zero,
    many_sigmoids,
    sigmoids_in_forward,
    fading_recurrence,
    drawn_too_small,
    identical_units,
    rate_too_high,
    growing_rate,
    rate_above_curvature_limit,
    scheduled_too_early,
    made_in_forward,
    unregistered,
    replaced_layer,
    network_left_out,
    leaf_left_out,
    left_out_by_axes,
    part_left_out,
    replaced_network,
    optimizes_other_network,
    consumed_generator,
    moving_target,
    kept_graphs,
)


def apply_rules(program: Program, source: str) -> Iterable[RuleHit]:
    """Run every rule and return its hits in the order of the lines, each failure once a line."""
    case = Case(program, Text(source))
    found: dict[tuple[int, int], RuleHit] = {}
    for rule in RULES:
        for hit in rule(case):
            line = getattr(hit.node, "lineno", 0)
            found.setdefault((line, hit.failure), hit)
    return [found[key] for key in sorted(found)]
