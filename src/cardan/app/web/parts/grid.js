// Tables of cells that are edited in place: one component, whatever the number of cells.
// The server is asked while one types ("draft") and when a cell is left ("take"); what it refuses
// stays in the cell, with the reason beside it.
const LEAST = 5, MOST = 22; // characters of a cell
export default {
  template: `
    <div class="grid-blocks" :data-table="table" @copy="copied" @paste="pasted">
      <div v-if="!blocks.length" class="grid-empty">{{ empty }}</div>
      <div v-for="(block, b) in blocks" :key="b" class="grid-room" @scroll="place">
        <div v-if="block.title" class="name grid-title">{{ block.title }}</div>
        <table class="grid-table">
          <thead v-if="block.heads.length"><tr>
            <th v-for="(head, c) in block.heads" :key="c" scope="col">
              <div>{{ head.text }}</div><div v-if="head.unit" class="unit">{{ head.unit.replace(" or ", "\\nor ") }}</div>
            </th>
          </tr></thead>
          <tbody><tr v-for="(row, r) in block.rows" :key="r" :class="{ marked: b === 0 && r === marked, pointed: b === 0 && r === pointed, over: b === 0 && r === over }"
            @mouseenter="$emit('over', [b, r])" @mouseleave="$emit('over', [b, -1])"
            @dragover="dragged(b, r, $event)" @dragleave="over = -1" @drop="dropped(b, r, $event)">
            <component :is="c ? 'td' : 'th'" v-for="(cell, c) in row" :key="c" :scope="c ? null : 'row'"
              :class="{ held: cell.kind === 'menu' || cell.kind === 'act', chosen: inside(b, r, c), grip: sortable && !b && !c }"
              :draggable="sortable && !b && !c || null" :title="sortable && !b && !c ? 'Drag the link to another place' : null"
              @dragstart="from = r; $event.dataTransfer.effectAllowed = 'move'" @dragend="from = over = -1"
              @mousedown="grabbed(b, r, c, $event)" @mouseenter="drawn(b, r, c, $event)">
              <span v-if="cell.kind === 'word'" :class="cell.style" :title="cell.value?.length > 18 ? cell.value : null">{{ cell.value }}</span>
              <input v-else-if="cell.kind === 'text'" type="text" autocomplete="off" spellcheck="false"
                :class="['cell', cell.style, { wrong: faults[key(b, r, c)], long: long(cell, drafts[key(b, r, c)]) }]"
                :value="drafts[key(b, r, c)] ?? (at !== key(b, r, c) && cell.brief || cell.value)" :placeholder="cell.empty"
                :title="faults[key(b, r, c)] ?? (cell.brief || cell.value?.length > wide(b, c) ? cell.value : null)"
                :style="sized(cell) && { width: wide(b, c) + 1.3 + 'ch' }"
                :aria-label="cell.label" :aria-invalid="!!faults[key(b, r, c)]" :data-at="key(b, r, c)"
                @input="typed(b, r, c, $event)" @keydown="pressed(b, r, c, $event)"
                @focus="entered(b, r, c, $event)" @blur="left(b, r, c, $event)">
              <select v-else-if="cell.kind === 'choice'" class="choice" :aria-label="cell.label"
                :data-at="key(b, r, c)" @keydown="pressed(b, r, c, $event)"
                @change="chosen(b, r, c, $event)">
                <option v-for="(option, k) in cell.options" :key="k" :value="k"
                  :selected="option[0] === cell.value">{{ option[1] }}</option>
              </select>
              <input v-else-if="cell.kind === 'box'" type="checkbox" :checked="cell.value"
                :disabled="cell.off" :aria-label="cell.label" :data-at="key(b, r, c)"
                @change="tell('take', b, r, c, $event.target.checked)">
              <q-btn v-else-if="cell.kind === 'menu'" icon="more_vert" flat dense round size="sm"
                :aria-label="cell.label" aria-haspopup="menu">
                <q-menu auto-close><q-list dense role="menu">
                  <q-item v-for="(words, k) in cell.options" :key="k" clickable role="menuitem"
                    @click="tell('take', b, r, c, words)">
                    <q-item-section>{{ words }}</q-item-section></q-item>
                </q-list></q-menu>
              </q-btn>
              <q-btn v-else-if="cell.kind === 'act'" :icon="cell.value" flat dense round size="sm"
                :aria-label="cell.label" :title="cell.label" @click="tell('take', b, r, c, null)" />
            </component>
          </tr></tbody>
        </table>
      </div>
      <teleport to="body">
        <div v-if="told" class="cell-fault" role="alert" :style="spot">{{ told }}</div>
      </teleport>
    </div>`,
  props: { blocks: Array, table: String, empty: String, marked: Number, pointed: Number, sortable: Boolean },
  emits: ["draft", "take", "paste", "row", "shift", "over"],
  // range: two corners of the cells that are chosen, from where it began to where it is
  data: () => ({ drafts: {}, faults: {}, at: "", before: "", spot: {}, range: null, from: -1, over: -1 }),
  computed: {
    // the cell whose message is shown: the one in hand, else the one that was left last
    meant() { return [this.at, this.before].find((key) => key && this.faults[key]) ?? ""; },
    told() { return this.faults[this.meant]; },
  },
  watch: {
    meant() { this.place(); },
    table() { this.drafts = {}; this.faults = {}; this.at = this.before = ""; this.range = null; },
    // what is still being typed, or was refused, is kept; the rest is as the server says
    blocks(now, before) {
      const form = (blocks) => blocks.map((block) => block.rows.length).join();
      if (form(now) !== form(before)) { this.drafts = {}; this.faults = {}; }
      for (const key of Object.keys(this.drafts)) {
        if (key !== this.at && !this.faults[key]) delete this.drafts[key];
      }
      const open = this.at && this.cell(this.at);
      if (open && !this.faults[this.at] && this.sent === this.drafts[this.at]) delete this.drafts[this.at];
      for (const key of Object.keys(this.faults)) if (this.cell(key)?.kind !== "text") delete this.faults[key];
    },
  },
  mounted() { window.addEventListener("scroll", this.place, true); },
  deactivated() { this.at = this.before = ""; }, // another tab is looked at
  beforeUnmount() {
    clearTimeout(this.timer);
    window.removeEventListener("scroll", this.place, true);
  },
  methods: {
    // what does not fit is shown whole while it is edited; wider cells have room of their own
    long: (cell, draft) => (draft ?? cell.value ?? "").length > 7 && cell.style?.startsWith("mono"),
    sized: (cell) => cell.style?.startsWith("mono"),
    // a column is as wide as what it holds
    wide(b, c) {
      const texts = this.blocks[b].rows.map((row) => (this.sized(row[c] ?? {}) ? row[c].brief || row[c].value || row[c].empty || "" : ""));
      return Math.min(MOST, Math.max(LEAST, ...texts.map((text) => text.length)));
    },
    key: (b, r, c) => `${b}.${r}.${c}`,
    cell(key) {
      const [b, r, c] = key.split(".").map(Number);
      return this.blocks[b]?.rows[r]?.[c];
    },
    // with the label of the cell: meanwhile another one may have come to its place on the server
    tell(what, b, r, c, value) { this.$emit(what, [b, r, c, value, this.cell(this.key(b, r, c))?.label]); },
    place() {
      const box = this.meant && this.$el.querySelector(`[data-at="${this.meant}"]`)?.getBoundingClientRect();
      if (!box) return;
      const left = Math.max(4, Math.min(box.left - 4, window.innerWidth - 330));
      const row = (key) => Number(key.split(".")[1]);
      const below = this.at && this.at !== this.meant && row(this.at) > row(this.meant); // not in the way
      this.spot = below || box.bottom + 120 > window.innerHeight
        ? { left: `${left}px`, bottom: `${window.innerHeight - box.top + 3}px` }
        : { left: `${left}px`, top: `${box.bottom + 3}px` };
    },
    entered(b, r, c, event) {
      this.at = this.key(b, r, c);
      // at once, and still selected: what is typed now replaces it
      const box = event.target, whole = box.value && box.selectionEnd - box.selectionStart === box.value.length;
      box.value = this.drafts[this.at] ?? this.cell(this.at).value;
      if (whole) box.select();
      this.place();
      if (this.range?.b !== b || !this.inside(b, r, c)) this.range = { b, r, c, r2: r, c2: c };
      this.$emit("row", [b, r]);
    },
    // a row on its way to another place
    dragged(b, r, event) {
      if (b || this.from < 0) return;
      event.preventDefault();
      this.over = r;
    },
    dropped(b, r, event) {
      if (b || this.from < 0) return;
      event.preventDefault();
      if (r !== this.from) this.$emit("shift", [this.from, r, this.cell(this.key(0, this.from, 1))?.value]);
      this.from = this.over = -1;
    },
    // several cells: drawn over with the pointer, or with Shift and a click or the arrows
    inside(b, r, c) {
      const range = this.range;
      if (!range || range.b !== b || (range.r === range.r2 && range.c === range.c2)) return false;
      return (r - range.r) * (r - range.r2) <= 0 && (c - range.c) * (c - range.c2) <= 0;
    },
    grabbed(b, r, c, event) {
      if (event.button || !this.cell(this.key(b, r, c))?.label) return;
      if (event.shiftKey && this.range?.b === b) { this.range = { ...this.range, r2: r, c2: c }; event.preventDefault(); }
      else this.range = { b, r, c, r2: r, c2: c };
    },
    drawn(b, r, c, event) {
      if (event.buttons !== 1 || this.range?.b !== b || (this.range.r2 === r && this.range.c2 === c)) return;
      this.range = { ...this.range, r2: r, c2: c };
      window.getSelection()?.removeAllRanges();
    },
    // the rows of the chosen cells, each the places of its cells
    chosenCells() {
      const { b, r, c, r2, c2 } = this.range, rows = [];
      for (let i = Math.min(r, r2); i <= Math.max(r, r2); i++) {
        const row = [];
        for (let k = Math.min(c, c2); k <= Math.max(c, c2); k++) row.push([b, i, k]);
        rows.push(row);
      }
      return rows;
    },
    several() { return this.range && (this.range.r !== this.range.r2 || this.range.c !== this.range.c2); },
    textOf(b, r, c) {
      const cell = this.cell(this.key(b, r, c));
      if (cell?.kind === "choice") return cell.options.find((option) => option[0] === cell.value)?.[1] ?? "";
      return cell?.kind === "box" ? (cell.value ? "1" : "0") : String(cell?.value ?? "");
    },
    copied(event) {
      if (!this.several()) return;
      const text = this.chosenCells().map((row) => row.map((at) => this.textOf(...at)).join("\t")).join("\n");
      event.clipboardData.setData("text/plain", text);
      event.preventDefault();
    },
    pasted(event) {
      const text = event.clipboardData.getData("text/plain").replace(/\r/g, "").replace(/\n$/, "");
      if (!this.range || !/[\t\n]/.test(text)) return; // one cell: as ever
      const { b, r, c, r2, c2 } = this.range;
      this.put(b, Math.min(r, r2), Math.min(c, c2), text.split("\n").map((line) => line.split("\t")));
      event.preventDefault();
    },
    fillDown() {
      const rows = this.chosenCells(), first = rows[0].map((at) => this.textOf(...at));
      this.put(...rows[0][0], rows.map(() => first));
    },
    put(b, r, c, texts) {
      this.drafts = {};
      document.activeElement?.blur?.();
      this.$emit("paste", [b, r, c, texts, this.cell(this.key(b, r, c))?.label]);
    },
    typed(b, r, c, event) {
      const key = this.key(b, r, c), text = event.target.value;
      this.drafts[key] = text;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.tell("draft", b, r, c, text), 120);
    },
    // the server's word on a text; it may have been typed over meanwhile
    judge(b, r, c, text, fault, taken) {
      const key = this.key(b, r, c);
      if ((this.drafts[key] ?? this.cell(key)?.value) !== text) return;
      if (fault) this.faults[key] = fault;
      else delete this.faults[key];
      if (taken) delete this.drafts[key]; // the cell says it as the robot does
      this.place();
    },
    take(b, r, c) {
      const key = this.key(b, r, c), text = this.drafts[key];
      if (text === undefined) return;
      clearTimeout(this.timer);
      if (text === this.cell(key).value) return this.drop(key);
      this.sent = text;
      this.tell("take", b, r, c, text);
    },
    drop(key) { delete this.drafts[key]; delete this.faults[key]; },
    left(b, r, c) {
      this.take(b, r, c);
      if (this.drafts[this.key(b, r, c)] !== undefined) this.before = this.key(b, r, c);
      if (this.at === this.key(b, r, c)) this.at = "";
    },
    chosen(b, r, c, event) {
      const option = this.cell(this.key(b, r, c)).options[event.target.value];
      this.tell("take", b, r, c, option[0]);
    },
    pressed(b, r, c, event) {
      const key = this.key(b, r, c), plain = this.drafts[key] === undefined;
      const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (event.shiftKey && way && this.range) {
        const r2 = Math.min(Math.max(this.range.r2 + way, 0), this.blocks[b].rows.length - 1);
        this.range = { ...this.range, r2 };
        event.preventDefault();
      } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "d" && this.several()) {
        this.fillDown();
        event.preventDefault();
      } else if (event.key === "Enter") this.take(b, r, c);
      else if (event.key === "Escape") this.drop(key);
      else if (way && event.target.tagName === "INPUT") {
        const next = this.$el.querySelector(`[data-at="${this.key(b, r + way, c)}"]`);
        next?.focus(); next?.select?.();
        event.preventDefault();
      } else if ((event.ctrlKey || event.metaKey) && plain && ["z", "y"].includes(event.key.toLowerCase())) {
        // nothing typed here: undo and redo are those of the robot
        const redo = event.key.toLowerCase() === "y" || event.shiftKey;
        document.querySelector(`[data-key="${redo ? "y" : "z"}"]`)?.click();
        event.preventDefault();
      }
    },
  },
};
