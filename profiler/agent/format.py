"""What the agent writes and the analysis reads: record layouts, codes and file names.

A rank's folder holds

- ``spans.bin``: little-endian int64 records ``code, start_ns, end_ns, argument``;
- ``samples.bin``: little-endian int64 records ``time_ns, stack``;
- ``facts.jsonl``: one JSON object per line with ``t`` (ns) and ``fact``; rare things: who the process is, stacks,
  loaders, optimizers, notes, costs;
- ``workers/<loader>-<worker>/``: what a loader worker wrote (``main`` for a training process that loads by itself):
  ``facts.jsonl``, ``samples.bin``, and ``batches.bin`` with int64 records ``start_ns, end_ns, samples, samples_wall_ns,
  samples_cpu_ns, collate_wall_ns, collate_cpu_ns, core_wait_ns, bytes_read, pid``; core wait and bytes count from the
  process's start, -1 where not known;
- ``device.bin``: of a run on a GPU, little-endian int64 records ``code, start_ns, end_ns, device_start_ns,
  device_end_ns``: a span of ``spans.bin``, or the end of a fetch, and when the device came to its beginning and end,
  in nanoseconds of the device's clock since the first one;
- ``trace.json.gz``: the Chrome trace of the deep window, if there was one;
- ``fault``: reserved space that the agent overwrites when it switches itself off, so that a full disk can still tell.
- ``gone``: written by the launcher when it sees the process end: JSON with ``t`` and, where known, ``signal``.

A run may go on for weeks, so files of records are bounded. ``spans.bin``, ``samples.bin``, ``batches.bin`` and
``device.bin`` grow to 8 MiB; what comes after lies in ``<name>.1``, ``<name>.2``, … of 4 MiB each, of which the last
`KEPT_SEGMENTS` are kept: the beginning and the latest stretch in full detail, nothing between. Of all spans after
``spans.bin`` was full, ``minutes.bin`` has an int64 record a minute: ``start_ns, end_ns, steps, steps_ns,
shortest_step_ns, longest_step_ns`` and the summed nanoseconds of the spans of each of `MINUTE_CODES`; spans lie within
one another, so these sums overlap.
``facts.jsonl`` grows to 32 MiB, from then on only last words are added: samples whose stack came later have no name.

The launcher may write ``stop`` into the run folder: the number of the step after which all ranks end. A process that
started ranks by ``torch.multiprocessing.spawn`` writes ``first_failure.json`` there: ``pid`` and ``clock`` of the rank
that failed first, and ``signal`` if one killed it.

All times are ``time.perf_counter_ns`` of the machine. Records are only ever appended: a killed process leaves at worst
a torn last record, which readers drop.
"""

SPANS_FILE = "spans.bin"
SAMPLES_FILE = "samples.bin"
FACTS_FILE = "facts.jsonl"
FAULT_FILE = "fault"
GONE_FILE = "gone"
FIRST_FAILURE_FILE = "first_failure.json"
WORKERS_FOLDER = "workers"
BATCHES_FILE = "batches.bin"
DEVICE_FILE = "device.bin"
MAIN_PROCESS = "main"
TRACE_FILE = "trace.json.gz"
STOP_FILE = "stop"
MINUTES_FILE = "minutes.bin"
KEPT_SEGMENTS = 3
MAX_FACTS_BYTES = 32 * 1024 * 1024
#: Facts that are written however many there were before.
LAST_WORDS = frozenset({"end", "note", "flops", "uncaught"})
FAULT_BYTES = 1024
SPAN_WORDS = 4
SAMPLE_WORDS = 2
BATCH_WORDS = 10
DEVICE_WORDS = 5

#: Span codes. The argument is the loader's or optimizer's number, or as said.
DATA_WAIT = 1  #: argument: loader number, plus `READY_UNIT` times one more than the batches that lay ready (0: unknown)
LOADER_START = 2
FORWARD = 3  #: argument: one of the four below
BACKWARD = 4
OPTIMIZER = 5
COMMUNICATION = (
    6  #: argument: position in `COLLECTIVE_KINDS`, plus `COLLECTIVE_UNIT` times the bytes that are moved
)
CHECKPOINT = 7
H2D = 8  #: argument: number of bytes
ZERO_GRAD = 9
GRADIENTS_READY = 10  #: a moment; argument 1: the backward averages gradients over ranks
LOADER_END = 11  #: a fetch that found the loader exhausted, or failed
COMMUNICATION_WAIT = 12  #: waiting for an asynchronous collective; argument: position in `COLLECTIVE_KINDS`
RECOMPUTATION = 13  #: a checkpointed part of the model is computed again, within a backward
PINNING = 14  #: in any thread; argument: loader number, plus `READY_UNIT` times the CPU nanoseconds
GARBAGE = (
    20  #: argument: generation, plus `PLACE_UNIT` times the number of its ``garbage_place`` fact (0: none)
)
COMPILATION = 21  #: TorchDynamo compiles
STEP = 30  #: argument: data fetches in the step
PROCESS_CPU = 32  #: a moment at the end of a step; argument: CPU nanoseconds of the process so far
STEP_TRACED = (
    31  #: a step of the torch.profiler window, or whose operations are counted: not part of the timing
)

MINUTE_CODES = (
    DATA_WAIT, LOADER_START, FORWARD, BACKWARD, OPTIMIZER, COMMUNICATION, CHECKPOINT, H2D, ZERO_GRAD, LOADER_END,
    GARBAGE,
)  # fmt: skip
MINUTE_WORDS = 6 + len(MINUTE_CODES)

#: Kinds of collectives by their number in a span's argument; what is moved counts once: the input of reduce-scatter and
#: all-to-all, the output of all-gather, else the tensor.
COLLECTIVE_KINDS = (
    "unknown", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter",
    "barrier", "send", "receive",
)  # fmt: skip
COLLECTIVE_UNIT = 1 << 6
#: Sorts of forward: with gradients, in training mode; with gradients off; with gradients although the module is in
#: evaluation mode; with gradients, of a module without parameters or parts, such as a loss.
IN_TRAINING, WITHOUT_GRADIENTS, IN_EVALUATION_MODE, OF_NO_PARTS = range(4)

READY_UNIT = 1 << 16
PLACE_UNIT = 4

#: In the settings that processes take from their parent while a loader starts its workers: the folder they write to,
#: with a mark for their number.
LOADER_KEY = "trainrx_loader"
WORKER_MARK = "{worker}"
#: How a note begins that tells of a fault in measuring how batches are made.
LOADING_FAULT = "The recorder stopped measuring how batches are made after a fault of its own"
#: The environment variable that carries the agent's options as JSON.
OPTIONS_VARIABLE = "TRAINRX_AGENT"
