"""The shortest way into a kernel from Python, as LLVM text: a method of the C API for one state.

    PyObject *single(PyObject *self, PyObject *args, PyObject *keywords)

answers only the plainest call: every input by name, each a NumPy array of exactly the program's
type and shape, contiguous and aligned, and `out` absent, None or another such array; of several
outputs a tuple of them, which share no memory. Anything else goes to the general function, with the
same arguments. No Python code runs on the short way, so
borrowed references stay good.

`self` is a tuple whose first item is a bytes object, a table of addresses (`TABLE`, then names of
the inputs, then what stands for inputs not given, or zero): the text itself holds no address and
can be kept on disk. All calls into Python and NumPy go through that table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

TABLE = (
    "ndarray", "dtype", "general", "result", "None", "out", "tuple",
    "PyDict_Next", "PyObject_Call", "PyArray_New", "PyTuple_New", "PyTuple_SetItem",
    "Py_IncRef", "Py_DecRef",
)  # fmt: skip

_SIZES = {11: 4, 12: 8}  # bytes of NumPy's float32 and float64 by their number
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400  # flags of NumPy arrays


@dataclass(frozen=True)
class Layout:
    """Bytes from the start of an object to its fields, on this interpreter."""

    head: int  # size of what every object starts with, ending with its type
    tuple_items: int
    bytes_text: int

    @property
    def array(self) -> dict[str, int]:
        """Fields of a NumPy array object, as its public header file declares them."""
        fields = ("data", "nd", "dimensions", "strides", "base", "descr", "flags")
        return {name: self.head + 8 * k for k, name in enumerate(fields)}


Shapes = Mapping[str, tuple[int, ...]]


def single_text(inputs: Shapes, outputs: Shapes, type_number: int, layout: Layout) -> str:
    """The function `single` beside a `kernel` for one state."""
    return _Single(list(inputs.values()), list(outputs.values()), type_number, layout).text()


@dataclass
class _Single:
    inputs: Sequence[tuple[int, ...]]
    outputs: Sequence[tuple[int, ...]]
    type_number: int
    layout: Layout
    lines: list[str] = field(default_factory=list)
    fresh: int = 0

    def emit(self, text: str) -> str:
        self.fresh += 1
        self.lines.append(f"  %v{self.fresh} = {text}")
        return f"%v{self.fresh}"

    def load(self, type: str, base: str, offset: int) -> str:
        place = self.emit(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self.emit(f"load {type}, ptr {place}")

    def entry(self, name: str | int) -> str:
        """An address of the table, by name or by number after the named ones."""
        k = TABLE.index(name) if isinstance(name, str) else len(TABLE) + name
        return self.load("ptr", "%table", 8 * k)

    def unless(self, condition: str, other: str) -> None:
        """Go on if the condition holds, else to the other block."""
        self.fresh += 1
        self.lines += [
            f"  br i1 {condition}, label %b{self.fresh}, label %{other}",
            f"b{self.fresh}:",
        ]

    def call(self, type: str, function: str, *arguments: str) -> str:
        address = self.entry(function)
        text = f"call {type} {address}({', '.join(arguments)})"
        if type != "void":
            return self.emit(text)
        self.lines.append(f"  {text}")
        return ""

    def text(self) -> str:
        count = len(self.inputs)
        for k, shape in enumerate(self.outputs):
            sizes = ", ".join(f"i64 {size}" for size in (*shape, 0))
            self.lines.append(f"@sizes{k} = private constant [{len(shape) + 1} x i64] [{sizes}]")
        self.lines += [
            "define ptr @single(ptr %self, ptr %args, ptr %keywords) {",
            "entry:",
            f"  %slots = alloca [{count + 2} x ptr]",  # inputs, out, anything else
            "  %position = alloca i64",
            "  %key = alloca ptr",
            "  %value = alloca ptr",
            f"  %in = alloca [{count + 1} x ptr]",
            f"  %outs = alloca [{len(self.outputs) + 1} x ptr]",
            f"  %strides = alloca [{count + len(self.outputs) + 1} x i64]",
            f"  store [{count + len(self.outputs) + 1} x i64] zeroinitializer, ptr %strides",
            "  store i64 0, ptr %position",
        ]
        texts = self.load("ptr", "%self", self.layout.tuple_items)
        self.lines.append(f"  %table = getelementptr i8, ptr {texts}, i64 {self.layout.bytes_text}")
        self._collect()
        self._check_inputs()
        self._answer()
        self.lines += ["general:"]
        done = self.call("ptr", "PyObject_Call", f"ptr {self.entry('general')}", "ptr %args",
                         "ptr %keywords")  # fmt: skip
        self.lines += [f"  ret ptr {done}", "}", ""]
        return "\n".join(self.lines)

    def _collect(self) -> None:
        """Every keyword argument into its slot; names are interned, so addresses tell them."""
        count = len(self.inputs)
        for k in range(count + 2):
            place = self.emit(f"getelementptr ptr, ptr %slots, i64 {k}")
            first = self.entry(count + k) if k < count else "null"
            self.lines.append(f"  store ptr {first}, ptr {place}")
        self.unless(self.emit("icmp ne ptr %keywords, null"), "general")
        unnamed = self.load("i64", "%args", self.layout.head)
        self.unless(self.emit(f"icmp eq i64 {unnamed}, 0"), "general")
        self.lines += ["  br label %next", "next:"]
        more = self.call("i32", "PyDict_Next", "ptr %keywords", "ptr %position", "ptr %key",
                         "ptr %value")  # fmt: skip
        self.unless(self.emit(f"icmp ne i32 {more}, 0"), "collected")
        key, value = self.emit("load ptr, ptr %key"), self.emit("load ptr, ptr %value")
        slot = str(count + 1)
        for k, name in enumerate([*range(count), "out"]):
            same = self.emit(f"icmp eq ptr {key}, {self.entry(name)}")
            slot = self.emit(f"select i1 {same}, i64 {k}, i64 {slot}")
        place = self.emit(f"getelementptr ptr, ptr %slots, i64 {slot}")
        self.lines += [f"  store ptr {value}, ptr {place}", "  br label %next", "collected:"]
        other = self._slot(count + 1)
        self.unless(self.emit(f"icmp eq ptr {other}, null"), "general")

    def _slot(self, k: int) -> str:
        place = self.emit(f"getelementptr ptr, ptr %slots, i64 {k}")
        return self.emit(f"load ptr, ptr {place}")

    def _check_inputs(self) -> None:
        for k, shape in enumerate(self.inputs):
            array = self._slot(k)
            self.unless(self.emit(f"icmp ne ptr {array}, null"), "general")
            self._check(array, shape, _CONTIGUOUS | _ALIGNED)
            self._place_data("in", k, array)

    def _check(self, array: str, shape: tuple[int, ...], flags: int) -> None:
        """To the general function unless it is exactly such an array."""
        at = self.layout.array
        pointer = self.load("ptr", array, self.layout.head - 8)
        self.unless(self.emit(f"icmp eq ptr {pointer}, {self.entry('ndarray')}"), "general")
        pointer = self.load("ptr", array, at["descr"])
        self.unless(self.emit(f"icmp eq ptr {pointer}, {self.entry('dtype')}"), "general")
        pointer = self.emit(f"and i32 {self.load('i32', array, at['flags'])}, {flags}")
        self.unless(self.emit(f"icmp eq i32 {pointer}, {flags}"), "general")
        pointer = self.load("i32", array, at["nd"])
        self.unless(self.emit(f"icmp eq i32 {pointer}, {len(shape)}"), "general")
        if not shape:
            return
        sizes = self.load("ptr", array, at["dimensions"])
        for k, size in enumerate(shape):
            pointer = self.load("i64", sizes, 8 * k)
            self.unless(self.emit(f"icmp eq i64 {pointer}, {size}"), "general")

    def _place_data(self, table: str, k: int, array: str) -> None:
        data = self.load("ptr", array, self.layout.array["data"])
        place = self.emit(f"getelementptr ptr, ptr %{table}, i64 {k}")
        self.lines.append(f"  store ptr {data}, ptr {place}")

    def _answer(self) -> None:
        """Into `out` where it is given, else into new arrays."""
        out = self._slot(len(self.inputs))
        absent = self.emit(f"icmp eq ptr {out}, null")
        none = self.emit(f"icmp eq ptr {out}, {self.entry('None')}")
        missing = self.emit(f"or i1 {absent}, {none}")
        self.lines += [f"  br i1 {missing}, label %make, label %fill", "fill:"]
        arrays = [out] if len(self.outputs) == 1 else self._items(out)
        for k, array in enumerate(arrays):
            self._check(array, self.outputs[k], _CONTIGUOUS | _ALIGNED | _WRITEABLE)
            self._place_data("outs", k, array)
        if len(arrays) > 1:
            self._require_apart()
        self._run()
        if len(arrays) == 1:
            self.call("void", "Py_IncRef", f"ptr {out}")
            self.lines += [f"  ret ptr {out}", "make:"]
            array = self._new(0, "")
            self._run()
            self.lines.append(f"  ret ptr {array}")
        else:
            result = self._packed(out)
            self.lines += [f"  ret ptr {result}", "make:"]
            self._answer_all()

    def _items(self, out: str) -> list[str]:
        """Those of a tuple of as many arrays as there are outputs."""
        kind = self.load("ptr", out, self.layout.head - 8)
        self.unless(self.emit(f"icmp eq ptr {kind}, {self.entry('tuple')}"), "general")
        size = self.load("i64", out, self.layout.head)
        self.unless(self.emit(f"icmp eq i64 {size}, {len(self.outputs)}"), "general")
        at = self.layout.tuple_items
        return [self.load("ptr", out, at + 8 * k) for k in range(len(self.outputs))]

    def _require_apart(self) -> None:
        """No output may lie where another or an input does."""
        written = [("outs", k, shape) for k, shape in enumerate(self.outputs)]
        others = written + [("in", k, shape) for k, shape in enumerate(self.inputs)]
        ends = {}
        for table, k, shape in others:
            place = self.emit(f"getelementptr ptr, ptr %{table}, i64 {k}")
            first = self.emit(f"load ptr, ptr {place}")
            size = prod(shape) * _SIZES[self.type_number]
            ends[table, k] = first, self.emit(f"getelementptr i8, ptr {first}, i64 {size}")
        for k in range(len(written)):
            first, last = ends["outs", k]
            for table, other, _ in others[k + 1 :]:
                start, stop = ends[table, other]
                before = self.emit(f"icmp ule ptr {last}, {start}")
                after = self.emit(f"icmp ule ptr {stop}, {first}")
                self.unless(self.emit(f"or i1 {before}, {after}"), "general")

    def _packed(self, arrays: str) -> str:
        """result(*arrays)"""
        return self.call(
            "ptr", "PyObject_Call", f"ptr {self.entry('result')}", f"ptr {arrays}", "ptr null"
        )

    def _answer_all(self) -> None:
        """result(*arrays): the tuple of new arrays owns them from the start."""
        packed = self.call("ptr", "PyTuple_New", f"i64 {len(self.outputs)}")
        self._or_fail(packed, "")
        for k in range(len(self.outputs)):
            array = self._new(k, packed)
            self.call("i32", "PyTuple_SetItem", f"ptr {packed}", f"i64 {k}", f"ptr {array}")
        self._run()
        result = self._packed(packed)
        self.call("void", "Py_DecRef", f"ptr {packed}")
        self.lines.append(f"  ret ptr {result}")

    def _run(self) -> None:
        self.lines.append(
            "  call void @state(ptr %in, ptr %strides, ptr %outs, ptr %strides, i64 0)"
        )

    def _new(self, k: int, owner: str) -> str:
        """A new array for an output."""
        array = self.call(
            "ptr", "PyArray_New", f"ptr {self.entry('ndarray')}", f"i32 {len(self.outputs[k])}",
            f"ptr @sizes{k}", f"i32 {self.type_number}", "ptr null", "ptr null", "i32 0", "i32 0",
            "ptr null",
        )  # fmt: skip
        self._or_fail(array, owner)
        self._place_data("outs", k, array)
        return array

    def _or_fail(self, result: str, owner: str) -> None:
        """Give the error up to the caller when a call returned nothing."""
        self.fresh += 1
        good, bad = f"good{self.fresh}", f"bad{self.fresh}"
        fine = self.emit(f"icmp ne ptr {result}, null")
        self.lines += [f"  br i1 {fine}, label %{good}, label %{bad}", f"{bad}:"]
        if owner:
            self.call("void", "Py_DecRef", f"ptr {owner}")
        self.lines += ["  ret ptr null", f"{good}:"]
