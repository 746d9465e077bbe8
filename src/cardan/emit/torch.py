"""PyTorch: a differentiable function of tensors (..., n); leading axes broadcast."""

from __future__ import annotations

from typing import ClassVar

from .jax import Jax


class Torch(Jax):
    """The table for PyTorch. Its functions take tensors only, where NumPy's take numbers too."""

    language = "torch"
    functions: ClassVar[dict[str, str]] = {
        "sin": "torch.sin({})", "cos": "torch.cos({})", "sqrt": "torch.sqrt({})",
        "abs": "torch.abs({})", "sign": "torch.sign({})",
        "atan2": "torch.atan2({}, {})", "select": "torch.where({} > 0, {}, {})",
    }  # fmt: skip
    imports = "import torch"
    convert = "torch.as_tensor({x}, dtype=torch.{dtype})"
    broadcast = "torch.broadcast_shapes({shapes})"
    full = "torch.as_tensor(x, dtype=torch.{dtype}, device=device).expand(lead)"
    stack = "torch.stack({values}, dim=-1)"
    empty = "torch.zeros(lead + (0,), dtype=torch.{dtype}, device=device)"

    @classmethod
    def functions_of(cls, dtype: str) -> dict[str, str]:
        tensor = f"torch.as_tensor({{}}, dtype=torch.{dtype})"
        return {
            op: text.format("{}", tensor, tensor)
            if op == "select"
            else text.format(tensor, tensor)
            if op == "atan2"
            else text
            for op, text in cls.functions.items()
        }

    def start(self) -> list[str]:
        first = next(iter(self.arrays.values()), "")
        return [*super().start(), f"    device = {f'{first}.device' if first else None}"]
