"""Leaves one backend of scaled dot product attention on; an input that it cannot take raises torch's own error."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .site import Site

BACKENDS = ("flash", "mem_efficient", "math", "cudnn")


def use_backend(site: Site, backend: str) -> None:
    """Switch the other backends off once the first attention is computed."""

    def watch_first_call(torch: Any) -> None:
        functional = torch.nn.functional
        original = functional.scaled_dot_product_attention

        @wraps(original)
        def first_call(*args: Any, **kwargs: Any) -> Any:
            if functional.scaled_dot_product_attention is first_call:
                functional.scaled_dot_product_attention = original
                for name in BACKENDS:
                    switch = getattr(torch.backends.cuda, f"enable_{name}_sdp", None)
                    if switch is not None:
                        switch(name == backend)
                site.applied(f"scaled_dot_product_attention: {backend} only")
            return original(*args, **kwargs)

        functional.scaled_dot_product_attention = first_call

    site.when_imported("torch", watch_first_call)
