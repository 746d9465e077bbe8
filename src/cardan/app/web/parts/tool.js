// Where the end effector is, in numbers that can be typed over, and which frame it is.
const PLACES = ["x", "y", "z", "roll", "pitch", "yaw"];
export default {
  template: `
    <div class="row items-center tool-row">
      <select class="choice tool-frame" aria-label="End effector" :title="'The end effector: ' + (frames[frame] ?? frame)"
        :value="frame" @change="$emit('frame', $event.target.value); $event.target.value = frame">
        <option v-for="(words, name) in frames" :key="name" :value="name">{{ words }}</option>
      </select>
      <label v-for="(place, k) in places" :key="place" class="symbol">
        <span class="hint">{{ place }}</span>
        <input type="text" inputmode="decimal" class="cell figure-cell" :value="drafts[k] ?? shown(k)" :disabled="!pose.length"
          :aria-label="place + ' of the end effector, ' + unit(k)" :title="unit(k)" @focus="$event.target.select()"
          @input="drafts[k] = $event.target.value" @blur="delete drafts[k]" @change="typed(k, $event)"
          @keydown.escape="delete drafts[k]">
      </label>
      <span v-if="energy !== null" class="hint" title="Of gravity, zero where frame 0 is">energy {{ Number(energy.toPrecision(4)) }} J</span>
    </div>`,
  props: { frames: Object, frame: String, pose: Array, degrees: Boolean, energy: { default: null } },
  emits: ["frame", "pose"],
  data: () => ({ drafts: {} }),
  computed: { places: () => PLACES },
  methods: {
    scale(k) { return this.degrees && k > 2 ? 180 / Math.PI : 1; },
    unit(k) { return k < 3 ? "m" : this.degrees ? "deg" : "rad"; },
    shown(k) {
      if (!this.pose.length) return "";
      return (this.pose[k] * this.scale(k)).toFixed(this.scale(k) === 1 ? 3 : 1).replace(/^-(0\.0+)$/, "$1");
    },
    typed(k, event) {
      this.$emit("pose", [k, event.target.value]);
      delete this.drafts[k];
      event.target.value = this.shown(k);
    },
  },
};
