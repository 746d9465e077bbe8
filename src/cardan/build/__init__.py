"""How each model of the menu becomes a program: its inputs, its competing forms, its outputs.

One file per group of the menu. This is where `models` (mechanics over any scalar) meets `ir`
(programs).
"""
