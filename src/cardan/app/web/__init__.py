"""The web app: `cardan serve` opens a local page that does what SYMORO+'s window did, and more.

security.py  who may talk to it: this machine, with the token
files.py     files of the page, kept in memory
store.py     projects on disk: the robot, its history, where sliders stand; surfaces
results.py   the last result of each panel of a project; writing.py the thread that writes
jobs.py      work in processes of its own, limited in time and memory, that can be cancelled
worker.py    what such a process runs: one function of `work`
work.py      what can be asked for: models, code, packages, motions, identification
moving.py    the work that moves the robot; reaching.py that of inverse geometry
questions.py what jobs are asked, checked
visuals.py   the work of opening files (uploads.py), and what a URDF or MJCF file looks like
             (visuals_urdf.py, visuals_mjcf.py); meshes.py and collada.py read STL, OBJ, Collada
drawing.py   the mechanism as solids, from its Denavit-Hartenberg table; sketch.py the same as SVG
following.py joints that follow: closed loops, a dragged tool
editing.py   changes of the structure
state.py     what one browser page works on
page.py      the page; its parts are menus.py, help.py, new.py, open.py, save.py, table.py
             (cells.py, shapes.py, beams.py), view.py (stage.py, sliders.py, handle.py, choice.py,
             player.py), models.py (equations.py), tools.py (form.py, answer.py, charts.py, job.py,
             identification.py)
parts/       their components in the browser: one for a whole table, list or panel
gallery.py   the bundled robots
style.py     how it looks, and its keys
serve.py     puts them together
"""

# what errors advise, in the words of the page
WORDS = {
    "values": "Use > Values of symbols takes them",
    "drop": "",  # a button beside the message does it
    "force": "choose another name",
}
