// Cards of the bundled robots; the pictures are drawn by the server, which escapes their names.
export default {
  template: `
    <div class="w-full">
      <div class="gallery-bar row items-center">
        <q-input dense clearable v-model="text" placeholder="Search: closed, UR5" class="gallery-search"
          aria-label="Search among the robots" />
        <span class="hint" role="status">{{ words }}</span>
      </div>
      <div class="gallery">
        <div v-for="card in found" :key="card.name" class="robot-card">
          <div class="robot-picture" v-html="card.picture" @click="$emit('act', ['Open', card.name])"></div>
          <div class="name">{{ card.title }}</div>
          <div class="hint">{{ card.kind }}</div>
          <div class="hint source" :title="card.source">{{ card.source }}</div>
          <div class="row robot-acts">
            <q-btn v-for="act in acts" :key="act" :label="act" flat dense no-caps
              color="primary" :aria-label="act" @click="$emit('act', [act, card.name])" />
          </div>
        </div>
      </div>
    </div>`,
  props: { url: String, listed: Array, acts: Array, empty: String },
  emits: ["act"],
  data: () => ({ cards: [], text: "", failed: "", there: false }),
  computed: {
    found() {
      const text = (this.text ?? "").toLowerCase().trim();
      const cards = this.url ? this.cards : this.listed;
      return cards.filter((card) => `${card.title} ${card.kind} ${card.source}`.toLowerCase().includes(text));
    },
    words() {
      if (this.failed) return this.failed;
      if (!this.url && !this.listed.length) return this.empty;
      if (this.url && !this.there) return "drawing the robots ...";
      if (!this.found.length) return "no robot is called so";
      return this.text ? `${this.found.length} of ${(this.url ? this.cards : this.listed).length}` : "";
    },
  },
  async mounted() {
    if (!this.url) return;
    try { this.cards = Object.freeze(await (await fetch(this.url)).json()); this.there = true; }
    catch { this.failed = "the list did not arrive: load the page again"; }
  },
};
