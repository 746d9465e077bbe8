// The menus of the header: one component for all of them.
export default {
  template: `
    <div class="row no-wrap menus">
      <q-btn v-for="menu in menus" :key="menu.title" :label="menu.title" flat dense no-caps
        aria-haspopup="menu">
        <q-menu auto-close><q-list dense role="menu" class="menu-list">
          <template v-for="(item, k) in menu.items" :key="k">
            <q-separator v-if="!item" />
            <q-item v-else clickable role="menuitem" :aria-label="item.words"
              @click="$emit('choose', item.id)">
              <q-item-section>
                <q-item-label>{{ item.words }}</q-item-label>
                <q-item-label v-if="item.hint" class="menu-hint">{{ item.hint }}</q-item-label>
              </q-item-section>
            </q-item>
          </template>
        </q-list></q-menu>
      </q-btn>
    </div>`,
  props: { menus: Array },
  emits: ["choose"],
};
