// The equations of a model, thousands of lines: fetched once, only those in sight are in the page.
// The MathML is the server's own: it escapes every name (emit/html.py). A heading defines nothing,
// and folds what is below it. What the server puts inside stands above the first line.
const MOST = 40; // users of a symbol that are named
const level = (line) => (line[2].startsWith("<h2") ? 2 : line[2].startsWith("<h3") ? 3 : 0);
export default {
  template: `
    <div class="w-full equation-room">
      <div class="row items-center no-wrap equation-bar">
        <span class="hint" role="status">{{ words }}</span>
        <q-btn v-if="sections > 1" :icon="folded.size ? 'unfold_more' : 'unfold_less'" flat dense round size="sm"
          :aria-label="folded.size ? 'Unfold all' : 'Fold all'" :title="folded.size ? 'Unfold all' : 'Fold all'" @click="foldAll" />
        <q-input dense clearable v-model="text" placeholder="Search a name" debounce="120"
          aria-label="Search in the equations" />
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
      <q-virtual-scroll class="equations" role="region" :style="{ height }" :items="shown" :virtual-scroll-item-size="36" ref="list"
        @click="clicked" @mouseover="pointed" @mouseleave="hint = null" tabindex="0" aria-label="Equations">
        <template v-slot:before><div class="equation-head"><slot></slot></div></template>
        <template v-slot="{ item }">
          <div :key="item" class="equation" :class="{ here: item === here, heading: !lines[item][0] }" :data-line="item">
            <button v-if="level(lines[item])" class="fold" :aria-expanded="!folded.has(item)" @click="fold(item)">
              <q-icon :name="folded.has(item) ? 'chevron_right' : 'expand_more'" size="18px" /><span v-html="lines[item][2]"></span>
            </button>
            <template v-else>
              <span class="line-number">{{ numbers[item] }}</span><span class="formula" v-html="lines[item][2]"></span>
              <q-btn v-if="lines[item][0]" class="copy" icon="content_copy" flat dense round size="sm"
                :aria-label="'Copy ' + lines[item][0]" title="Copy">
                <q-menu auto-close><q-list dense role="menu">
                  <q-item v-for="(form, k) in ['LaTeX', 'MathML', 'text']" :key="k" clickable role="menuitem"
                    @click="copy(item, form)"><q-item-section>Copy as {{ form }}</q-item-section></q-item>
                </q-list></q-menu>
              </q-btn>
            </template>
          </div>
        </template>
      </q-virtual-scroll>
      <teleport to="body"><div v-if="hint" class="definition" :style="hint.spot" role="tooltip" v-html="hint.markup"></div></teleport>
      <div v-if="more" class="hint">{{ more }} more lines are in the code.</div>
    </div>`,
  props: { url: String, more: Number },
  data: () => ({ lines: [], numbers: [], text: "", symbol: "", here: -1, failed: "", most: MOST, height: "300px",
    folded: new Set(), hint: null }),
  async mounted() {
    try {
      const answer = await fetch(this.url);
      if (!answer.ok) throw new Error(answer.status);
      const lines = await answer.json();
      this.defined = new Map(lines.map((line, k) => [line[0], k]).filter(([name]) => name));
      this.uses = new Map();
      // an element of a vector is looked for by its own name: tau3 is in tau
      this.names = lines.map((line) => [line[0], ...line[1], ...(line[3] ?? [])].join(" ").toLowerCase());
      for (const [name, reads] of lines) {
        for (const read of new Set(reads)) {
          if (!this.uses.has(read)) this.uses.set(read, []);
          this.uses.get(read).push(name);
        }
      }
      let count = 0;
      this.numbers = Object.freeze(lines.map((line) => (line[0] ? ++count : "")));
      this.lines = Object.freeze(lines);
    } catch { this.failed = "the equations are no longer kept: derive again"; }
    // its room changes with the window, with the line between the halves, and turned upright
    this.watch = new ResizeObserver(this.fill);
    this.watch.observe(this.$el.closest(".q-splitter__before") ?? document.body);
  },
  activated() { this.fill(); },
  beforeUnmount() { this.watch?.disconnect(); },
  computed: {
    sections() { return this.lines.filter(level).length; },
    shown() {
      const text = (this.text ?? "").trim().toLowerCase(), found = [];
      let above = 0; // the level of the heading that hides what follows
      for (let k = 0; k < this.lines.length; k++) {
        const own = level(this.lines[k]);
        if (text) { if (this.names[k].includes(text)) found.push(k); continue; }
        if (own && own <= above) above = 0;
        if (!above) found.push(k);
        if (own && !above && this.folded.has(k)) above = own;
      }
      return found;
    },
    words() {
      if (this.failed) return this.failed;
      if (!this.lines.length) return "fetching the equations ...";
      const text = (this.text ?? "").trim(), all = `${this.numbers.filter(Boolean).length} equations`;
      if (text && !this.shown.length) return `no name in ${all} is like this`;
      return text ? `${this.shown.length} of ${all}` : all;
    },
    where() {
      const k = this.defined.get(this.symbol);
      return k === undefined ? "an input" : `defined in equation ${this.numbers[k]}`;
    },
    users() { return [...new Set(this.uses.get(this.symbol) ?? [])]; },
  },
  methods: {
    level,
    fill() { // down to the end of the room it is in
      const top = this.$refs.list?.$el.getBoundingClientRect().top ?? 0;
      const room = this.$el.closest(".q-splitter__before");
      const end = room ? room.getBoundingClientRect().bottom : window.innerHeight;
      this.height = `${Math.max(260, end - top - 4)}px`;
    },
    fold(k) {
      if (!this.folded.delete(k)) this.folded.add(k);
    },
    foldAll() {
      if (this.folded.size) this.folded.clear();
      else this.lines.forEach((line, k) => level(line) && this.folded.add(k));
    },
    clicked(event) {
      const name = event.target.closest("[data-name]")?.getAttribute("data-name");
      if (name) this.go(name);
    },
    pointed(event) {
      const symbol = event.target.closest("[data-name]"), name = symbol?.getAttribute("data-name");
      const k = this.defined?.get(name);
      if (k === undefined || Number(symbol.closest("[data-line]")?.dataset.line) === k) { this.hint = null; return; }
      const box = symbol.getBoundingClientRect();
      this.hint = { markup: this.lines[k][2], spot: { left: `${Math.min(box.left, window.innerWidth - 420)}px`,
        ...(box.bottom + 160 > window.innerHeight ? { bottom: `${window.innerHeight - box.top + 6}px` } : { top: `${box.bottom + 6}px` }) } };
    },
    async copy(item, form) {
      const pieces = this.$el.querySelectorAll(`[data-line="${item}"] math`); // of a long sum: a term each
      let words = `<math xmlns="http://www.w3.org/1998/Math/MathML">${[...pieces].map((x) => x.innerHTML).join("")}</math>`;
      if (form !== "MathML") {
        this.copies ??= await (await fetch(this.url.replace(/lines$/, "copies"))).json();
        words = this.copies[item][form === "text" ? 0 : 1];
      }
      await navigator.clipboard.writeText(words);
      Quasar.Notify.create({ message: `copied as ${form}`, position: "top", timeout: 1200 });
    },
    go(name) {
      this.symbol = name;
      this.hint = null;
      this.here = this.defined.get(name) ?? -1;
      if (this.here < 0) return;
      this.text = "";
      this.folded.clear();
      this.$nextTick(() => this.$refs.list.scrollTo(this.shown.indexOf(this.here), "center"));
    },
  },
};
