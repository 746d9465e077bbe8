// A list that gets shorter as one types; Enter takes the first, or the one the arrows are on.
export default {
  template: `
    <div class="chooser">
      <q-input dense clearable autofocus :label="label" :aria-label="label" v-model="text"
        @keydown="pressed" />
      <q-list dense role="listbox" :aria-label="label" class="chooser-list">
        <q-item v-for="(item, k) in found" :key="item.id" clickable role="option" :active="k === at"
          :aria-selected="k === at" @click="$emit('take', item.id)">
          <span>{{ item.id }}</span><span class="hint">{{ item.hint }}</span>
        </q-item>
      </q-list>
    </div>`,
  props: { items: Array, label: String },
  emits: ["take"],
  data: () => ({ text: "", at: 0 }),
  computed: {
    found() {
      const plain = (text) => text.toLowerCase().replaceAll("-", " "), text = plain(this.text ?? "");
      return this.items.filter((item) => plain(`${item.id} ${item.hint}`).includes(text));
    },
  },
  watch: { text() { this.at = 0; } },
  methods: {
    pressed(event) {
      const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (way) {
        this.at = Math.max(0, Math.min(this.found.length - 1, this.at + way));
        this.$nextTick(() => this.$el.querySelector(".q-item--active")?.scrollIntoView({ block: "nearest" }));
        event.preventDefault();
      } else if (event.key === "Enter" && this.found[this.at]) this.$emit("take", this.found[this.at].id);
    },
  },
};
