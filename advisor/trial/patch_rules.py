"""How each knob is written into a script: which call, which line, which argument.

A rule plans its edit in a `SourceFile` and returns None, or the reason why it could not be written. A knob without a
rule is told in words instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from .rewriting import SourceFile, argument, dotted, last_name, text_of, unpacks

LOADER_POSITIONS = (
    "dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory",
    "drop_last", "timeout", "worker_init_fn", "multiprocessing_context", "generator",
)  # fmt: skip
WORKER_INIT_FN = LOADER_POSITIONS.index("worker_init_fn")
CUDNN_BENCHMARK = ("torch.backends.cudnn.benchmark", "backends.cudnn.benchmark", "cudnn.benchmark")
OPTIMIZERS = (
    "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD",
)  # fmt: skip
DDP = ("DistributedDataParallel", "DDP")
DEFAULT_HOOKS = "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks"


@dataclass(frozen=True)
class Place:
    """Where a knob took, and what it is set to.

    Attributes:
        line: of the unchanged file.
        value: the knob's value.
        detail: what the knob told that it did there.
        words: the command's words, which may set an option that the value comes from.
    """

    line: int
    value: Any
    words: tuple[str, ...] = ()
    detail: str = ""


Rule = Callable[[SourceFile, Place], "str | None"]


def argument_of(names: tuple[str, ...], keyword: str, positions: tuple[str, ...] = ()) -> Rule:
    """Set an argument of the call that the knob changed."""
    position = positions.index(keyword) if keyword in positions else None

    def rule(source: SourceFile, place: Place) -> str | None:
        calls = source.calls_at(place.line, *names)
        if not calls:
            return f"line {place.line} holds no call of {' or '.join(names[:2])} that could be edited"
        call = calls[0]
        present = argument(call, keyword, position)
        if present is None and unpacks(call):
            return f"line {place.line} passes unpacked arguments: put {keyword}={place.value!r} where they are made"
        if present is not None:
            return _set_at_its_origin(source, call, keyword, position, present.value, place)
        source.set_argument(call, keyword, repr(place.value), position=position)
        return None

    return rule


def _set_at_its_origin(
    source: SourceFile,
    call: cst.Call,
    keyword: str,
    position: int | None,
    value: cst.BaseExpression,
    place: Place,
) -> str | None:
    """Change a command line option's default or a constant where the value comes from there, else the call itself."""
    name = dotted(value)
    option = None if name is None else _option(source, name.rpartition(".")[2])
    if option is not None:
        passed = _passed(option, place.words)
        if passed is not None:
            return f"the command line passes {passed}: pass {place.value!r} there, it wins over any default"
        source.set_argument(option, "default", repr(place.value))
        return None
    constants = [] if name is None or "." in name else source.assignments(name)
    if len(constants) == 1 and isinstance(constants[0][1], cst.Integer | cst.SimpleString | cst.Name):
        _replace_value(source, constants[0][1], place.value)
        return None
    source.set_argument(call, keyword, repr(place.value), position=position)
    return None


def _replace_value(source: SourceFile, node: cst.BaseExpression, value: Any) -> None:
    source.edit(node, lambda updated: cst.parse_expression(repr(value)))


def _option(source: SourceFile, name: str) -> cst.Call | None:
    """The ``add_argument`` call that an attribute of the parsed arguments comes from."""
    return next((call for call in source.calls("add_argument") if _destination(call) == name), None)


def _destination(call: cst.Call) -> str | None:
    given = argument(call, "dest")
    if given is not None and isinstance(given.value, cst.SimpleString):
        return str(given.value.evaluated_value)
    flags = _flags(call)
    long = [flag for flag in flags if flag.startswith("--")] or flags
    return long[0].lstrip("-").replace("-", "_") if long else None


def _flags(call: cst.Call) -> list[str]:
    words = [arg.value for arg in call.args if arg.keyword is None]
    return [str(word.evaluated_value) for word in words if isinstance(word, cst.SimpleString)]


def _passed(option: cst.Call, words: tuple[str, ...]) -> str | None:
    flags = _flags(option)
    return next((word for word in words if word.partition("=")[0] in flags), None)


def line_after_imports(call_name: str, line: Callable[[Any], str], *imports: str) -> Rule:
    """Call something once at the top, or where the script calls it already for its own process."""

    def rule(source: SourceFile, place: Place) -> str | None:
        present = [call for call in source.calls(call_name) if not _is_for_workers(source, call)]
        for call in present:
            source.edit(call, lambda updated: updated.with_changes(args=_call(line(place.value)).args))
        if not present:
            source.insert_after_imports(*imports, line(place.value))
        return None

    return rule


def _is_for_workers(source: SourceFile, call: cst.Call) -> bool:
    """Whether a call stands in what loader workers are started with."""
    started = [argument(loader, "worker_init_fn", WORKER_INIT_FN) for loader in source.calls("DataLoader")]
    names = {last_name(given.value) for given in started if given is not None}
    return any(
        isinstance(outer, cst.Lambda) or (isinstance(outer, cst.FunctionDef) and outer.name.value in names)
        for outer in source.enclosing(call)
    )


def cudnn_benchmark(source: SourceFile, place: Place) -> str | None:
    """Set the flag wherever the script sets it, or once at the top."""
    found = [pair for name in CUDNN_BENCHMARK for pair in source.assignments(name)]
    for _, value in found:
        _replace_value(source, value, place.value)
    if not found:
        source.insert_after_imports("import torch", f"{CUDNN_BENCHMARK[0]} = {place.value}")
    return None


def _call(line: str) -> cst.Call:
    call = cst.parse_expression(line)
    assert isinstance(call, cst.Call)
    return call


def after_model(*lines: str, imports: tuple[str, ...] = ()) -> Rule:
    """Write lines below the statement that makes the model; ``{model}`` stands for its name."""

    def rule(source: SourceFile, place: Place) -> str | None:
        made = _model_statement(source, place.line)
        if isinstance(made, str):
            return made
        name, statement = made
        if imports:
            source.insert_after_imports(*imports)
        source.insert_after(statement, *(line.format(model=name) for line in lines))
        return None

    return rule


def compiled(options: str) -> Rule:
    """Compile the model in place; ``Sequential.compile`` would do nothing, for TorchDynamo passes its frames over."""
    in_place = after_model(f"{{model}}.compile({options})")
    comma = ", " if options else ""
    container = after_model(f"{{model}}.forward = torch.compile({{model}}.forward{comma}{options})")

    def rule(source: SourceFile, place: Place) -> str | None:
        return (container if place.detail.startswith("Sequential ") else in_place)(source, place)

    return rule


def compiled_for_any_shape(source: SourceFile, place: Place) -> str | None:
    """Set the argument of the script's own call, where there is one."""
    if place.detail.startswith("torch.compile "):
        return argument_of(("compile",), "dynamic")(source, place)
    return compiled("dynamic=True")(source, place)


def _model_statement(source: SourceFile, line: int) -> tuple[str, cst.SimpleStatementLine] | str:
    """The statement that makes the model which is called, or made, on a line, ready as it is called there."""
    for call in source.calls_at(line):
        statement = source.statement_of(call)
        targets = _targets(statement)
        if targets and last_name(call.func) in DDP and statement is not None:
            return targets[0], statement
        name = dotted(call.func)
        assigned = [] if name is None else [made for made, _ in source.assignments(name)]
        if name is not None and assigned:
            last = _last_before(source, call, assigned)
            lines = ", ".join(str(source.line_of(made)) for made in assigned)
            return (name, last) if last is not None else f"{name} is made in several places, lines {lines}"
    return f"the statement that makes the model called in line {line} was not found in the same file"


def _last_before(
    source: SourceFile, call: cst.Call, assigned: Sequence[cst.SimpleStatementLine]
) -> cst.SimpleStatementLine | None:
    """The last of several assignments on the way to a call; None where reading cannot tell which one that is."""
    near = [made for made in assigned if source.scope_of(made) is source.scope_of(call)]
    near = [made for made in near if source.line_of(made) < source.line_of(call)] or near or list(assigned)
    one_scope = len({source.scope_of(made) for made in near}) == 1
    sure = len(near) == 1 or (one_scope and not source.is_on_a_branch(near[-1]))
    return near[-1] if sure else None


def _targets(statement: cst.SimpleStatementLine | None) -> list[str]:
    if statement is None or not isinstance(statement.body[0], cst.Assign):
        return []
    return [name for target in statement.body[0].targets if (name := dotted(target.target)) is not None]


def channels_last(source: SourceFile, place: Place) -> str | None:
    """Convert the model below its making, and what it is called with."""
    reason = after_model("{model}.to(memory_format=torch.channels_last)", imports=("import torch",))(
        source, place
    )
    if reason is not None:
        return reason
    for call in source.calls_at(place.line):
        name = dotted(call.func)
        if name is not None and source.assignments(name) and call.args and not call.args[0].star:
            source.edit(call, _first_argument_in_channels_last)
            return None
    return "the model is converted; convert its images too, with .to(memory_format=torch.channels_last)"


def _first_argument_in_channels_last(call: cst.Call) -> cst.Call:
    first, *others = call.args
    given = text_of(first.value)
    written = (
        given
        if isinstance(first.value, cst.Name | cst.Attribute | cst.Call | cst.Subscript)
        else f"({given})"
    )
    converted = cst.parse_expression(f"{written}.to(memory_format=torch.channels_last)")
    return call.with_changes(args=[first.with_changes(value=converted), *others])


def autocast(source: SourceFile, place: Place) -> str | None:
    """Put the statement that calls the model into an autocast context."""
    statements = [source.statement_of(call) for call in source.calls_at(place.line)]
    found = next((statement for statement in statements if statement is not None), None)
    if found is None:
        return f"the call of the model in line {place.line} is no statement that could be wrapped"
    source.insert_after_imports("import torch")
    kind = "'cuda' if torch.cuda.is_available() else 'cpu'"
    source.wrap(found, f"torch.autocast({kind}, dtype=torch.bfloat16)")
    return None


def zero_grad(source: SourceFile, place: Place) -> str | None:
    """Have gradients dropped."""
    calls = source.calls_at(place.line, "zero_grad")
    for call in calls:
        source.set_argument(call, "set_to_none", "True", position=0)
    return None if calls else f"line {place.line} holds no call of zero_grad"


def anomaly_off(source: SourceFile, place: Place) -> str | None:
    """Switch anomaly detection off where it is switched on."""
    calls = source.calls_at(place.line, "set_detect_anomaly")
    for call in calls:
        source.set_argument(call, "mode", "False", position=0)
    return None if calls else f"take the debugging aid in line {place.line} out"


def inference_mode(source: SourceFile, place: Place) -> str | None:
    """Write ``inference_mode`` for the ``no_grad`` around the call."""
    for call in source.calls_at(place.line):
        for outer in source.enclosing(call):
            found = _no_grad_of(outer)
            if found is not None:
                source.edit(found, lambda updated: updated.with_changes(func=_renamed(updated.func)))
                return None
    return f"put `with torch.inference_mode():` around the evaluation in line {place.line}"


def _no_grad_of(node: cst.CSTNode) -> cst.Call | None:
    written: list[cst.BaseExpression] = []
    if isinstance(node, cst.With):
        written = [item.item for item in node.items]
    if isinstance(node, cst.FunctionDef):
        written = [decorator.decorator for decorator in node.decorators]
    calls = [call for call in written if isinstance(call, cst.Call)]
    return next((call for call in calls if last_name(call.func) == "no_grad"), None)


def _renamed(function: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(function, cst.Attribute):
        return function.with_changes(attr=cst.Name("inference_mode"))
    return cst.parse_expression("torch.inference_mode")


def _loader(keyword: str) -> Rule:
    return argument_of(("DataLoader",), keyword, LOADER_POSITIONS)


def _ddp(keyword: str) -> Rule:
    return argument_of(DDP, keyword)


def _hook(name: str) -> Rule:
    return after_model(f"{{model}}.register_comm_hook(None, default_hooks.{name})", imports=(DEFAULT_HOOKS,))


RULES: Mapping[str, Rule] = {
    "loader.num_workers": _loader("num_workers"),
    "loader.prefetch_factor": _loader("prefetch_factor"),
    "loader.persistent_workers": _loader("persistent_workers"),
    "loader.pin_memory": _loader("pin_memory"),
    "loader.in_order": _loader("in_order"),
    "loader.multiprocessing_context": _loader("multiprocessing_context"),
    "batch.size": _loader("batch_size"),
    "optimizer.foreach": argument_of(OPTIMIZERS, "foreach"),
    "optimizer.fused": argument_of(OPTIMIZERS, "fused"),
    "optimizer.zero_grad_none": zero_grad,
    "ddp.bucket_cap_mb": _ddp("bucket_cap_mb"),
    "ddp.static_graph": _ddp("static_graph"),
    "ddp.gradient_as_bucket_view": _ddp("gradient_as_bucket_view"),
    "ddp.find_unused_parameters": _ddp("find_unused_parameters"),
    "ddp.broadcast_buffers": _ddp("broadcast_buffers"),
    "ddp.comm_hook_bf16": _hook("bf16_compress_hook"),
    "ddp.comm_hook_fp16": _hook("fp16_compress_hook"),
    "threads.intraop": line_after_imports(
        "set_num_threads", lambda value: f"torch.set_num_threads({value})", "import torch"
    ),
    "threads.interop": line_after_imports(
        "set_num_interop_threads", lambda value: f"torch.set_num_interop_threads({value})", "import torch"
    ),
    "precision.tf32": line_after_imports(
        "set_float32_matmul_precision",
        lambda value: 'torch.set_float32_matmul_precision("high")',
        "import torch",
    ),
    "cudnn.benchmark": cudnn_benchmark,
    "precision.autocast_bf16": autocast,
    "compile.default": compiled(""),
    "compile.dynamic": compiled_for_any_shape,
    "compile.reduce_overhead": compiled('mode="reduce-overhead"'),
    "compile.max_autotune": compiled('mode="max-autotune"'),
    "memory_format.channels_last": channels_last,
    "debug.off": anomaly_off,
    "eval.inference_mode": inference_mode,
}
