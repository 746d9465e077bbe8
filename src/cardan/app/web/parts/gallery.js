// Cards of the bundled robots; the pictures are drawn by the server, which escapes their names.
export default {
  template: `
    <div class="gallery">
      <div v-for="card in cards" :key="card.name" class="robot-card">
        <div class="w-full" v-html="card.picture"></div>
        <div class="name">{{ card.title }}</div>
        <div class="hint">{{ card.kind }}</div>
        <div class="hint source">{{ card.source }}</div>
        <div class="row robot-acts">
          <q-btn v-for="act in ['Open', 'Tables', 'Counts']" :key="act" :label="act" flat dense no-caps
            color="primary" :aria-label="act" @click="$emit('act', [act, card.name])" />
        </div>
      </div>
      <div v-if="failed" class="hint error">{{ failed }}</div>
    </div>`,
  props: { url: String },
  emits: ["act"],
  data: () => ({ cards: [], failed: "" }),
  async mounted() {
    try { this.cards = Object.freeze(await (await fetch(this.url)).json()); }
    catch { this.failed = "the list did not arrive: load the page again"; }
  },
};
