"""How the page looks: quiet, dense where there are numbers, the same in the dark."""

from __future__ import annotations

from nicegui import ui

STYLE = """
:root { --line: #dfe3e8; --soft: #57616b; --face: #ffffff; --ink: #1d2730; --scene: #f3f5f7;
  --accent: #2b5d8a; --wrong: #a93a25; --stale: #8a5a00;
  --hover: #eff3f7; --lift: #ffffff; --ring: #d9822b; --mark: #a0146e; }
body.body--dark { color-scheme: dark;
  --line: #30363d; --soft: #a0aab4; --face: #15181c; --ink: #dfe3e8;
  --scene: #1b2027; --accent: #7fb2e0; --wrong: #f0876f; --stale: #e0b050;
  --hover: #222831; --lift: #1d2126; --mark: #f08cc4; }
body { font-family: "Inter", -apple-system, "Segoe UI", "Roboto", system-ui, sans-serif;
  font-size: 14px; color: var(--ink); background: var(--face); overflow: hidden;
  -webkit-font-smoothing: antialiased; }
.nicegui-content { padding: 0; }
input, select, button { font: inherit; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.q-field__native:focus-visible, .q-tab:focus-visible, .q-slider:focus-visible, .cell:focus-visible,
  .choice:focus-visible, .cm-content:focus-visible { outline: 0; }
.q-btn:focus-visible, .q-item:focus-visible, .q-checkbox:focus-visible {
  outline: 2px solid var(--accent) !important; outline-offset: 2px; }
.header .q-btn:focus-visible, .q-item:focus-visible { outline-offset: -2px; }
.q-tab:focus-visible { box-shadow: inset 0 0 0 2px var(--accent); border-radius: 4px; }
.q-slider:focus-visible .q-slider__thumb { outline: 2px solid var(--accent); outline-offset: 4px;
  border-radius: 50%; }
.w-full { width: 100%; } .w-24 { width: 6rem; } .w-32 { width: 8rem; } .w-36 { width: 9rem; }
.w-40 { width: 10rem; } .w-56 { width: 14rem; } .w-64 { width: 16rem; } .w-72 { width: 18rem; }
.min-w-96 { min-width: 24rem; } .text-lg { font-size: 1.15rem; font-weight: 600; }
.gap-0 { gap: 0; } .items-center { align-items: center; } .items-end { align-items: flex-end; }
.no-wrap { flex-wrap: nowrap; } .justify-end { justify-content: flex-end; }
.header { background: var(--face); color: var(--ink); border-bottom: 1px solid var(--line);
  padding: 3px 12px; gap: 2px; min-height: 42px; }
.header .q-btn { --q-primary: var(--ink); }
.header .q-btn:hover { background: var(--hover); }
.brand { font-weight: 700; letter-spacing: .01em; font-size: 18px; margin-right: 12px; }
.title { color: var(--soft); max-width: 22rem; margin-right: 6px; white-space: nowrap; }
.keys { border-collapse: collapse; } .keys td { padding: 4px 18px 4px 0; vertical-align: top; }
.keys td:first-child { white-space: nowrap; font-weight: 550; }
.trouble { color: var(--wrong); font-weight: 600; margin-right: 6px; white-space: nowrap; }
.main { height: calc(100vh - 43px); }
.main > .q-splitter__panel { overflow: auto; }
.main > .q-splitter__after { overflow: hidden; }
.q-splitter__separator { background: var(--line); }
.q-splitter__separator:hover, .q-splitter--active > .q-splitter__separator {
  background: var(--accent); }
.left { padding: 0 12px; gap: 0; --room: calc(100vh - 43px); }
.left .nicegui-column { gap: 8px; } .left .nicegui-row { gap: 6px 14px; }
.left .nicegui-column.gap-0 { gap: 0; }
.q-tab-panels, .q-table__card, .q-card { background: var(--face); color: var(--ink); }
.q-card, .q-menu { background: var(--lift); } .q-menu { border: 1px solid var(--line); }
.q-tab-panel { padding: 8px 0; }
.q-tab { min-height: 36px; padding: 0 12px; }
.q-tab--active { color: var(--accent); }
.top-tabs { border-bottom: 1px solid var(--line); width: 100%; }
.top-tabs .q-tab__label { font-weight: 600; }
.q-tab__content { min-width: 0; }
body.body--dark > * { --q-primary: #7fb2e0; --q-negative: #b34a36; }
body.body--dark .q-btn.bg-primary { --q-primary: #2a6296; } /* its light under the pointer too */
.q-notification { max-width: min(44rem, 92vw); } .q-notification__message { white-space: pre-line; }
.q-notification__actions { color: inherit; }
.q-field__label { color: var(--soft); }
.table-room { padding-top: 4px; gap: 4px; }
.row.table-head { gap: 4px; flex-wrap: nowrap; } .structure { margin-left: auto; }
.table-head .q-tabs { min-width: 0; }
.table-head .q-tabs__content { overflow-x: auto; scrollbar-width: none; }
.grid-room { width: 100%; overflow-x: auto; padding-bottom: 4px; }
.grid-table .chosen { background: color-mix(in srgb, var(--accent) 16%, transparent) !important; }
.grid-table tr.marked > * { box-shadow: inset 0 1px var(--ring), inset 0 -1px var(--ring); }
.grid-table .grip { cursor: grab; } .grid-table tr.over > * { background: var(--hover); }
.grid-table { border-collapse: collapse; }
.grid-table th { text-align: left; font-weight: 600; padding: 0 6px 3px; white-space: nowrap;
  line-height: 1.2; vertical-align: bottom; position: sticky; top: 0; z-index: 2;
  background: linear-gradient(var(--line), var(--line)) bottom / 100% 1px no-repeat var(--face); }
.grid-table td { border-top: 1px solid var(--line); padding: 0 3px; height: 34px; }
.grid-table tbody th { border-top: 1px solid var(--line); padding: 0 3px; height: 34px; top: auto;
  font-weight: inherit; vertical-align: middle; background: var(--face); }
.grid-table td:first-child, .grid-table th:first-child { padding-left: 4px; position: sticky;
  left: 0; z-index: 1; background: var(--face); } .grid-table th:first-child { z-index: 3; }
.grid-table tbody tr:first-child > * { border-top-color: transparent; }
.grid-table tbody tr:hover, .grid-table tr.pointed, .grid-table tr.pointed th,
  .grid-table tbody tr:hover th, .grid-table tr:hover td.held {
  background: var(--hover); }
.grid-empty { padding: 18px 4px 6px; color: var(--soft); }
.name { font-weight: 550; white-space: nowrap; }
.grid-table .name { display: inline-block; max-width: 9.5rem; overflow: hidden;
  text-overflow: ellipsis; vertical-align: middle; }
.unit { font-weight: 400; font-size: 11.5px; color: var(--soft); }
th .unit { white-space: pre; }
.cell { width: 60px; height: 27px; padding: 0 3px; border: 0; border-radius: 3px; outline: 0;
  background: transparent; color: inherit; font-variant-numeric: tabular-nums; font-size: 13px; }
.cell::placeholder { color: var(--soft); opacity: .85; }
.cell:hover, .choice:hover { background: var(--hover); }
.grid-table tr:hover .cell:hover, .grid-table tr:hover .choice:hover { background: var(--face); }
.cell:focus, .choice:focus { box-shadow: 0 0 0 1.5px var(--accent); background: var(--face); }
.cell.long:focus { position: relative; z-index: 1; width: 190px; margin-right: -130px; }
.cell.wrong { box-shadow: 0 0 0 1.5px var(--wrong); }
.cell:disabled { color: var(--soft); }
.cell { text-overflow: ellipsis; }
.cell-name { width: 80px; } .cell-long { width: 210px; } .cell-wide { width: 104px; }
.cell-title { width: 400px; }
@supports (field-sizing: content) {
  .cell-name { field-sizing: content; width: auto; min-width: 80px; max-width: 100px; } }
.choice { height: 27px; border: 0; border-radius: 3px; outline: 0; background: transparent;
  color: inherit; font-size: 13px; } .choice option { background: var(--face); color: var(--ink); }
.grid-table input[type=checkbox] { vertical-align: middle; accent-color: var(--accent);
  width: 15px; height: 15px; }
.grid-table td.held { position: sticky; right: 0; background: var(--face); padding: 0; }
.grid-title { padding: 10px 4px 4px; }
.cell-fault { position: fixed; z-index: 99; max-width: 320px; padding: 5px 9px; font-size: 12.5px;
  line-height: 1.35; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--lift);
  color: var(--wrong); border: 1px solid var(--wrong); border-radius: 4px;
  box-shadow: 0 2px 8px rgb(0 0 0 / .15); pointer-events: none; }
.mono, .mono input, .cell.mono { font-size: 12.5px;
  font-family: "JetBrains Mono", "Cascadia Code", ui-monospace, monospace; }
.q-field.mono .q-field__label { font-family: "Inter", "Segoe UI", "Roboto", sans-serif; }
.hint { color: var(--soft); font-size: 13px; }
.error, .hint.error { color: var(--wrong); white-space: pre-wrap; overflow-wrap: anywhere; }
.error:empty, .mark:empty { display: none; } .hint.mark.stale { color: var(--stale); }
.nowrap { white-space: nowrap; } .narrow { max-width: 30rem; }
.figures { gap: 2px 16px !important; }
.figure { font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
.listing { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px;
  font-family: ui-monospace, monospace; }
.listing.matrix { white-space: pre; overflow-x: auto; max-width: 100%; }
.equations { outline: 0; border-top: 1px solid var(--line); }
.equations:focus-visible { box-shadow: 0 -2px 0 var(--accent); }
.code { height: max(280px, calc(var(--room) - 140px)); }
.code .cm-editor, .code .cm-gutters { background: var(--face) !important; }
.code .cm-editor { font-size: 12.5px; border: 1px solid var(--line); border-radius: 4px; }
.code .cm-gutters { border-right: 1px solid var(--line); }
@font-face { font-family: "Page Math"; src: url(/math.woff2) format("woff2"); }
math { font-family: "Page Math", "STIX Two Math", "Cambria Math", math; }
.equations math { font-size: 1.16em; }
.equation { min-height: 34px; padding: 2px 4px; display: flex; align-items: center;
  white-space: nowrap; }
.equation.heading:not(:first-child) { margin-top: 6px; }
.equation:not(.heading):hover { background: var(--hover); }
.equation .formula { flex: 1 1 auto; min-width: 0; overflow-x: auto; overflow-y: hidden;
  padding: 2px 0 2px 1.5em; text-indent: -1.5em; scrollbar-width: thin; white-space: normal; }
.equation .formula > * { text-indent: 0; }
.equation .copy { visibility: hidden; color: var(--soft); }
.equation:hover .copy, .equation .copy:focus-visible { visibility: visible; }
@media (hover: none) { .equation .copy { visibility: visible; } }
.fold { display: flex; align-items: center; gap: 2px; border: 0; background: none; padding: 0;
  color: inherit; cursor: pointer; width: 100%; text-align: left;
  border-bottom: 1px solid var(--line); } .fold:hover { color: var(--accent); }
.equation p { margin: 0; color: var(--soft); }
.equation-head { padding: 6px 4px; display: flex; flex-direction: column; gap: 2px;
}
.equation-head .name, .equation-head .figure { line-height: 32px; }
.equation-head .figures { display: block; } .equation-head .figures .hint { display: block; }
.equation-head .figures > :is(.name, .figure) { display: inline-block; margin-right: 16px; }
.equation-head .figures::before { content: ""; float: right; width: 21rem; height: 28px; }
.equation-head:empty { display: none; }
.equation-room { position: relative; }
.definition { position: fixed; z-index: 99; max-width: 410px; padding: 6px 10px; overflow: hidden;
  background: var(--lift); border: 1px solid var(--line); border-radius: 6px;
  box-shadow: 0 2px 10px rgb(0 0 0 / .18); pointer-events: none; }
.equation.here { background: color-mix(in srgb, var(--accent) 14%, transparent); }
.equation h2, .equation h3 { margin: 4px 0 0; font-size: 1.05rem; font-weight: 600;
  line-height: 1.4; }
.equation h3 { font-size: .95rem; }
.equations [data-name] { cursor: pointer; }
.equations [data-name]:hover { color: var(--wrong); }
.equation-bar { position: absolute; right: 14px; top: 2px; height: 36px; z-index: 2; gap: 8px;
  padding: 0 8px; border-radius: 6px;
  background: color-mix(in srgb, var(--face) 90%, transparent); }
.equation-bar .q-field { width: 9.5rem; }
.symbol-card { position: absolute; left: 8px; right: 14px; bottom: 8px; z-index: 3;
  border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px; background: var(--lift);
  box-shadow: 0 2px 10px rgb(0 0 0 / .18); } .symbol-card > .row { gap: 10px; }
.symbol-users { display: flex; flex-wrap: wrap; gap: 1px 8px; max-height: 64px; overflow: auto; }
.link { border: 0; background: none; color: var(--accent); cursor: pointer; padding: 0; }
.link:hover { text-decoration: underline; }
.line-number { color: var(--soft); font-size: 11.5px; flex: 0 0 3.4em; }
.view { height: calc(100vh - 43px); gap: 0; padding: 0; }
.stage { position: relative; width: 100%; flex: 1 1 auto; min-height: 220px; overflow: hidden; }
.scene { position: absolute !important; inset: 0; overflow: hidden; background: var(--scene);
  color: var(--ink); }
.tools, .chooser-bar, .player { z-index: 2; border-radius: 18px; padding: 2px 6px;
  background: color-mix(in srgb, var(--lift) 88%, transparent); }
.tools { position: absolute; top: 8px; right: 8px; gap: 2px; }
.chooser-bar { position: absolute; left: 10px; top: 82px; gap: 2px; }
.tools .q-btn, .chooser-bar .q-btn, .player .q-btn { --q-primary: var(--soft); color: var(--soft); }
.tools .q-btn.on, .player .q-btn.on { --q-primary: var(--accent);
  background: color-mix(in srgb, var(--accent) 13%, transparent); }
.player { position: absolute; left: 12px; right: 12px; bottom: 10px; gap: 14px; }
.player-time { font-variant-numeric: tabular-nums; font-size: 12.5px; color: var(--soft);
  white-space: nowrap; }
.stage-message { position: absolute; left: 14px; bottom: 52px; z-index: 2; font-size: 13px;
  padding: 2px 8px; border-radius: 4px; background: var(--lift); }
.below { max-height: 46%; flex: 0 1 auto; width: 100%; overflow-y: auto;
  border-top: 1px solid var(--line); }
.tool-row { gap: 4px 7px; padding: 6px 14px 2px; position: sticky; top: 0; z-index: 3;
  background: var(--face); }
.tool-row .symbol .cell { width: 49px; padding: 0 4px; text-align: right; }
.tool-frame { flex: 1 1 4.5rem; min-width: 0; max-width: 7.5rem; }
.sliders { display: flex; flex-direction: column; padding: 4px 14px 10px; gap: 0; }
.view-cube { position: absolute; left: 22px; top: 20px; width: 44px; height: 44px; z-index: 1;
  perspective: 240px; }
.cube { width: 44px; height: 44px; transform-style: preserve-3d; }
.face { position: absolute; width: 44px; height: 44px; line-height: 42px; text-align: center;
  font-size: 10.5px; font-weight: 600; color: var(--ink); background: var(--lift); cursor: pointer;
  border: 1px solid color-mix(in srgb, var(--soft) 45%, var(--lift)); backface-visibility: hidden; }
.face:hover { background: color-mix(in srgb, var(--accent) 22%, var(--lift)); }
.pull-words { position: absolute; left: 84px; top: 32px; z-index: 1; padding: 1px 8px;
  font-variant-numeric: tabular-nums; border-radius: 4px; background: var(--lift); }
.slider-row { gap: 12px; min-height: 27px; }
.slider-row.follows .name { font-weight: 400; color: var(--soft); }
.slider-name { flex: 0 0 auto; } .slider-value { flex: 0 0 4.6rem; text-align: right; }
.slider-torque { flex: 0 0 6rem; text-align: right; order: 9; font-variant-numeric: tabular-nums;
  font-size: 13px; color: var(--accent); white-space: nowrap; }
.slider-unit { flex: 0 0 1.9rem; margin-left: -8px; padding: 0; border: 0; background: none;
  text-align: left; border-radius: 3px; }
button.slider-unit { cursor: pointer; } button.slider-unit:hover { color: var(--accent); }
.symbols { gap: 4px 12px; padding-bottom: 4px; }
.symbol { display: flex; align-items: center; gap: 4px; }
.symbol .cell { width: 62px; box-shadow: 0 0 0 1px var(--line); }
.menu-list { padding: 5px 0; display: grid; grid-template-columns: auto auto; }
.menu-list > * { grid-column: 1 / -1; } .menu-hint { color: var(--soft); font-size: 13px; }
.menu-item { display: grid; grid-template-columns: subgrid; gap: 24px; align-items: center;
  max-width: 46rem; }
.menu-item:focus-visible { background: var(--hover); outline-offset: -2px; }
.menus { gap: 2px; }
.opening { width: 34rem; max-height: 84vh; } .chooser-list { height: 58vh; overflow: auto; }
.opening .q-item.q-item--active { color: inherit; background: var(--hover); }
.opening .q-item { display: grid; grid-template-columns: 2fr 3fr; gap: 10px; }
.opening .q-item > * { align-self: center; }
.remarks .q-item { min-height: 28px; padding: 0; } .remarks { font-size: 13px; }
.options { gap: 6px !important; } .option-row { gap: 4px 16px; }
.folded { display: none !important; }
.models .q-tab-panel { padding: 0; } .left .nicegui-column.models { gap: 0; margin: -7px 0 -8px; }
.models .options { padding: 4px 0 8px; }
.left .nicegui-row.model-bar { gap: 2px 8px; } .status:empty { display: none; }
.model-choice { flex: 0 1 15rem; min-width: 7rem; } .model-bar .q-tab { padding: 0 8px; }
.option-row:empty { display: none; }
.gallery-page { height: calc(100vh - 43px); overflow: auto; width: 100%; }
.gallery-bar { gap: 14px; padding: 10px 16px 0; } .gallery-search { width: 16rem; }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr));
  gap: 14px; padding: 12px 16px 16px; width: 100%; }
.robot-card { display: flex; flex-direction: column; gap: 4px; padding: 12px; border-radius: 8px;
  border: 1px solid var(--line); } .robot-acts { gap: 2px; margin: auto 0 -4px -4px; }
.robot-card:hover { border-color: color-mix(in srgb, var(--accent) 55%, var(--line)); }
.robot-card .name { padding-top: 4px; white-space: normal; }
.robot-picture { cursor: pointer; line-height: 0; }
.robot-card svg { width: 100%; height: 150px; background: var(--scene); border-radius: 4px; }
.robot-card .source { font-size: 12px; line-height: 1.45; display: -webkit-box; overflow: hidden;
  -webkit-box-orient: vertical; -webkit-line-clamp: 3; margin-bottom: 4px; }
.wide { max-width: 90vw !important; width: 60rem; }
.counts { max-width: min(60rem, 92vw) !important; } .q-card .q-table__card { background: none; }
.tables { white-space: pre; overflow-x: auto; width: 100%; }
.nicegui-tab-panel:has(> .use-panel) { gap: 0; }
.tip { position: fixed; z-index: 9000; max-width: min(22rem, 92vw); padding: 3px 9px;
  border-radius: 4px; font-size: 12.5px; color: var(--face); background: var(--ink);
  pointer-events: none; }
.tour { position: fixed; z-index: 90; left: 16px; bottom: 16px; width: 22rem; max-width: 92vw;
  padding: 12px 16px; gap: 6px; border: 1px solid var(--line); border-radius: 8px;
  background: var(--lift); box-shadow: 0 4px 20px rgb(0 0 0 / .22); }
.tour-bar { padding: 4px 0 0; } .left .nicegui-row.tour-bar { gap: 4px 8px; }
.use-panel { border-bottom: 1px solid var(--line); }
.use-panel .q-item { padding: 4px 8px; min-height: 38px; }
.use-panel .q-item__section--avatar { min-width: 36px; color: var(--soft); }
.use-panel .q-expansion-item__content { height: auto !important; overflow: visible !important; }
.use-panel .nicegui-expansion-content { gap: 8px; padding: 2px 8px 14px 44px; }
.left .nicegui-column.use-room { gap: 0; }
.configuration { min-height: 24px; white-space: pre; }
.configurations { width: 100%; overflow-x: auto; } .configurations .q-btn { display: block; }
.configuration-head { white-space: pre; color: var(--soft); padding: 0 4px; }
.configuration:not(.plain) { padding-left: 10px;
  box-shadow: inset 4px 0 var(--swatch, transparent); border-radius: 2px; margin-bottom: 1px; }
.chart { height: 230px; } .chart.map { height: 380px; max-width: 520px; }
.figure-room { padding-top: 6px; } .downloads:empty { display: none; }
.table-scroll { overflow-x: auto; max-width: 100%; }
.facts { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.facts th, .facts td { text-align: left; padding: 3px 18px 3px 0; vertical-align: top;
  border-bottom: 1px solid var(--line); font-weight: 400; }
.facts thead th { font-weight: 600; white-space: nowrap; } .facts tbody th { color: var(--soft); }
.use-panel .q-field__label::first-letter, .options .q-field__label::first-letter {
  text-transform: uppercase; }
.recipe { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr));
  gap: 4px 16px; width: 100%; }
.form-row { gap: 4px 16px; } .form-line:not(:has(> :not(.hidden))) { display: none; }
.upload .q-uploader__header { background: var(--hover); color: var(--ink); }
.upload-head { display: flex; align-items: center; gap: 10px; padding: 9px 12px; cursor: pointer; }
.upload-head:focus-within { outline: 2px solid var(--accent); outline-offset: -3px; }
.upload-head input { position: absolute; width: 1px; height: 1px; opacity: 0; }
.upload .q-uploader__list { display: none; }
.upload.q-uploader--bordered, .upload .q-uploader { border-color: var(--line); border-radius: 6px; }
.report { width: 100%; height: 640px; border: 1px solid var(--line); background: #fff; }
@media (max-width: 1100px) { .for-keys { display: none; }
  .title { max-width: 9rem; } .header .q-btn { padding: 2px 5px; } .q-tab { padding: 0 7px; } }
@media (max-width: 1100px) and (orientation: landscape) { .structure { display: none; }
  .cell { width: 48px; } .cell-name { width: 66px; min-width: 0; } .cell-title { width: 260px; }
  .cell-wide { width: 84px; } .cell-long { width: 170px; } .grid-table td { padding: 0 2px; }
  .grid-table th { padding: 0 3px 3px; }
  .use-panel .nicegui-expansion-content { padding-left: 8px; } }
@media (max-width: 1100px) {
  .equation-bar { position: static; } .equation-bar .hint { flex: 1 1 auto; }
  .equation-head .figures::before { display: none; } }
@media (max-width: 600px) { .model-bar { flex-wrap: wrap; } }
@media (max-width: 900px) and (orientation: portrait) {
  .main > .q-splitter__before { container-type: size; } .left { --room: 100cqh; }
  .main > .q-splitter__separator { height: 3px; }
  .main > .q-splitter__separator > .q-splitter__separator-area { top: -10px; bottom: -10px; }
  .view { height: 100%; } .stage { min-height: 180px; } .below { max-height: 55%; }
  .title { max-width: 7rem; } .header { overflow-x: auto; scrollbar-width: none; padding: 3px 8px; }
  .header .q-btn { min-width: 0; padding: 2px 4px; } .brand { margin-right: 4px; } }
.splash { position: fixed; inset: 0; display: flex; flex-direction: column; gap: 6px;
  align-items: center; justify-content: center; color: var(--soft); background: var(--face); }
.splash b { font-size: 28px; color: var(--ink); } body:has(#app > *) > .splash { display: none; }
.for-phones { display: none; }
@media (max-width: 600px) { .tool-row { position: static; } .menus, .for-room { display: none; }
  .view-cube { left: 14px; top: 54px; } .chooser-bar { left: 70px; top: 54px; }
  .structure { display: none; } .header { overflow: hidden; } .scene { top: 40px !important; }
  .code-bar .q-btn .q-icon { display: none; } .code-bar .w-36 { width: 6rem; }
  .title { min-width: 0; } .for-phones { display: inline-flex; } }
"""

# the tables above the robot, not beside it: asked anew whenever the window changes
UPRIGHT = """(Quasar.Screen.width, Quasar.Screen.height,
  matchMedia("(max-width: 900px) and (orientation: portrait)").matches)"""

# seen while the scripts of the page are on their way
SPLASH = '<div class="splash" role="status"><b>Cardan</b><span>loading ...</span></div>'

# Alt+1..3 choose a tab; Ctrl with Z, Y, and single keys, work wherever no text is being typed.
# A dialog that is open holds them; one that fades out is modal no more.
KEYS = """<script>
document.addEventListener("keydown", (event) => {
  const at = event.target, key = event.key.toLowerCase(), ctrl = event.ctrlKey || event.metaKey;
  const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(at.tagName) || at.isContentEditable;
  const held = typing || ["BUTTON", "A"].includes(at.tagName) || at.closest("[role=slider]");
  const known = event.altKey ? ["1", "2", "3"].includes(key)
    : ctrl ? ["k", "s", "enter"].includes(key) || (!typing && ["z", "y"].includes(key))
    : (!typing && (key === "?" || key === "f")) || (!held && key === " ");
  if (!known || (document.querySelector(".q-dialog--modal") && key !== "?")) return;
  const wanted = key === "z" && event.shiftKey ? "y" : key;
  const button = document.querySelector(`[data-key="${wanted}"]`);
  if (!button) return;
  button.click();
  event.preventDefault();
});
// Tips are titles, which a mouse alone shows: here the keyboard and a long touch show them too.
const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("aria-hidden", "true");
let pressed = 0;
function showTip(at) {
  const words = at?.closest?.("[title]")?.title;
  tip.remove();
  if (!words) return;
  tip.textContent = words;
  document.body.append(tip);
  const box = at.getBoundingClientRect(), own = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - own.width - 4))}px`;
  const below = box.bottom + own.height + 8 < innerHeight;
  tip.style.top = `${below ? box.bottom + 6 : box.top - own.height - 6}px`;
}
document.addEventListener("focusin", ({ target }) => {
  if (!target.matches?.(":focus-visible")) return;
  if (!target.matches("input, textarea, select")) showTip(target);
});
document.addEventListener("touchstart", ({ target }) => {
  clearTimeout(pressed);
  tip.remove();
  pressed = setTimeout(() => showTip(target), 450);
}, { passive: true });
for (const kind of ["touchend", "touchmove", "touchcancel"])
  document.addEventListener(kind, () => clearTimeout(pressed), { passive: true });
for (const kind of ["focusout", "keydown", "mousedown"])
  document.addEventListener(kind, () => tip.remove(), true);
</script>"""


async def is_dark() -> bool:
    """How the system is set."""
    try:
        return bool(await ui.run_javascript("matchMedia('(prefers-color-scheme: dark)').matches"))
    except TimeoutError:
        return False
