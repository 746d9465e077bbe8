// The bar below the robot while a motion is shown: play and pause, go to any instant, put it away.
export default {
  template: `
    <div v-if="seconds" class="player row items-center no-wrap" role="group" aria-label="Motion">
      <q-btn :icon="playing ? 'pause' : 'play_arrow'" flat round dense size="sm" data-key=" "
        :aria-label="playing ? 'Pause' : 'Play'" :title="playing ? 'Pause' : 'Play'"
        @click="$emit('play', !playing)" />
      <q-slider dense class="col" :min="0" :max="seconds" :step="seconds / 1000" :model-value="shown"
        aria-label="Instant of the motion" @update:model-value="sought" @change="dropped" />
      <span class="player-time">{{ shown.toFixed(2) }} / {{ seconds.toFixed(2) }} s</span>
      <q-btn icon="repeat" flat round dense size="sm" aria-label="Again and again" title="Again and again"
        :aria-pressed="loop" :class="{ on: loop }" @click="$emit('loop', !loop)" />
      <select class="choice" aria-label="Speed" title="Speed" :value="speed" @change="$emit('speed', Number($event.target.value))">
        <option v-for="x in [0.1, 0.25, 0.5, 1, 2, 4]" :key="x" :value="x">{{ x }}×</option>
      </select>
      <q-btn icon="close" flat round dense size="sm" aria-label="End the motion"
        title="End the motion" @click="$emit('end')" />
    </div>`,
  props: { seconds: Number, at: Number, playing: Boolean, speed: Number, loop: Boolean },
  emits: ["play", "seek", "end", "speed", "loop"],
  data: () => ({ held: false, holds: 0 }),
  computed: {
    // the mark in the hand is where the hand is
    shown() { return this.held ? this.holds : Math.min(this.at, this.seconds); },
  },
  methods: {
    sought(t) { this.held = true; this.holds = t; this.$emit("seek", t); },
    dropped(t) { this.$emit("seek", t); setTimeout(() => { this.held = false; }, 300); },
  },
};
