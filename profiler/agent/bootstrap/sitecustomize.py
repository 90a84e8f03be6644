"""Python imports this at start-up, because the launcher put its folder on PYTHONPATH.

It starts the agent under a private name, takes its folder off ``sys.path`` again, and then runs the
``sitecustomize`` that Python would have found without it. It must never fail and never print.
"""

import importlib.util
import os.path
import sys
from importlib.machinery import PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(_HERE)


def _start_agent() -> None:
    spec = importlib.util.spec_from_file_location(
        "_trainrx_agent", os.path.join(_PACKAGE, "__init__.py"), submodule_search_locations=[_PACKAGE]
    )
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["_trainrx_agent"] = module
    spec.loader.exec_module(module)
    module.start_from_environment()


def _run_next_sitecustomize() -> None:
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != _HERE]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _start_agent()
except Exception:  # the user's program runs, whatever happens here
    sys.modules.pop("_trainrx_agent", None)
_run_next_sitecustomize()
