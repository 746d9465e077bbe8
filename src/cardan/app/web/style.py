"""How the page looks: quiet, dense where there are numbers, the same in the dark."""

STYLE = """
:root { --line: #d7dce1; --soft: #5c6670; --face: #ffffff; }
body.body--dark { --line: #333a42; --soft: #9aa4af; --face: #1b1f24; }
body { font-family: "Inter", "Segoe UI", system-ui, sans-serif; font-size: 14px; }
.nicegui-content { padding: 0; }
.header { background: var(--face); color: inherit; border-bottom: 1px solid var(--line);
  padding: 4px 14px; gap: 4px; }
.header .q-btn { color: inherit; }
body:not(.body--dark) .header { color: #1f2933; }
.brand { font-weight: 650; letter-spacing: .02em; font-size: 17px; margin-right: 10px; }
.title { color: var(--soft); max-width: 22rem; }
.main { height: calc(100vh - 46px); }
.main > .q-splitter__panel { overflow: auto; }
.left { padding: 0 10px; gap: 0; }
.q-tab-panel { padding: 10px 4px; }
.grid-table { border-collapse: collapse; }
.grid-table th { text-align: left; font-weight: 600; padding: 2px 6px; white-space: nowrap; }
.grid-table td { border-top: 1px solid var(--line); padding: 0 6px; }
.grid-table .name { font-weight: 550; white-space: nowrap; }
.unit { font-weight: 400; font-size: 11px; color: var(--soft); }
.cell { min-width: 62px; max-width: 150px; font-variant-numeric: tabular-nums; }
.cell .q-field__control { height: 28px; min-height: 28px; }
.cell .q-field__bottom { position: static; padding: 0 0 2px 0; min-height: 0; }
.cell input { font-family: "JetBrains Mono", "Cascadia Code", ui-monospace, monospace;
  font-size: 13px; }
.hint { color: var(--soft); font-size: 13px; }
.hint.error, .listing.error { color: #b5402a; white-space: pre-wrap; }
.nowrap { white-space: nowrap; }
.figure { font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
.listing { white-space: pre-wrap; font-family: ui-monospace, monospace; font-size: 13px; }
.equations { height: calc(100vh - 330px); min-height: 240px; }
.equations math { font-size: 1.12em; }
.equations [data-name] { cursor: pointer; }
.equations [data-name]:hover { color: #b5402a; }
.line-number { color: var(--soft); font-size: 11px; display: inline-block; width: 3.2em; }
.code { height: calc(100vh - 330px); min-height: 240px; }
.scene canvas { width: 100% !important; height: auto !important; }
.view { padding: 0; gap: 4px; }
.sliders { padding: 2px 16px 16px; gap: 0; }
.slider-row { gap: 12px; min-height: 28px; }
.options { gap: 4px 16px; }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(260px, 1fr));
  gap: 16px; padding: 20px; width: 100%; }
.mono, .mono input { font-family: ui-monospace, monospace; font-size: 13px; }
.configuration { white-space: pre; }
.chart { height: 230px; }
.report { width: 100%; height: 640px; border: 1px solid var(--line); background: #fff; }
.gallery img { width: 100%; }
"""
