"""What becomes of every element and attribute of MJCF: one table of the whole schema.

    read        enters the robot
    harmless    has no part in what a robot holds: looks, contacts, solvers, sensors, controllers
    left out    enters the forces or the motion, and a robot has no place for it: a warning

[MJCF: names of elements and attributes are facts of MuJoCo's documentation and of the schema that
it prints, version 4.0; those of older versions that are gone stand at the end.] What the table does
not know is a warning too, and an element among the bodies an error, as in MuJoCo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..urdf.xml import shown
from .xml import ACTUATORS, Mjcf

__all__ = ["HARMLESS", "LEFT_OUT", "READ", "left_out", "meaning", "unknown"]

READ, HARMLESS, LEFT_OUT = "read", "harmless", "left out"


@dataclass(frozen=True)
class Row:
    """An element: what becomes of it, and of its attributes."""

    meaning: str
    read: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()


_AROUND = ("worldbody", "body", "frame", "replicate")  # stand in each other
_TABLE: dict[str, Row] = {}  # by path, as 'worldbody/body/joint' without repeated bodies


def _row(paths: str, meaning: str, read: str = "", harmless: str = "", left: str = "") -> None:
    words = (frozenset(x.split()) for x in (read, harmless, left))
    row = Row(meaning, *words)
    for path in paths.split():
        _TABLE[path] = row


_POSE = "pos quat axisangle xyaxes zaxis euler "
_SOLVER = "solref solimp "
_PLUGIN = "plugin instance "

_row("mujoco", READ, "model")
_row("include", READ, "file")
_row(
    "compiler", READ,
    "angle assetdir autolimits balanceinertia boundinertia boundmass coordinate eulerseq fitaabb"
    " inertiafromgeom inertiagrouprange meshdir settotalmass strippath",
    "alignfree discardvisual fusestatic passthrough savecanonical savecompiled saveinertial"
    " texturedir usethread",
    "conflict",
)  # fmt: skip
_row(
    "compiler/lengthrange", HARMLESS, "",
    "accel interval inttotal maxforce mode timeconst timestep tolrange useexisting uselimit",
)  # fmt: skip
_row(
    "option", READ, "gravity",
    "actuatorgroupdisable ccd_iterations ccd_tolerance cone impratio integrator iterations jacobian"
    " ls_iterations ls_tolerance magnetic noslip_iterations noslip_tolerance o_friction o_margin"
    " o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance"
    " wind",
    "density viscosity",
)  # fmt: skip
_row(
    "option/flag", READ, "constraint damper equality frictionloss gravity spring",
    "actuation autoreset clampctrl contact diagexact energy eulerdamp filterparent fwdinv"
    " invdiscrete ipc island limit midphase multiccd nativeccd override refsafe sensor sleep"
    " speculative warmstart",
)  # fmt: skip
_row(
    "size", HARMLESS, "",
    "memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt"
    " nuser_sensor nuser_site nuser_tendon nuserdata",
)  # fmt: skip
_row("statistic", HARMLESS, "", "center extent meaninertia meanmass meansize")
_row("visual", HARMLESS)
_row(
    "visual/global", HARMLESS, "",
    "azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth offheight"
    " offwidth orthographic realtime",
)  # fmt: skip
_row("visual/quality", HARMLESS, "", "numquads numslices numstacks offsamples shadowsize")
_row("visual/headlight", HARMLESS, "", "active ambient diffuse specular")
_row(
    "visual/map", HARMLESS, "",
    "actuatortendon alpha fogend fogstart force haze shadowclip shadowscale stiffness stiffnessrot"
    " torque zfar znear",
)  # fmt: skip
_row(
    "visual/scale", HARMLESS, "",
    "actuatorlength actuatorwidth camera com connect constraint contactheight contactwidth"
    " forcewidth framelength framewidth frustum jointlength jointwidth light selectpoint"
    " slidercrank",
)  # fmt: skip
_row(
    "visual/rgba", HARMLESS, "",
    "actuator actuatornegative actuatorpositive bv bvactive camera com connect constraint"
    " contactforce contactfriction contactgap contactpoint contacttorque crankbroken fog force"
    " frustum haze inertia joint light rangefinder selectpoint slidercrank",
)  # fmt: skip

# assets
_row("asset", READ)
_row(
    "asset/mesh", READ,
    "builtin class content_type face file inertia maxhullvert name refpos refquat scale vertex",
    "material normal params smoothnormal texcoord",
)  # fmt: skip
_row("asset/mesh/plugin", READ, "", _PLUGIN)
_row("asset/hfield", HARMLESS, "", "content_type elevation file name ncol nrow size")
_row(
    "asset/skin deformable/skin", HARMLESS, "",
    "face file group inflate material name rgba texcoord vertex",
)  # fmt: skip
_row(
    "asset/skin/bone deformable/skin/bone", HARMLESS, "",
    "bindpos bindquat body vertid vertweight",
)  # fmt: skip
_row(
    "asset/texture", HARMLESS, "class",
    "builtin colorspace content_type embed file fileback filedown filefront fileleft fileright"
    " fileup gridlayout gridsize height hflip mark markrgb name nchannel random rgb1 rgb2 type"
    " vflip width",
)  # fmt: skip
_row(
    "asset/material", HARMLESS, "class",
    "emission metallic name reflectance rgba roughness shininess specular texrepeat texture"
    " texuniform",
)  # fmt: skip
_row("asset/material/layer", HARMLESS, "", "role texture")
_row("asset/model", READ, "file name", "content_type")

# the tree
_row("worldbody", READ)
_row("worldbody/body", READ, "name childclass " + _POSE, "fuse mocap simple sleep user", "gravcomp")
_row("worldbody/frame", READ, "name childclass scale scaling massscale " + _POSE)
_row("worldbody/replicate", READ, "childclass count euler offset sep")
_row("worldbody/attach", READ, "body frame model prefix")
_row("worldbody/inertial", READ, "diaginertia fullinertia mass " + _POSE)
_row(
    "worldbody/joint", READ,
    "armature axis class damping frictionloss limited name pos range ref springdamper type",
    "actuatorfrclimited actuatorfrcrange actuatorgravcomp group margin solimpfriction solimplimit"
    " solreffriction solreflimit springref springyield user",
    "stiffness",
)  # fmt: skip
_row("worldbody/freejoint", READ, "name", "align group")
_row(
    "worldbody/geom", READ,
    "class density fitscale fromto group mass mesh name shellinertia size type " + _POSE,
    "adhesion castshadow conaffinity condim contype fluidcoef fluidshape friction gap hfield margin"
    " material priority rgba solmix surfacevel user " + _SOLVER,
)  # fmt: skip
_row("worldbody/geom/plugin", HARMLESS, "", _PLUGIN)
_row(
    "worldbody/site", READ, "class fromto name type " + _POSE, "group material mesh rgba size user"
)
_row(
    "worldbody/camera", HARMLESS, "class",
    "focal focalpixel fovy ipd mode name output principal principalpixel projection resolution"
    " sensorsize target user " + _POSE,
)  # fmt: skip
_row(
    "worldbody/light", HARMLESS, "class",
    "active ambient attenuation bulbradius castshadow cutoff diffuse dir directional exponent"
    " intensity mode name pos range softness specular target texture type",
)  # fmt: skip
_row("worldbody/plugin", LEFT_OUT, "", _PLUGIN)
_row(
    "worldbody/flexcomp", LEFT_OUT, "",
    "cellcount count dim dof element file flatskin group inertiabox mass material mesh name origin"
    " point radius rgba rigid scale spacing texcoord type " + _POSE,
)  # fmt: skip
_row(
    "worldbody/flexcomp/edge deformable/flex/edge", HARMLESS, "",
    "damping equality stiffness " + _SOLVER,
)  # fmt: skip
_row(
    "worldbody/flexcomp/elasticity deformable/flex/elasticity", HARMLESS, "",
    "damping elastic2d poisson section sectionsize shear thickness yield young",
)  # fmt: skip
_row(
    "worldbody/flexcomp/contact deformable/flex/contact", HARMLESS, "",
    "activelayers conaffinity condim contype friction gap margin passive priority selfcollide"
    " solmix " + _SOLVER,
)  # fmt: skip
_row("worldbody/flexcomp/pin", HARMLESS, "", "grid gridrange id range")
_row("worldbody/flexcomp/plugin", HARMLESS, "", _PLUGIN)

# outside the tree
_row("deformable", READ)
_row(
    "deformable/flex", LEFT_OUT, "",
    "body cellcount dim dof element elemtexcoord flatskin group material name node nodecoord radius"
    " rgba texcoord vertex",
)  # fmt: skip
_row("contact", HARMLESS)
_row(
    "contact/pair", HARMLESS, "class",
    "adhesion condim friction gap geom1 geom2 margin name solreffriction " + _SOLVER,
)  # fmt: skip
_row("contact/exclude", HARMLESS, "", "body1 body2 name")
_row("tendon", READ)
_row(
    "tendon/spatial tendon/fixed", READ, "armature class name",
    "actuatorfrclimited actuatorfrcrange group limited margin material range rgba solimpfriction"
    " solimplimit solreffriction solreflimit springlength springyield user width",
    "damping frictionloss stiffness",
)  # fmt: skip
_row("tendon/spatial/site", HARMLESS, "", "site")
_row("tendon/spatial/geom", HARMLESS, "", "geom sidesite")
_row("tendon/spatial/pulley", HARMLESS, "", "divisor")
_row("tendon/fixed/joint", READ, "coef joint")
_row("equality", READ)
_row("equality/connect", READ, "active anchor body1 body2 class name site1 site2", _SOLVER)
_row(
    "equality/weld", READ, "active anchor body1 body2 class name relpose site1 site2",
    "torquescale " + _SOLVER,
)  # fmt: skip
_row("equality/joint", READ, "active class joint1 joint2 name polycoef", _SOLVER)
_row(
    "equality/tendon equality/flex equality/flexstrain equality/flexvert", LEFT_OUT, "class",
    "active cell flex name polycoef tendon1 tendon2 " + _SOLVER,
)  # fmt: skip
_row("actuator", READ)
_row(
    " ".join(f"actuator/{tag}" for tag in ACTUATORS), READ,
    "armature class damping gear joint jointinparent name tendon",
    "actdim actearly actlimited actrange area bias biasprm biastype body cogging controller"
    " cranklength cranksite ctrllimited ctrlrange dampratio delay diameter dynprm dyntype ffrange"
    " force forcelimited forcerange fpmax fvmax gain gainprm gaintype group imax inductance"
    " inheritrange input interp ki kp kv lengthrange lmax lmin lugre motorconst nominal nsample"
    " posrange range refsite resistance saturation scale site slewmax slidersite tausmooth thermal"
    " timeconst user velrange vmax " + _PLUGIN,
)  # fmt: skip
_SENSORS = (
    "touch accelerometer velocimeter gyro force torque magnetometer camprojection rangefinder"
    " jointpos jointvel tendonpos tendonvel actuatorpos actuatorvel actuatorfrc jointactuatorfrc"
    " tendonactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel jointlimitfrc"
    " tendonlimitpos tendonlimitvel tendonlimitfrc framepos framequat framexaxis frameyaxis"
    " framezaxis framelinvel frameangvel framelinacc frameangacc subtreecom subtreelinvel"
    " subtreeangmom insidesite distance normal fromto contact e_potential e_kinetic clock tactile"
    " user plugin"
)
_row("sensor", HARMLESS)
_row(
    " ".join(f"sensor/{tag}" for tag in _SENSORS.split()), HARMLESS, "",
    "actuator body body1 body2 camera cutoff data datatype delay dim enclosed geom geom1 geom2"
    " interp interval joint mesh name needstage noise nsample num objname objtype reduce refname"
    " reftype site subtree1 subtree2 tendon user " + _PLUGIN,
)  # fmt: skip
_row("custom custom/tuple keyframe extension", HARMLESS, "", "name")
_row("custom/numeric", HARMLESS, "", "data name size")
_row("custom/text", READ, "data name")  # the end effector, as we write it
_row("custom/tuple/element", HARMLESS, "", "objname objtype prm")
_row("keyframe/key", HARMLESS, "", "act ctrl mpos mquat name plastic qpos qvel time")
_row("extension/plugin", HARMLESS, "", "plugin")
_row("extension/plugin/instance", HARMLESS, "", "name")
_row(
    "asset/mesh/plugin/config worldbody/geom/plugin/config worldbody/plugin/config"
    " worldbody/flexcomp/plugin/config actuator/plugin/config sensor/plugin/config"
    " extension/plugin/instance/config", HARMLESS, "", "key value",
)  # fmt: skip

# defaults: what elements of their kind have
_row("default", READ, "class")
_OF = {
    "asset": ("mesh", "texture", "material"),
    "worldbody": ("joint", "geom", "site", "camera", "light"),
    "contact": ("pair",),
    "actuator": ACTUATORS,
}
for _section, _tags in _OF.items():
    for _tag in _tags:
        _TABLE[f"default/{_tag}"] = _TABLE[f"{_section}/{_tag}"]
_TABLE["default/material/layer"] = _TABLE["asset/material/layer"]
_TABLE["default/tendon"] = _TABLE["tendon/fixed"]
_TABLE["default/equality"] = _TABLE["equality/weld"]

# of older versions
_GONE = {
    "compiler": "convexhull exactmeshinertia",
    "option": "apirate collision mpr_iterations mpr_tolerance nativeccd",
    "option/flag": "passive",
    "visual/quality": "shadowscale",
}

_SWITCH = ("enable", "disable")
_BOOL = ("true", "false")
_WORDS = {  # that an attribute which is read may have
    ("compiler", "angle"): ("radian", "degree"),
    ("compiler", "autolimits"): _BOOL,
    ("compiler", "balanceinertia"): _BOOL,
    ("compiler", "coordinate"): ("local", "global"),
    ("compiler", "fitaabb"): _BOOL,
    ("compiler", "inertiafromgeom"): ("true", "false", "auto"),
    ("compiler", "strippath"): _BOOL,
    ("worldbody/joint", "limited"): ("true", "false", "auto"),
    ("worldbody/geom", "shellinertia"): _BOOL,
    **{("option/flag", name): _SWITCH for name in _TABLE["option/flag"].read},
    **{(f"equality/{tag}", "active"): _BOOL for tag in ("connect", "weld", "joint")},
}
_WORDS |= {("default/joint", "limited"): ("true", "false", "auto")}
_WORDS |= {("default/geom", "shellinertia"): _BOOL, ("default/equality", "active"): _BOOL}

_KINDS = {  # of what is left out
    ("body", "gravcomp"): "gravity compensation (gravcomp) is left out",
    ("joint", "stiffness"): "springs of joints are left out",
    ("joint", "springdamper"): "springs of joints are left out",
    ("tendon", "stiffness"): "springs of tendons are left out",
    ("tendon", "damping"): "damping of tendons is left out",
    ("tendon", "frictionloss"): "friction of tendons is left out",
    ("option", "density"): "the forces of the fluid around (density, viscosity) are left out",
    ("option", "viscosity"): "the forces of the fluid around (density, viscosity) are left out",
}
_FLAG = {"stiffness": "spring", "springdamper": "spring", "damping": "damper"}
_FLAG |= {"frictionloss": "frictionloss", "gravcomp": "gravity"}


def meaning(path: str, attribute: str = "") -> str:
    """read, harmless, left out, or '' for what the table does not know; path: 'body/joint', ..."""
    row = _TABLE.get(_canonical(path.split("/")))
    if row is None:
        return ""
    if not attribute:
        return row.meaning
    for what, names in ((READ, row.read), (HARMLESS, row.harmless), (LEFT_OUT, row.left_out)):
        if attribute in names:
            return what
    old = _GONE.get(path, "").split()
    return HARMLESS if attribute in old else ""


def _canonical(parts: list[str]) -> str:
    """Bodies and frames may stand in each other, and so may classes of defaults."""
    around = [k for k, part in enumerate(parts) if part in _AROUND]
    if parts[0] in _AROUND and parts != ["worldbody"]:
        last = around[-1] if around[-1] < len(parts) - 1 else len(parts) - 2
        parts = ["worldbody", *parts[last + 1 :]]
    if parts[0] == "default":
        parts = ["default", *(part for part in parts if part != "default")]
    return "/".join(parts)


def unknown(mjcf: Mjcf) -> None:
    """Remarks on elements and attributes that the table does not know."""
    for element, path in _walk(mjcf.root, ()):
        row = _TABLE.get(path)
        tag = shown(element.tag)
        if row is None:
            place = f"in <{shown(element.getparent().tag)}>"
            if path.startswith("worldbody/"):
                mjcf.fault(f"there is no element <{tag}> {place} in MJCF", element)
            else:
                mjcf.remark(f"<{tag}> {place} is not known, and is left out", "", element)
            continue
        known = row.read | row.harmless | row.left_out | set(_GONE.get(path, "").split())
        for key in element.attrib:
            if key not in known and not str(key).startswith("{"):
                words = f"the attribute '{shown(key)}' of <{tag}> is not known, and is left out"
                mjcf.remark(words, element.get("name", ""), element)
            words_allowed = _WORDS.get((path, str(key)))
            if words_allowed and element.get(key) not in words_allowed:
                given = f"{key} of <{tag}> is '{shown(element.get(key))}'"
                mjcf.fault(f"{given}, not {' or '.join(words_allowed)}", element)
        _check_classes(mjcf, element, row)


def _check_classes(mjcf: Mjcf, element: Any, row: Row) -> None:
    """Classes of defaults that the file does not define, which MuJoCo refuses."""
    for key in ("class", "childclass"):
        name = element.get(key)
        if name is None or key not in row.read or element.tag == "default":
            continue
        if name not in mjcf.defaults:
            words = f"there is no class '{shown(name)}' of defaults: define it in <default>"
            mjcf.fault(words, element)


def _walk(element: Any, path: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    """Every element with its path in the table; what is inside an unknown one is not looked at."""
    for inner in element:
        if not isinstance(inner.tag, str):
            continue
        inside = (*path, inner.tag)
        stray = not path and inner.tag in _AROUND and inner.tag != "worldbody"
        name = f"mujoco/{inner.tag}" if stray else _canonical(list(inside))
        yield inner, name
        if name in _TABLE:
            yield from _walk(inner, ("worldbody",) if inner.tag in _AROUND else inside)


def left_out(mjcf: Mjcf) -> None:
    """Remarks on what a robot has no place for, of the elements as they are used."""
    for element, path in _walk(mjcf.root, ()):
        row = _TABLE.get(path)
        if row is None or path.startswith("default"):
            continue
        if row.meaning == LEFT_OUT and not path.startswith("equality"):
            _element_left_out(mjcf, element, path)
        for key in sorted(row.left_out | ({"springdamper"} & row.read)):
            words = _KINDS.get((_noun(path), key))
            flag = _FLAG.get(key, "")
            text = mjcf.get(element, key)
            if words and not (flag and mjcf.off(flag)) and _counts(text, key == "springdamper"):
                mjcf.remark(words, element.get("name", "") or mjcf.body_of(element), element)
    compiler = [e for e in mjcf.root.findall("compiler") if e.get("conflict") == "merge"]
    if compiler and mjcf.root.find("asset/model") is not None:
        words = 'options of attached models are not merged: conflict="merge" is left out'
        mjcf.remark(words, "", compiler[0])


def _element_left_out(mjcf: Mjcf, element: Any, path: str) -> None:
    name, tag = element.get("name", ""), element.tag
    if path == "worldbody/flexcomp" and mjcf.body_of(element):
        words = f"<{tag}> makes bodies of body '{mjcf.body_of(element)}' that are not read"
        mjcf.fault(f"{words}: take it out, or give the body their mass", element)
    else:
        mjcf.remark(f"<{tag}> is left out", name or mjcf.body_of(element), element)


def _noun(path: str) -> str:
    return "tendon" if path.startswith("tendon/") else path.rpartition("/")[2]


def _counts(text: str | None, whole: bool) -> bool:
    """Is an attribute there, and not zero? whole: none of its numbers."""
    if text is None:
        return False
    try:
        return (all if whole else any)(float(part) for part in text.split())
    except ValueError:
        return True
