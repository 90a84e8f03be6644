"""Replays a run's trace with one thing changed at a time, for the report."""

from __future__ import annotations

from pathlib import Path

from ..profiler.errors import TrainrxError
from ..profiler.ingest.columns import Trace
from ..profiler.rank_trace import kept_traces, open_trace
from ..profiler.report import Report, WhatIf
from .predict.building import build_graph
from .predict.whatif import Replayer, standard_changes

#: A replay that misses more of the measured step than this predicts nothing.
MAX_UNEXPLAINED_SHARE = 0.05
#: What saves less of the step is not worth a line.
LEAST_SAVED_SHARE = 0.001


def with_what_ifs(report: Report, run_dir: Path) -> Report:
    """The report with what-if predictions from its first rank's trace; unchanged where there is no device trace."""
    if report.device is None or not report.ranks:
        return report
    path = kept_traces(run_dir).get(report.ranks[0].rank)
    if path is None:
        return report
    try:
        return report.model_copy(update={"what_ifs": what_ifs(open_trace(path))})
    except TrainrxError:
        return report


def what_ifs(trace: Trace) -> list[WhatIf]:
    """One prediction per standard change that would save anything."""
    replayer = Replayer(build_graph(trace))
    if abs(replayer.unexplained_share) > MAX_UNEXPLAINED_SHARE:
        return []
    exposed = [(change, replayer.exposed_ns(change)) for change in standard_changes()]
    predictions = [
        replayer.predict(change, exposed_ns=exposed_ns)
        for change, exposed_ns in exposed
        if exposed_ns > LEAST_SAVED_SHARE * replayer.graph.measured_ns
    ]
    return [
        WhatIf(
            change=one.change,
            measured_step_s=one.measured_step_s,
            predicted_step_s=one.predicted_step_s,
            bound_step_s=one.bound_step_s,
            unexplained_share=one.unexplained_share,
        )
        for one in predictions
        if one.measured_step_s > 0 and one.predicted_step_s < (1 - LEAST_SAVED_SHARE) * one.measured_step_s
    ]
