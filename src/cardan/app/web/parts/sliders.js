// A slider and a number for each joint; numbers for the symbols that the robot is drawn with.
export default {
  template: `
    <div class="sliders">
      <div v-if="symbols.length" class="row items-center symbols">
        <span class="hint">Drawn with</span>
        <label v-for="symbol in symbols" :key="symbol.name" class="symbol">
          <span class="hint">{{ symbol.name }}</span>
          <input type="number" step="0.05" class="cell" :value="symbol.value" :aria-label="symbol.name"
            @change="$emit('symbol', [symbol.name, $event.target.value])">
        </label>
      </div>
      <div v-for="(joint, k) in joints" :key="k" class="row items-center no-wrap slider-row">
        <span class="name slider-name ellipsis" :title="joint.title">{{ joint.name }}</span>
        <q-slider dense class="col" :min="joint.low" :max="joint.high" :step="(joint.high - joint.low) / 1000"
          :model-value="value(k)" :disable="joint.off" :aria-label="'joint ' + joint.title"
          @update:model-value="slid(k, $event)" @change="dropped(k, $event)" />
        <input type="text" inputmode="decimal" class="cell figure slider-value" :value="shown(k)"
          :disabled="joint.off" :aria-label="'position of ' + joint.title"
          @change="typed(k, $event)" @keydown.escape="$event.target.value = shown(k)">
        <span class="unit slider-unit">{{ joint.unit }}</span>
      </div>
    </div>`,
  props: { joints: Array, symbols: Array, values: Array },
  emits: ["slide", "drop", "symbol"],
  data: () => ({ held: -1, holds: 0 }),
  methods: {
    // the slider in the hand is where the hand is, whatever the server has heard so far
    value(k) { return k === this.held ? this.holds : this.values[k]; },
    shown(k) { return this.value(k).toFixed(3); },
    slid(k, value) { this.held = k; this.holds = value; this.$emit("slide", [k, value]); },
    dropped(k, value) {
      this.$emit("drop", [k, value]);
      setTimeout(() => { if (this.held === k) this.held = -1; }, 400);
    },
    typed(k, event) {
      const value = Number(event.target.value.replace(",", "."));
      if (Number.isFinite(value) && event.target.value.trim() !== "") this.$emit("drop", [k, value]);
      event.target.value = this.shown(k);
    },
  },
};
