// The equations of a model, thousands of lines: fetched once, only those in sight are in the page.
// The MathML is the server's own: it escapes every name (emit/html.py). A heading defines nothing.
const MOST = 40; // users of a symbol that are named
export default {
  template: `
    <div class="w-full">
      <div class="row items-center no-wrap equation-bar">
        <q-input dense clearable v-model="text" placeholder="Search a name" debounce="120"
          aria-label="Search in the equations" />
        <span class="hint" role="status">{{ words }}</span>
      </div>
      <div v-if="symbol" class="symbol-card" role="region" aria-label="The chosen symbol">
        <div class="row items-center no-wrap">
          <span class="mono name">{{ symbol }}</span>
          <span class="hint">{{ where }}</span><q-space />
          <q-btn icon="close" flat dense round size="sm" aria-label="Close" @click="symbol = ''" />
        </div>
        <div class="symbol-users"><span class="hint">{{ users.length ? "used in" : "an output: used nowhere else" }}</span>
          <button v-for="name in users.slice(0, most)" :key="name" class="mono link" @click="go(name)">{{ name }}</button>
          <span v-if="users.length > most" class="hint">and {{ users.length - most }} more</span>
        </div>
      </div>
      <q-virtual-scroll class="equations" :style="{ height }" :items="shown" :virtual-scroll-item-size="36" ref="list"
        v-slot="{ item }" @click="clicked" tabindex="0" aria-label="Equations">
        <div :key="item" class="equation" :class="{ here: item === here }">
          <span class="line-number">{{ lines[item][0] ? item + 1 : "" }}</span><span v-html="lines[item][2]"></span>
        </div>
      </q-virtual-scroll>
      <div v-if="more" class="hint">{{ more }} more lines are in the code.</div>
    </div>`,
  props: { url: String, more: Number },
  data: () => ({ lines: [], text: "", symbol: "", here: -1, failed: "", most: MOST, height: "300px" }),
  async mounted() {
    try {
      const answer = await fetch(this.url);
      if (!answer.ok) throw new Error(answer.status);
      const lines = await answer.json();
      this.defined = new Map(lines.map((line, k) => [line[0], k]).filter(([name]) => name));
      this.uses = new Map();
      this.names = lines.map((line) => [line[0], ...line[1]].join(" ").toLowerCase());
      for (const [name, reads] of lines) {
        for (const read of new Set(reads)) {
          if (!this.uses.has(read)) this.uses.set(read, []);
          this.uses.get(read).push(name);
        }
      }
      this.lines = Object.freeze(lines);
    } catch { this.failed = "the equations are no longer kept: derive again"; }
    window.addEventListener("resize", this.fill);
    this.fill();
  },
  beforeUnmount() { window.removeEventListener("resize", this.fill); },
  watch: { symbol() { this.$nextTick(this.fill); } },
  computed: {
    shown() {
      const text = (this.text ?? "").trim().toLowerCase(), found = [];
      for (let k = 0; k < this.lines.length; k++) {
        if (!text || this.names[k].includes(text)) found.push(k);
      }
      return found;
    },
    words() {
      if (this.failed) return this.failed;
      if (!this.lines.length) return "fetching the equations ...";
      const all = `${this.lines.length} lines`;
      if ((this.text ?? "").trim() && !this.shown.length) return `no name in ${all} is like this`;
      return (this.text ?? "").trim() ? `${this.shown.length} of ${all}`
        : `${all}; click a symbol to see its definition`;
    },
    where() {
      const k = this.defined.get(this.symbol);
      return k === undefined ? "an input" : `defined in line ${k + 1}`;
    },
    users() { return this.uses.get(this.symbol) ?? []; },
  },
  methods: {
    fill() { // down to the end of the room it is in
      const top = this.$refs.list?.$el.getBoundingClientRect().top ?? 0;
      const room = this.$el.closest(".q-splitter__before");
      const end = room ? room.getBoundingClientRect().bottom : window.innerHeight;
      this.height = `${Math.max(260, end - top - 14)}px`;
    },
    clicked(event) {
      const name = event.target.closest("[data-name]")?.getAttribute("data-name");
      if (name) this.go(name);
    },
    go(name) {
      this.symbol = name;
      this.here = this.defined.get(name) ?? -1;
      if (this.here < 0) return;
      this.text = "";
      this.$nextTick(() => this.$refs.list.scrollTo(this.here, "center"));
    },
  },
};
