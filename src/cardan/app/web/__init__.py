"""The web app: `cardan serve` opens a local page that does what SYMORO+'s window did, and more.

security.py  who may talk to it: this machine, with the token
store.py     projects on disk: the robot, its history, where sliders stand
jobs.py      work in processes of its own, limited in time and memory, that can be cancelled
worker.py    what such a process runs: one function of `work`
work.py      what can be asked for: models, code, packages, motions, identification
drawing.py   the mechanism as solids, from its Denavit-Hartenberg table
page.py      the page; table.py, view.py, models.py, using.py, gallery.py its parts
serve.py     puts them together
"""
