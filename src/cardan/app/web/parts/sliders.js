// A slider and a number for each joint; numbers for the symbols that the robot is drawn with.
// Angles are shown in rad or in degrees, as on the whole page; what is sent to the server is rad.
export default {
  template: `
    <div class="sliders">
      <div v-if="symbols.length" class="row items-center symbols">
        <span class="hint">{{ symbols.some((symbol) => symbol.value === "") ? "Values (grey: only drawn):" : "Values:" }}</span>
        <label v-for="symbol in symbols" :key="symbol.name" class="symbol">
          <span class="hint">{{ symbol.name }}</span>
          <input type="text" inputmode="decimal" class="cell" :value="drafts[symbol.name] ?? symbol.value" :aria-label="symbol.name"
            :placeholder="symbol.example" :title="symbol.value === '' ? symbol.name + ' has no value: it is drawn with ' + symbol.example : null"
            @input="drafts[symbol.name] = $event.target.value" @blur="delete drafts[symbol.name]"
            @change="named(symbol.name, $event)">
        </label>
      </div>
      <div v-for="(joint, k) in joints" :key="k" class="row items-center no-wrap slider-row"
        :class="{ follows: joint.off }" :style="{ order: joint.off ? 1 : 0 }"
        :title="joint.off ? joint.title + ' follows: the loops stay closed' : null">
        <span class="name slider-name ellipsis" :style="{ flexBasis: wide }" :title="joint.title">{{ joint.name }}</span>
        <q-slider dense class="col" :min="joint.low" :max="joint.high" :step="(joint.high - joint.low) / 1000"
          :model-value="value(k)" :disable="joint.off" :aria-label="'joint ' + joint.title"
          @update:model-value="slid(k, $event)" @change="dropped(k, $event)" />
        <input type="text" inputmode="decimal" class="cell figure slider-value" :value="drafts[k] ?? shown(k)"
          :disabled="joint.off" :aria-label="'position of ' + joint.title"
          :title="range(joint)" @focus="$event.target.select()"
          @input="drafts[k] = $event.target.value" @blur="delete drafts[k]"
          @change="typed(k, $event)" @keydown.escape="delete drafts[k]">
        <span v-if="torques.length" class="slider-torque" :title="'holds ' + joint.title">{{ torque(joint, torques[k]) }}</span>
        <button v-if="joint.unit === 'rad'" class="unit slider-unit" :aria-label="(degrees ? 'deg' : 'rad') + ': angles in ' + (degrees ? 'rad' : 'degrees')"
          title="Angles of the whole page in rad or degrees" @click="$emit('turn')">{{ degrees ? "deg" : "rad" }}</button>
        <span v-else class="unit slider-unit">{{ joint.unit }}</span>
      </div>
    </div>`,
  props: { joints: Array, symbols: Array, values: Array, degrees: Boolean, torques: Array },
  emits: ["slide", "drop", "type", "symbol", "turn"],
  // drafts: what is being typed; joints that move meanwhile, or a robot drawn anew, leave it alone
  data: () => ({ held: -1, holds: 0, grip: 0, drafts: {} }),
  computed: {
    wide() { // as the longest name needs it
      const most = Math.max(0, ...this.joints.map((joint) => joint.name.length));
      return `${Math.min(8, Math.max(3.4, 0.58 * most))}rem`;
    },
  },
  methods: {
    // the slider in the hand is where the hand is, whatever the server has heard so far
    value(k) { return k === this.held ? this.holds : this.values[k]; },
    scale(joint) { return this.degrees && joint.unit === "rad" ? 180 / Math.PI : 1; },
    figure(joint, x) { const scale = this.scale(joint); return (x * scale).toFixed(scale === 1 ? 3 : 1).replace(/^-(0\.0+)$/, "$1"); },
    shown(k) { return this.figure(this.joints[k], this.value(k)); },
    torque(joint, x) { return x === null ? "" : `${Number(x.toPrecision(4))} ${joint.unit === "rad" ? "N m" : "N"}`; },
    range(joint) { return `from ${this.figure(joint, joint.low)} to ${this.figure(joint, joint.high)}`; },
    slid(k, value) { this.held = k; this.holds = value; this.grip++; this.$emit("slide", [k, value]); },
    dropped(k, value) { this.$emit("drop", [k, value, this.grip]); },
    // the server has heard of it, and has said where the joint is; it may be in the hand again
    settle(grip) { if (grip === this.grip) this.held = -1; },
    typed(k, event) {
      this.$emit("type", [k, event.target.value]);
      delete this.drafts[k];
      event.target.value = this.shown(k);
    },
    named(name, event) {
      delete this.drafts[name];
      this.$emit("symbol", [name, event.target.value]);
    },
  },
};
