"""How far the rest of a step gets shorter once its bottleneck is gone.

On a CPU the training competes for cores and caches with what it waits for, in some steps more than in others: the
undisturbed ones show what the rest takes by itself, as does the typical step where only a few steps have the
bottleneck. After other work of its own the training thread finds its caches cold and its helpers asleep in every step,
which no step shows. Where a GPU computes, nothing is claimed.
"""

from __future__ import annotations

from ...profiler.report import Report, StageShare
from ...profiler.vocabulary import Kind, Stage
from .estimate import NO_RELIEF, Relief

#: The stage whose time a kind of bottleneck is; kinds that are the model's own work have no rest to relieve.
_STAGE_OF = {
    Kind.DATA_LOADING: Stage.DATA_WAIT,
    Kind.COMMUNICATION: Stage.COMMUNICATION,
    Kind.STRAGGLERS: Stage.COMMUNICATION,
    Kind.CHECKPOINT_IO: Stage.CHECKPOINT,
    Kind.EVALUATION: Stage.EVALUATION,
    Kind.OPTIMIZER_STEP: Stage.OPTIMIZER,
    Kind.RECOMPILATION: Stage.FORWARD,
    Kind.HOST_PYTHON: Stage.HOST,
    Kind.LOGGING: Stage.HOST,
    Kind.GARBAGE_COLLECTION: Stage.HOST,
}
#: Kinds with which more of their stage can go than the finding itself: what a script computes only to log it, and what
#: ranks take to exchange after one has come late.
_WITH_THEIR_STAGE = (Kind.HOST_PYTHON, Kind.LOGGING, Kind.STRAGGLERS)
#: Which part of the rest goes, likely and at best, with kinds that fill half of a step or more: with work that the
#: training thread does itself between model and optimizer, and at best with exchange, which computes on the same cores.
#: Recorded pairs of scripts with and without such work: the rest took 0.44 to 1.1 times as long without, 0.7 in the
#: middle.
_OWN_WORK = (0.3, 0.55)
_COLD_SHARES = {
    Kind.DATA_LOADING: _OWN_WORK,
    Kind.LOGGING: _OWN_WORK,
    Kind.GARBAGE_COLLECTION: _OWN_WORK,
    Kind.COMMUNICATION: (0.0, 0.5),
}


def relief_of(report: Report, kind: Kind, *, step_s: float, exposed_s: float) -> Relief:
    """The relief of a step of ``step_s`` seconds, of which a finding of some kind exposes ``exposed_s``."""
    own = next((one for one in report.stages if one.name is _STAGE_OF.get(kind)), None)
    if report.setup.get("device.kind") != "cpu" or own is None:
        return NO_RELIEF
    undisturbed_s, quick_s = _of_the_rest(own, step_s - own.seconds_per_step)
    typical_step_s, quick_step_s = _of_whole_steps(report, step_s)
    without_s = step_s - exposed_s
    likely_s = max(undisturbed_s, without_s - typical_step_s)
    best_s = max(quick_s, without_s - quick_step_s, likely_s)
    beside_s = max(own.seconds_per_step - exposed_s, 0.0) if kind in _WITH_THEIR_STAGE else 0.0
    if kind in _COLD_SHARES and exposed_s >= 0.5 * step_s and not report.setup.get("loader.num_workers"):
        likely_s, best_s = (
            max(seconds, share * (without_s - beside_s))
            for seconds, share in zip((likely_s, best_s), _COLD_SHARES[kind], strict=True)
        )
    return Relief(likely_s, best_s + beside_s)


def _of_the_rest(own: StageShare, mean_s: float) -> tuple[float, float]:
    """How much less than in the mean the rest beside a stage takes where little disturbs it, and in quick steps."""
    undisturbed_s, quick_s = (
        max(mean_s - (mean_s if least is None else least), 0.0)
        for least in (own.rest_undisturbed_s, own.rest_quick_s)
    )
    return undisturbed_s, quick_s


def _of_whole_steps(report: Report, mean_s: float) -> tuple[float, float]:
    """A typical and a quick step: where few steps have the bottleneck, these have it not."""
    time = report.step_time
    if time is None:
        return mean_s, mean_s
    return time.p50_s, time.p50_s if time.p10_s is None else time.p10_s
