// What stands around the robot in its scene: a cube that turns with the camera, arrows and rings
// that move and turn the end effector, shadows on the ground.
import { THREE } from "nicegui-scene";

const COLOURS = ["#cf3b2c", "#2f8f3e", "#2b62c9"];
const FACES = [ // name, to the right, upwards
  ["Front", [1, 0, 0], [0, 0, 1]], ["Back", [-1, 0, 0], [0, 0, 1]], ["Right", [0, 1, 0], [0, 0, 1]],
  ["Left", [0, -1, 0], [0, 0, 1]], ["Top", [1, 0, 0], [0, 1, 0]], ["Bottom", [1, 0, 0], [0, -1, 0]],
];
const HALF = 22, TURN = Math.PI / 12;
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

export default {
  template: `
    <div class="around" aria-hidden="true">
      <div class="view-cube"><div ref="cube" class="cube">
        <div v-for="face in faces" :key="face.name" class="face" :style="{ transform: face.place }"
          :title="'Look from: ' + face.name.toLowerCase()" @click="$emit('look', face.name)">{{ face.name }}</div>
      </div></div>
      <div v-if="words" class="pull-words">{{ words }}</div>
    </div>`,
  // pose: of the end effector, 16 numbers row by row; size: of the robot's bodies
  // looked: another number whenever the page has chosen where the camera is
  props: { scene: Number, pose: Array, size: Number, handle: Boolean, ground: Boolean, looked: Number },
  emits: ["pull", "drop", "look", "over", "lost"],
  data: () => ({ words: "" }),
  computed: {
    faces: () => FACES.map(([name, right, up]) => {
      const out = cross(right, up);
      const columns = [...right, 0, ...up.map((x) => -x), 0, ...out, 0, ...out.map((x) => HALF * x), 1];
      return { name, place: `matrix3d(${columns})` };
    }),
  },
  watch: {
    pose() { this.follow(); },
    size() { this.follow(); },
    handle() { this.follow(); },
    looked() { this.own.byHand = false; },
  },
  created() { this.own = {}; }, // what three.js has must not be watched
  mounted() { this.wait(); },
  beforeUnmount() { for (const name of ["timer", "looking", "settling"]) clearTimeout(this.own[name]); },
  methods: {
    wait() {
      const view = typeof mounted_app === "undefined" ? null : getElement(this.scene);
      if (view?.renderer && view.controls) this.begin(view);
      else this.own.timer = setTimeout(this.wait, 50);
    },
    begin(view) {
      const own = this.own;
      own.view = view;
      own.canvas = view.renderer.domElement;
      own.ray = new THREE.Raycaster();
      own.group = new THREE.Group();
      own.group.name = "handle";
      own.parts = [];
      for (let k = 0; k < 3; k++) { this.arrow(k); this.ring(k); }
      view.scene.add(own.group);
      own.canvas.addEventListener("pointerdown", this.down, true); // before the camera's
      own.canvas.addEventListener("pointermove", this.over);
      own.canvas.addEventListener("pointerleave", () => this.tellLink());
      view.controls.addEventListener("start", () => { own.byHand = true; });
      this.lights();
      this.follow();
      this.calm();
    },
    // the loop of the scene goes on, but draws only what differs from what was drawn: numbers of all
    // that is seen are compared, as many parts of the page move things
    calm() {
      const { own } = this, { view } = own, { renderer } = view, draw = renderer.render;
      own.drawn = [];
      renderer.stale = true; // another size empties the canvas
      for (const name of ["setSize", "setPixelRatio"]) {
        const change = renderer[name];
        renderer[name] = (...args) => { renderer.stale = true; change.apply(renderer, args); };
      }
      let fresh = true; // whether this round of the loop draws
      renderer.render = (scene, camera) => {
        const eye = [...camera.position, ...camera.quaternion, ...camera.projectionMatrix.elements];
        const seen = this.seen(scene), differs = (a, b) => a.length !== b?.length || a.some((x, k) => x !== b[k]);
        const moved = differs(seen, own.drawn);
        fresh = renderer.stale || moved || differs(eye, own.eye);
        if (!fresh) return;
        Object.assign(own, { eye, drawn: seen });
        renderer.stale = false;
        if (moved) {
          scene.updateMatrixWorld();
          this.shade();
          clearTimeout(own.settling);
          own.settling = setTimeout(this.missed, 500);
        }
        draw.call(renderer, scene, camera);
        this.turn();
      };
      for (const names of [view.text_renderer, view.text3d_renderer]) {
        const place = names.render;
        names.render = (...args) => {
          if (!fresh) return;
          place.apply(names, args);
          this.partLabels(names.domElement);
        };
      }
    },
    // frames often share a place: labels that would lie on each other stand below each other, and
    // none leaves the picture to the right
    partLabels(room) {
      const labels = [...room.children].filter((label) => label.style.display !== "none"), placed = [];
      for (const label of labels) label.style.translate = "";
      const edge = room.getBoundingClientRect().right - 4;
      const boxes = labels.map((label) => {
        const { left, right, top, bottom } = label.getBoundingClientRect(), side = Math.min(0, edge - right);
        return { label, side, left: left + side, right: right + side, top, high: bottom - top };
      });
      for (const box of boxes.sort((a, b) => a.top - b.top)) {
        const first = box.top, beside = placed.filter((x) => x.left < box.right && box.left < x.right);
        for (const x of beside) // from above downwards
          if (box.top < x.top + x.high && x.top < box.top + box.high) box.top = x.top + x.high;
        placed.push(box);
        placed.sort((a, b) => a.top - b.top);
        if (box.side || box.top > first) box.label.style.translate = `${box.side}px ${box.top - first}px`;
      }
    },
    // the robot has moved out of sight: the camera may follow, unless the user has placed it
    missed() {
      const { view, held, byHand } = this.own, at = new THREE.Vector3();
      if (held || byHand || !view.$el.isConnected) return;
      let out = false;
      view.scene.traverseVisible((x) => {
        if (!x.isMesh || !x.object_id || x.parent === view.scene) return;
        at.setFromMatrixPosition(x.matrixWorld).project(view.camera);
        out ||= Math.abs(at.x) > 1 || Math.abs(at.y) > 1;
      });
      if (out) this.$emit("lost");
    },
    seen(scene) {
      const found = [this.ground ? 1 : 0];
      scene.traverseVisible((x) => {
        if (x === this.own.floor || x.isDirectionalLight) return; // they follow the others
        found.push(x.id, ...x.position, ...x.quaternion, ...x.scale);
        const look = x.material;
        if (look) found.push(look.color?.getHex() ?? 0, look.opacity, look.visible ? 1 : 0);
      });
      return found;
    },
    part(geometry, k, kind, turn, seen) {
      const material = new THREE.MeshBasicMaterial({ color: COLOURS[k], transparent: true, opacity: 0.85, depthTest: false, visible: seen });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.quaternion.copy(turn);
      mesh.renderOrder = 10;
      mesh.name = `${kind}-${"xyz"[k]}`;
      this.own.parts.push(mesh);
      this.own.group.add(mesh);
    },
    arrow(k) {
      const axis = new THREE.Vector3().setComponent(k, 1);
      const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), axis);
      this.part(new THREE.CylinderGeometry(0.012, 0.012, 0.6, 8).translate(0, 0.65, 0), k, "move", turn, true);
      this.part(new THREE.ConeGeometry(0.05, 0.16, 16).translate(0, 1.02, 0), k, "move", turn, true);
      this.part(new THREE.CylinderGeometry(0.07, 0.07, 0.8, 6).translate(0, 0.72, 0), k, "move", turn, false);
    },
    ring(k) {
      const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3().setComponent(k, 1));
      this.part(new THREE.TorusGeometry(0.78, 0.01, 6, 48), k, "turn", turn, true);
      this.part(new THREE.TorusGeometry(0.78, 0.05, 6, 32), k, "turn", turn, false);
    },
    // the handle is where the end effector is, unless it is in the hand
    follow() {
      const { group, held } = this.own;
      if (!group) return;
      group.visible = this.handle && this.pose.length === 16;
      if (!group.visible || held) return;
      this.put(new THREE.Matrix4().set(...this.pose));
    },
    put(pose) {
      const { group } = this.own;
      pose.decompose(group.position, group.quaternion, new THREE.Vector3());
      group.scale.setScalar(0.24 * this.size);
      group.updateMatrixWorld();
    },
    hit(event) {
      const { ray, canvas, view, group, parts } = this.own, box = canvas.getBoundingClientRect();
      ray.setFromCamera({ x: ((event.clientX - box.left) / box.width) * 2 - 1, y: 1 - ((event.clientY - box.top) / box.height) * 2 }, view.camera);
      return group.visible ? ray.intersectObjects(parts)[0]?.object.name : undefined;
    },
    over(event) {
      const own = this.own;
      if (own.held || event.buttons) return;
      const name = this.hit(event);
      own.place = name ? null : own.ray.ray.clone();
      own.looking ??= setTimeout(this.lookAt, 80);
      if (name === own.lit) return;
      own.lit = name;
      for (const part of own.parts) part.material.color.set(part.name === name ? "#f0b45a" : COLOURS["xyz".indexOf(part.name.at(-1))]);
      own.canvas.style.cursor = name ? "grab" : "";
    },
    // which object of the robot the pointer rests on
    lookAt() {
      const { view, ray, place } = this.own;
      this.own.looking = null;
      if (place) ray.ray.copy(place);
      const hits = place ? ray.intersectObjects(view.scene.children, true) : [];
      const shown = (x) => !x || (x.visible && shown(x.parent));
      this.tellLink(hits.find(({ object: x }) => x.isMesh && x.object_id && x.name !== "target" && shown(x))?.object.object_id);
    },
    tellLink(id = "") {
      if (!id) { clearTimeout(this.own.looking); this.own.looking = null; }
      if (id !== (this.own.link ?? "")) this.$emit("over", (this.own.link = id));
    },
    // how far along its axis, or around it, the pointer is
    along(start) {
      const { origin, direction } = this.own.ray.ray, { axis, at } = start;
      const from = origin.clone().sub(at), slope = axis.dot(direction);
      if (start.kind === "move") {
        if (1 - slope * slope < 1e-3) return null; // seen along the axis
        return (from.dot(axis) - slope * from.dot(direction)) / (1 - slope * slope);
      }
      if (Math.abs(slope) < 1e-2) return null; // the ring is seen from its edge
      const point = from.addScaledVector(direction, -from.dot(axis) / slope);
      return Math.atan2(point.dot(start.v), point.dot(start.u));
    },
    down(event) {
      const own = this.own, name = event.button === 0 && this.hit(event);
      if (!name) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      own.canvas.setPointerCapture(event.pointerId);
      const k = "xyz".indexOf(name.at(-1)), pose = own.group.matrixWorld.clone().scale(new THREE.Vector3().setScalar(1 / own.group.scale.x));
      const column = (i) => new THREE.Vector3().setFromMatrixColumn(pose, i);
      const start = { kind: name.slice(0, 4), pose, axis: column(k), u: column((k + 1) % 3), v: column((k + 2) % 3), at: column(3) };
      start.from = this.along(start);
      if (start.from === null) return;
      own.held = start;
      const move = (event) => this.pulled(event);
      const up = (event) => {
        own.canvas.removeEventListener("pointermove", move);
        for (const kind of ["pointerup", "pointercancel"]) own.canvas.removeEventListener(kind, up);
        own.canvas.releasePointerCapture(event.pointerId);
        clearTimeout(own.later);
        own.later = null;
        own.held = null;
        this.words = "";
        if (start.wanted) this.$emit("drop", start.wanted);
        else this.follow();
      };
      own.canvas.addEventListener("pointermove", move);
      for (const kind of ["pointerup", "pointercancel"]) own.canvas.addEventListener(kind, up);
    },
    pulled(event) {
      const own = this.own, start = own.held;
      this.hit(event); // where the pointer is
      const here = this.along(start);
      if (here === null) return;
      let by = here - start.from;
      const moving = start.kind === "move";
      if (!moving) by = Math.atan2(Math.sin(by), Math.cos(by));
      const step = moving ? 10 ** Math.round(Math.log10(0.06 * this.size)) : TURN;
      if (event.shiftKey) by = Math.round(by / step) * step;
      this.words = moving ? `${by.toPrecision(3)} m` : `${((180 / Math.PI) * by).toFixed(1)}°`;
      const pose = start.pose.clone();
      if (moving) pose.setPosition(start.at.clone().addScaledVector(start.axis, by));
      else pose.premultiply(new THREE.Matrix4().makeRotationAxis(start.axis, by)).setPosition(start.at);
      this.put(pose);
      start.wanted = pose.clone().transpose().elements.slice();
      own.later ??= setTimeout(() => { own.later = null; if (own.held) this.$emit("pull", start.wanted); }, 40);
    },
    // shadows are drawn anew only where something has moved
    lights() {
      const { view } = this.own;
      const light = view.scene.children.find((x) => x.isDirectionalLight);
      view.renderer.shadowMap.enabled = true;
      view.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
      view.renderer.shadowMap.autoUpdate = false;
      light.castShadow = true;
      light.shadow.mapSize.set(1024, 1024);
      this.own.light = light;
      this.own.floor = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ opacity: 0.16, depthWrite: false }));
      this.own.floor.receiveShadow = true;
      this.own.floor.name = "floor";
      view.scene.add(this.own.floor);
    },
    shade() {
      const { view, light, floor } = this.own, box = new THREE.Box3();
      view.scene.traverse((x) => {
        if (!x.isMesh || !x.material?.isMeshPhongMaterial) return;
        if (x.name === "target") { x.material.depthTest = false; x.renderOrder = 9; } // also inside a body
        const e = x.matrixWorld.elements;
        x.castShadow = x.material.opacity > 0.9;
        if (x.castShadow) box.expandByPoint(new THREE.Vector3(e[12], e[13], e[14]));
      });
      floor.visible = this.ground && !box.isEmpty();
      if (floor.visible) {
        const middle = box.getCenter(new THREE.Vector3()), far = box.getSize(new THREE.Vector3()).length() / 2 + this.size;
        Object.assign(light.shadow.camera, { left: -far, right: far, top: far, bottom: -far, near: 0.01 * far, far: 6 * far });
        light.shadow.camera.updateProjectionMatrix();
        light.position.copy(middle).add(new THREE.Vector3(0.28, -0.5, 0.85).normalize().multiplyScalar(3 * far));
        light.target.position.copy(middle);
        light.target.updateMatrixWorld();
        floor.scale.setScalar(8 * far);
        floor.position.set(middle.x, middle.y, 0);
      }
      view.renderer.shadowMap.needsUpdate = true;
    },
    turn() { // the cube, as the camera
      const own = this.own, e = own.view.camera.matrixWorldInverse.elements;
      const turn = [0, 4, 8].map((k) => `${e[k].toFixed(4)},${(-e[k + 1]).toFixed(4)},${e[k + 2].toFixed(4)},0`).join();
      if (turn !== own.turn && this.$refs.cube) this.$refs.cube.style.transform = `matrix3d(${(own.turn = turn)},0,0,0,1)`;
    },
  },
};
