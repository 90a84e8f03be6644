"""Runs a script as if files of it were changed: ``patched_script.py MAPPING.json SCRIPT [ARGS]...``.

The mapping holds changed source text by the path of the unchanged file. No file is changed, and ``__file__`` and
``sys.path`` are those of the unchanged script. Runs in the user's process: standard library only.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any


def code_of(path: Path, sources: dict[str, str]) -> CodeType:
    """The code of a file, changed or as it lies there."""
    text = sources[str(path)] if str(path) in sources else path.read_text(encoding="utf-8")
    return compile(text, str(path), "exec", dont_inherit=True)


def change_imports(sources: dict[str, str]) -> None:
    """Have imports of changed files run their changed text."""
    original = SourceFileLoader.get_code

    def get_code(self: Any, fullname: str, resolve: Any = Path, code: Any = code_of) -> Any:
        path = resolve(self.get_filename(fullname)).resolve()
        return code(path, sources) if str(path) in sources else original(self, fullname)

    SourceFileLoader.get_code = get_code


def main() -> None:
    """Run the script in place of this one."""
    mapping, script, *arguments = sys.argv[1:]
    sources: dict[str, str] = json.loads(Path(mapping).read_text(encoding="utf-8"))
    path = Path(script).resolve()
    sys.argv = [script, *arguments]
    sys.path[0] = str(path.parent)
    change_imports(sources)
    namespace = sys.modules["__main__"].__dict__
    code = code_of(path, sources)
    for name in [name for name in namespace if not name.startswith("__")]:
        del namespace[name]
    namespace.update({"__file__": script, "__doc__": None})
    exec(code, namespace)


if __name__ == "__main__":
    main()
