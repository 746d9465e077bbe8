"""How the page looks: quiet, dense where there are numbers, the same in the dark."""

STYLE = """
:root { --line: #dde1e6; --soft: #5c6670; --face: #ffffff; --ink: #1f2933; --scene: #f3f5f7;
  --accent: #2b5d8a; --wrong: #b5402a; --hover: #eef2f6; }
body.body--dark { --line: #30363d; --soft: #9aa4af; --face: #15181c; --ink: #dfe3e8;
  --scene: #1b2027; --accent: #7fb2e0; --wrong: #f0876f; --hover: #222831; }
body { font-family: "Inter", "Segoe UI", system-ui, sans-serif; font-size: 14px;
  color: var(--ink); background: var(--face); overflow: hidden; }
.nicegui-content { padding: 0; }
input, select, button { font: inherit; }
.w-full { width: 100%; } .w-24 { width: 6rem; } .w-32 { width: 8rem; } .w-36 { width: 9rem; }
.w-40 { width: 10rem; } .w-56 { width: 14rem; } .w-64 { width: 16rem; } .w-72 { width: 18rem; }
.min-w-96 { min-width: 24rem; } .text-lg { font-size: 1.1rem; font-weight: 600; }
.gap-0 { gap: 0; } .items-center { align-items: center; } .items-end { align-items: flex-end; }
.no-wrap { flex-wrap: nowrap; } .justify-end { justify-content: flex-end; }
.header { background: var(--face); color: var(--ink); border-bottom: 1px solid var(--line);
  padding: 3px 12px; gap: 2px; min-height: 42px; }
.header .q-btn { --q-primary: var(--ink); }
.header .q-btn:hover { background: var(--hover); }
.brand { font-weight: 650; letter-spacing: .02em; font-size: 17px; margin-right: 10px; }
.title { color: var(--soft); max-width: 22rem; margin-right: 6px; }
.main { height: calc(100vh - 43px); }
.main > .q-splitter__panel { overflow: auto; }
.main > .q-splitter__after { overflow: hidden; }
.q-splitter__separator { background: var(--line); }
.left { padding: 0 10px; gap: 0; }
.q-tab-panels, .q-table__card, .q-card { background: var(--face); color: var(--ink); }
.q-tab-panel { padding: 8px 2px; }
.q-tab { min-height: 36px; padding: 0 12px; }
.q-tab--active { color: var(--accent); }
.top-tabs .q-tab__label { font-weight: 600; }
body.body--dark > * { --q-primary: #7fb2e0; --q-negative: #c25540; }
body.body--dark .q-btn.bg-primary { --q-primary: #2f6aa0; }
.table-room { padding-top: 8px; gap: 4px; }
.grid-room { width: 100%; overflow-x: auto; padding-bottom: 4px; }
.grid-table { border-collapse: collapse; }
.grid-table th { text-align: left; font-weight: 600; padding: 0 5px 2px; white-space: nowrap;
  line-height: 1.15; vertical-align: bottom; }
.grid-table td { border-top: 1px solid var(--line); padding: 0 4px; height: 34px; }
.grid-table td:first-child, .grid-table th:first-child { padding-left: 2px; }
.grid-table tbody tr:hover { background: var(--hover); }
.name { font-weight: 550; white-space: nowrap; }
.unit { font-weight: 400; font-size: 11px; color: var(--soft); }
.cell { width: 57px; height: 27px; padding: 0 3px; border: 0; border-radius: 3px; outline: 0;
  background: transparent; color: inherit; font-variant-numeric: tabular-nums; font-size: 13px; }
.cell::placeholder { color: var(--soft); opacity: .6; }
.cell:hover, .choice:hover { background: var(--hover); }
.grid-table tr:hover .cell:hover, .grid-table tr:hover .choice:hover { background: var(--face); }
.cell:focus, .choice:focus { box-shadow: 0 0 0 1.5px var(--accent); background: var(--face); }
.cell.wrong { box-shadow: 0 0 0 1.5px var(--wrong); }
.cell:disabled { color: var(--soft); }
.cell-name { width: 76px; } .cell-long { width: 210px; } .cell-wide { width: 104px; }
.cell-title { width: 400px; }
.choice { height: 27px; border: 0; border-radius: 3px; outline: 0; background: transparent;
  color: inherit; font-size: 13px; } .choice option { background: var(--face); color: var(--ink); }
.grid-table input[type=checkbox] { vertical-align: middle; accent-color: var(--accent);
  width: 15px; height: 15px; }
.grid-table td.held { position: sticky; right: 0; background: var(--face); padding: 0; }
.grid-title { padding: 6px 5px 2px; }
.cell-fault { position: fixed; z-index: 99; max-width: 320px; padding: 5px 9px; font-size: 12.5px;
  line-height: 1.35; white-space: pre-wrap; background: var(--face); color: var(--wrong);
  border: 1px solid var(--wrong); border-radius: 4px; box-shadow: 0 2px 8px rgb(0 0 0 / .15); }
.mono, .mono input, .cell.mono { font-size: 13px;
  font-family: "JetBrains Mono", "Cascadia Code", ui-monospace, monospace; }
.hint { color: var(--soft); font-size: 13px; }
.error, .hint.error { color: var(--wrong); white-space: pre-wrap; }
.nowrap { white-space: nowrap; } .narrow { max-width: 30rem; }
.figures { gap: 4px 16px; }
.figure { font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
.listing { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px;
  font-family: ui-monospace, monospace; }
.equations { outline: 0; border-top: 1px solid var(--line); }
.code { height: max(280px, calc(100vh - 500px)); }
.equations math { font-size: 1.12em; }
.equation { min-height: 36px; padding: 3px 4px; display: flex; align-items: center;
  border-bottom: 1px solid var(--line); white-space: nowrap; }
.equation:hover { background: var(--hover); }
.equation.here { background: color-mix(in srgb, var(--accent) 14%, transparent); }
.equations [data-name] { cursor: pointer; }
.equations [data-name]:hover { color: var(--wrong); }
.equation-bar { gap: 14px; padding-bottom: 4px; }
.symbol-card { border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px;
  margin: 4px 0 6px; } .symbol-card > .row { gap: 10px; }
.symbol-users { display: flex; flex-wrap: wrap; gap: 1px 8px; max-height: 64px; overflow: auto; }
.link { border: 0; background: none; color: var(--accent); cursor: pointer; padding: 0; }
.link:hover { text-decoration: underline; }
.line-number { color: var(--soft); font-size: 11px; flex: 0 0 3.4em; }
.code .cm-editor { font-size: 12.5px; }
.view { height: calc(100vh - 43px); gap: 0; padding: 0; }
.stage { position: relative; width: 100%; flex: 1 1 auto; min-height: 220px; overflow: hidden; }
.scene { position: absolute !important; inset: 0; overflow: hidden; background: var(--scene);
  color: var(--ink); }
.tools { position: absolute; top: 6px; right: 8px; gap: 2px; z-index: 2; border-radius: 18px;
  background: color-mix(in srgb, var(--face) 75%, transparent); padding: 2px 6px; }
.chooser-bar { position: absolute; left: 10px; top: 6px; z-index: 2; gap: 2px;
  border-radius: 18px; padding: 2px 6px;
  background: color-mix(in srgb, var(--face) 75%, transparent); }
.tools .q-btn { --q-primary: var(--soft); }
.stage-message { position: absolute; left: 12px; bottom: 8px; z-index: 2; font-size: 13px; }
.sliders { padding: 6px 14px 10px; gap: 0; flex: 0 1 auto; max-height: 46%; overflow-y: auto;
  flex-wrap: nowrap; border-top: 1px solid var(--line); }
.slider-row { gap: 12px; min-height: 27px; }
.slider-name { flex: 0 0 3.4rem; } .slider-value { flex: 0 0 4.6rem; text-align: right; }
.slider-unit { flex: 0 0 1.6rem; margin-left: -8px; }
.symbols { gap: 4px 12px; padding-bottom: 4px; }
.symbol { display: flex; align-items: center; gap: 4px; }
.symbol .cell { width: 62px; box-shadow: 0 0 0 1px var(--line); }
.menu-list { max-width: 25rem; padding: 5px 0; } .menu-hint { color: var(--soft); font-size: 12px; }
.menus { gap: 2px; }
.opening { width: 28rem; max-height: 84vh; } .chooser-list { height: 58vh; overflow: auto; }
.opening .q-item.q-item--active { color: inherit; background: var(--hover); }
.opening .q-item { gap: 10px; align-items: center; } .opening-name { min-width: 8.5rem; }
.remarks .q-item { min-height: 28px; padding: 0; } .remarks { font-size: 13px; }
.options { gap: 4px 16px; }
.gallery-page { height: calc(100vh - 43px); overflow: auto; width: 100%; }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr));
  gap: 14px; padding: 16px; width: 100%; }
.robot-card { display: flex; flex-direction: column; gap: 4px; padding: 12px; border-radius: 6px;
  border: 1px solid var(--line); } .robot-acts { gap: 2px; margin-top: auto; }
.robot-card svg { width: 100%; height: 150px; background: var(--scene); border-radius: 4px; }
.robot-card .source { font-size: 12px; max-height: 4.2em; overflow: auto; }
.wide { max-width: 90vw !important; width: 60rem; }
.tables { white-space: pre; overflow-x: auto; width: 100%; }
.use-panel { border-bottom: 1px solid var(--line); }
.use-panel > .q-expansion-item__container > .q-expansion-item__content { padding: 4px 12px 12px; }
.use-panel .q-item { padding: 4px 8px; min-height: 38px; }
.use-panel .q-item__section--avatar { min-width: 36px; }
.use-panel .nicegui-expansion-content { gap: 8px; padding: 4px 8px 12px; }
.configuration { min-height: 24px; white-space: pre; }
.chart { height: 230px; }
.report { width: 100%; height: 640px; border: 1px solid var(--line); background: #fff; }
@media (max-width: 1100px) { .structure { display: none; }
  .title { max-width: 9rem; } .header .q-btn { padding: 2px 5px; } .q-tab { padding: 0 7px; }
  .cell { width: 48px; } .cell-name { width: 62px; } .grid-table td { padding: 0 2px; } }
@media (max-width: 900px) and (orientation: portrait) {
  .main.q-splitter { flex-direction: column !important; }
  .main > .q-splitter__before { width: 100% !important; height: 54% !important; }
  .main > .q-splitter__separator { width: 100% !important; height: 1px !important; }
  .main > .q-splitter__after { width: 100% !important; height: 46%; }
  .view { height: 100%; } .title { display: none; } }
"""

# Alt+1..3 choose a tab; Ctrl+Z and Ctrl+Y work wherever no text is being typed
KEYS = """<script>
document.addEventListener("keydown", (event) => {
  const at = event.target;
  const typing = ["INPUT", "TEXTAREA"].includes(at.tagName) || at.isContentEditable;
  const key = event.key.toLowerCase();
  const tab = event.altKey && ["1", "2", "3"].includes(key);
  const step = (event.ctrlKey || event.metaKey) && !typing && ["z", "y"].includes(key);
  if (!tab && !step) return;
  const wanted = step && key === "z" && event.shiftKey ? "y" : key;
  document.querySelector(`[data-key="${wanted}"]`)?.click();
  event.preventDefault();
});
</script>"""
