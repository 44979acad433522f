"""Charts as plain ECharts dictionaries. Use them through this package: `from lab import charts`, `charts.loss(...)`."""

# ruff: noqa: F401  the names that this package offers

from lab.charts.bars import bars
from lab.charts.chart import Chart
from lab.charts.curves import (
    CurveOptions,
    accuracy,
    dead_units,
    gradient_norms,
    horizon,
    loss,
    norms_and_updates,
    r_squared,
    saturation,
)
from lab.charts.decision_boundary import Plane, boundary, placed_points, signed_shades, unit
from lab.charts.images import confusion_matrix, drawing, likelihoods, samples
from lab.charts.jacobian import jacobian
from lab.charts.landscape import STEP_MS, Track, landscape
from lab.charts.lines import Axis, Line, Mark, lines
from lab.charts.losses import limit_log_axis, losses
from lab.charts.network import LINES as NETWORK_LINES
from lab.charts.network import network
from lab.charts.regression import answers_against_targets, curve
from lab.charts.weights import ridges
