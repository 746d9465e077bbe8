// The menus of the header: one component for all of them. Arrows go through a menu and from one to
// the next; while one is open, the pointer opens the others.
export default {
  template: `
    <div class="row no-wrap menus" role="group" aria-label="Menus" @keydown="pressed">
      <q-btn v-for="(menu, m) in menus" :key="menu.title" :label="menu.title" flat dense no-caps
        aria-haspopup="menu" :aria-expanded="open === m" ref="heads" @mouseenter="passed(m)">
        <q-menu auto-close no-refocus :model-value="open === m" transition-duration="120"
          @update:model-value="turned(m, $event)" @show="first">
          <q-list dense role="menu" class="menu-list" :aria-label="menu.title" @keydown="pressed">
            <template v-for="(item, k) in menu.items" :key="k">
              <q-separator v-if="!item" spaced="4px" />
              <q-item v-else clickable role="menuitem" class="menu-item"
                @click="$emit('choose', item.id)">
                <span>{{ item.words }}</span> <span class="menu-hint">{{ item.hint }}</span>
              </q-item>
            </template>
          </q-list>
        </q-menu>
      </q-btn>
    </div>`,
  props: { menus: Array },
  emits: ["choose"],
  data: () => ({ open: -1, byKey: false }),
  methods: {
    turned(m, on) {
      if (on) this.open = m;
      else if (this.open === m) this.open = -1;
    },
    passed(m) { if (this.open >= 0 && this.open !== m) { this.byKey = false; this.open = m; } },
    items: () => [...document.querySelectorAll(".menu-list .menu-item")],
    first() { if (this.byKey) this.items()[0]?.focus(); },
    pressed(event) {
      const heads = this.$refs.heads.map((head) => head.$el);
      const at = this.open >= 0 ? this.open : heads.indexOf(document.activeElement);
      const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const side = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (at < 0 || (!down && !side && !["Home", "End", "Escape"].includes(event.key))) return;
      if (side) {
        const next = (at + side + heads.length) % heads.length;
        this.byKey = true;
        if (this.open >= 0) this.open = next;
        heads[next].focus();
      } else if (event.key === "Escape") {
        this.open = -1;
        heads[at].focus();
      } else if (this.open < 0) {
        if (!down) return;
        this.byKey = true;
        this.open = at;
      } else {
        const items = this.items(), k = items.indexOf(document.activeElement);
        const next = { Home: 0, End: items.length - 1 }[event.key] ?? (k + down + items.length) % items.length;
        items[k < 0 && down < 0 ? items.length - 1 : next]?.focus();
      }
      event.preventDefault();
      event.stopPropagation();
    },
  },
};
