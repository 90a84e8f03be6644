"""The headings of a run's parts and the captions that no run changes: one wording for dashboard and reports."""

from __future__ import annotations

STAGES = "Where a step goes"
DEVICE_STAGES = "The same step on the GPU"
STEPS = "Steps over time"

FINDINGS = "Findings"
NO_FINDINGS = "None: no rule found enough time in one place to speak of."

LINES = "Lines of Python"
LINES_CAPTION = "Where the training thread was, by sampling its stack; pale bars rest on few samples."
NO_LINES = "n/a: the training thread was not sampled in timed steps."
ALL_LINES = "All lines, with full paths"

NATIVE = "Native code below the lines"

DEVICE = "What the device did"
KERNELS = "Kernels, by class"
DEVICE_STEPS = "The device in each step"
CROSSINGS = "Between host and GPU"
MEMORY = "Device memory"

ESTIMATE = "Where the time goes, estimated"
ESTIMATED_LINES = "Lines of the training thread"
ESTIMATED_WORKERS = "Loader workers"

LOADER = "How batches are made"
LOADER_WORKERS = "Workers"
LOADER_LINES = "Lines that loading was seen in"

RANKS = "Ranks"
COLLECTIVES = "Collectives by kind"
RANK_WAITS = "Collectives by rank"

TELEMETRY = "The machine during the run"
HOST = "Host"
DEVICES = "Devices"

WHAT_IFS = "What if"

ADVICE = "What to try"
ADVICE_CAPTION = (
    "In order of predicted gain for the effort; changes that alter what is learned come last, unless they answer the "
    "very cause with a predicted gain. Predictions are no measurements: a trial measures."
)
NEGATIVE_EVIDENCE = "It did not pay here."
NO_EVIDENCE = "No published evidence with numbers is known to us."
CELLS = "Where else to look"
CELLS_CAPTION = (
    "Parts of a training recipe by what can be done to them. Solid: methods there relieve the finding. "
    "Dashed: methods there make it worse."
)
RULED_OUT = "Ruled out here"
RULED_OUT_CAPTION = "Methods that relieve what was found, but not on this setup, and why."

TRIALS = "Trials of this run"
NO_TRIALS = "None yet."

SETUP = "Setup"
NOTES = "Notes of the recorder"
