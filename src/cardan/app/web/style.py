"""How the page looks: quiet, dense where there are numbers, the same in the dark."""

STYLE = """
:root { --line: #dde1e6; --soft: #5c6670; --face: #ffffff; --ink: #1f2933; --scene: #f3f5f7;
  --accent: #2b5d8a; --wrong: #b5402a; --hover: #eef2f6; }
body.body--dark { --line: #30363d; --soft: #9aa4af; --face: #15181c; --ink: #dfe3e8;
  --scene: #1b2027; --accent: #7fb2e0; --wrong: #f0876f; --hover: #222831; }
body { font-family: "Inter", "Segoe UI", system-ui, sans-serif; font-size: 14px;
  color: var(--ink); background: var(--face); overflow: hidden; }
.nicegui-content { padding: 0; }
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
.grid-table td { border-top: 1px solid var(--line); padding: 0 5px; height: 34px; }
.grid-table tbody tr:hover { background: var(--hover); }
.name { font-weight: 550; white-space: nowrap; }
.unit { font-weight: 400; font-size: 11px; color: var(--soft); }
.cell { width: 58px; font-variant-numeric: tabular-nums; }
.cell-name { width: 74px; }
.cell .q-field__control, .cell .q-field__native, .choice .q-field__control,
.choice .q-field__native { height: 28px; min-height: 28px; padding: 0; }
.cell .q-field__append { display: none; }
.choice .q-field__marginal { height: 28px; padding-left: 0; font-size: 18px; }
.cell .q-field__bottom { position: absolute; top: 30px; left: -4px; z-index: 9; width: max-content;
  max-width: 300px; padding: 4px 8px; min-height: 0; background: var(--face); line-height: 1.3;
  border: 1px solid var(--wrong); border-radius: 4px; font-size: 12px; white-space: normal; }
.cell .q-field__bottom:empty { display: none; }
.cell.q-field--error .q-field__control { box-shadow: 0 1px 0 var(--wrong); }
.cell input, .mono, .mono input { font-size: 13px;
  font-family: "JetBrains Mono", "Cascadia Code", ui-monospace, monospace; }
.cell:focus-within .q-field__control { box-shadow: 0 1px 0 var(--accent); }
.hint { color: var(--soft); font-size: 13px; }
.error, .hint.error { color: var(--wrong); white-space: pre-wrap; }
.nowrap { white-space: nowrap; }
.figures { gap: 4px 16px; }
.figure { font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
.listing { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px;
  font-family: ui-monospace, monospace; }
.equations, .code { height: calc(100vh - 300px); min-height: 240px; }
.code { height: calc(100vh - 330px); }
.equations math { font-size: 1.12em; }
.equations tbody:not(.q-virtual-scroll__padding) td { height: 36px; }
.equations [data-name] { cursor: pointer; }
.equations [data-name]:hover { color: var(--wrong); }
.line-number { color: var(--soft); font-size: 11px; display: inline-block; width: 3.2em; }
.code .cm-editor { font-size: 12.5px; }
.view { height: calc(100vh - 43px); gap: 0; padding: 0; }
.stage { position: relative; width: 100%; flex: 1 1 auto; min-height: 220px; overflow: hidden; }
.scene { position: absolute !important; inset: 0; overflow: hidden; background: var(--scene);
  color: var(--ink); }
.tools { position: absolute; top: 6px; right: 8px; gap: 2px; z-index: 2; border-radius: 18px;
  background: color-mix(in srgb, var(--face) 75%, transparent); padding: 2px 6px; }
.tools .q-btn { --q-primary: var(--soft); }
.stage-message { position: absolute; left: 12px; bottom: 8px; z-index: 2; font-size: 13px; }
.sliders { padding: 6px 14px 10px; gap: 0; flex: 0 1 auto; max-height: 46%; overflow-y: auto;
  flex-wrap: nowrap; border-top: 1px solid var(--line); }
.slider-row { gap: 12px; min-height: 26px; }
.slider-name { flex: 0 0 3.4rem; } .slider-value { flex: 0 0 5.8rem; text-align: right; }
.symbols { gap: 4px 8px; padding-bottom: 4px; } .symbol { width: 76px; }
.symbol .q-field__control { height: 36px; min-height: 36px; }
.opening { width: 26rem; max-height: 80vh; overflow: auto; }
.opening .q-item { gap: 10px; align-items: center; } .opening-name { min-width: 8.5rem; }
.remarks .q-item { min-height: 28px; padding: 0; } .remarks { font-size: 13px; }
.options { gap: 4px 16px; }
.gallery-page { height: calc(100vh - 43px); overflow: auto; width: 100%; }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr));
  gap: 14px; padding: 16px; width: 100%; }
.robot-card { gap: 4px; padding: 12px; box-shadow: none; border: 1px solid var(--line); }
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
  .title { max-width: 9rem; } .header .q-btn { padding: 2px 5px; }
  .cell { width: 52px; } .cell-name { width: 62px; } .grid-table td { padding: 0 3px; } }
"""

# Alt+1..3 choose a tab; Ctrl+Z and Ctrl+Y work wherever no text is being typed
KEYS = """<script>
document.addEventListener("keydown", (event) => {
  const at = event.target;
  const typing = ["INPUT", "TEXTAREA"].includes(at.tagName) || at.isContentEditable;
  const key = event.key.toLowerCase();
  const tab = event.altKey && "123".includes(key);
  const step = (event.ctrlKey || event.metaKey) && !typing && "zy".includes(key);
  if (!tab && !step) return;
  const wanted = step && key === "z" && event.shiftKey ? "y" : key;
  document.querySelector(`[data-key="${wanted}"]`)?.click();
  event.preventDefault();
});
</script>"""
