"""The kernel of the general method: a pose in, all configurations out.

The table of a robot: 36 numbers of the joints (general_polish.py), the inverses of base and tool
(12 each), the number of formulations and the size, 12 numbers of the tilts of the joints; from HEAD
on the formulations, each of FORM numbers: W of (1), 512, or the basis of H; the basis of L, 64; the
joints in the order h, two of H, a, b, c; how far from the real axis a root is tried; 1 when its
answers are trusted alone, 0 when those of the next formulation are to be added; the rank of S(i);
by how much S(x) lacks rank; the first joint of H; 1 when the pose stands among H, 2 when N is found
from the geometry.
"""

from __future__ import annotations

from ...kernel.language import Array, atan2, cos, empty, floor, integers, sin, sqrt, zeros
from ...kernel.linalg import complex_null_space, eigenvalues
from ..approach import Frame, SixArm, frame_of
from .family import families
from .kernels import companion, far, matrix_n, minors, turned
from .polish import FOUND, PI, SINGULAR, SOFT, TILTS, add_answer, polish, thinned, twin
from .roots import FAKE, joints_of, monomials

__all__ = ["FORM", "HEAD", "general_pose"]

HEAD = 74
FORM = 588
TURNS = 4  # zeros of joint h that are tried
SEARCHED = 256  # configurations from which answers are looked for where all else fails
BARELY = 9e-10  # residual of what is found there at least, m and rad
NEARBY = 1e-4  # how far a pose nearby is, turns and units
SURE = 1e-9  # pivot of a root that is beyond doubt where S(x) lacks rank
DOUBLE = 1e-4  # how far rounding moves two roots that nearly coincide off the real axis
REGULAR = 1e-5  # quality of an answer that is a simple root
ENOUGH = 1e-7  # smallest pivot over largest of a sound formulation
NEAR_FAMILY = 3e-5  # quality of an answer that may be of a family, or beside one
STALLED = 1e-3  # residual and quality where Newton's method does not feel its way to an answer
SEEDS = 24  # configurations from which families are followed
APART = 0.02  # how far they are from each other


def relative_pose(T: Array, robot: Array, pose: Array) -> None:
    """base^-1 T tool^-1, 3x4, in units of the robot's size (robot[61])."""
    half = empty(12)
    unit = 1.0 / robot[61]
    for i in range(3):
        for j in range(4):
            total = 0.0
            for k in range(3):
                x = T[4 * k + j]
                if j == 3:
                    x = x * unit
                total += robot[36 + 4 * i + k] * x
            if j == 3:
                total += robot[36 + 4 * i + 3]
            half[4 * i + j] = total
    for i in range(3):
        for j in range(4):
            total = 0.0
            for k in range(3):
                total += half[4 * i + k] * robot[48 + 4 * k + j]
            if j == 3:
                total += half[4 * i + 3]
            pose[4 * i + j] = total


def dual_quaternion(pose: Array, tau: Array) -> None:
    """tau of a pose: the row of 4 q q^T with the largest diagonal; then half P q."""
    a = pose[0]
    b = pose[5]
    c = pose[10]
    best = a + b + c
    which = 0
    if a - b - c > best:
        best = a - b - c
        which = 1
    if b - a - c > best:
        best = b - a - c
        which = 2
    if c - a - b > best:
        best = c - a - b
        which = 3
    x = pose[9] - pose[6]
    y = pose[2] - pose[8]
    z = pose[4] - pose[1]
    tau[0] = 1.0 + best
    tau[1] = x
    tau[2] = y
    tau[3] = z
    if which == 1:
        tau[0] = x
        tau[1] = 1.0 + best
        tau[2] = pose[1] + pose[4]
        tau[3] = pose[2] + pose[8]
    if which == 2:
        tau[0] = y
        tau[1] = pose[1] + pose[4]
        tau[2] = 1.0 + best
        tau[3] = pose[6] + pose[9]
    if which == 3:
        tau[0] = z
        tau[1] = pose[2] + pose[8]
        tau[2] = pose[6] + pose[9]
        tau[3] = 1.0 + best
    size = sqrt(tau[0] * tau[0] + tau[1] * tau[1] + tau[2] * tau[2] + tau[3] * tau[3])
    for k in range(4):
        tau[k] /= size
    x = 0.5 * pose[3]
    y = 0.5 * pose[7]
    z = 0.5 * pose[11]
    tau[4] = -x * tau[1] - y * tau[2] - z * tau[3]
    tau[5] = x * tau[0] + y * tau[3] - z * tau[2]
    tau[6] = y * tau[0] + z * tau[1] - x * tau[3]
    tau[7] = z * tau[0] + x * tau[2] - y * tau[1]


def reach(tau: Array) -> float:
    """How far a pose is, at least 1: |P| is twice the length of the dual part."""
    total = 0.0
    for k in range(4):
        total += tau[4 + k] * tau[4 + k]
    return max(1.0, 2.0 * sqrt(total))


def roots_of(
    robot: Array, first: int, tau: Array, n: Array, s: Array, re: Array, im: Array
) -> float:
    """The roots of a formulation. Its soundness (0: none); re[24], im[24]: the turn of joint h."""
    columns = integers(12)
    v = empty(288)
    m = empty(576)
    plain = empty(64)
    rank = int(robot[first + 584])
    lack = int(robot[first + 585])
    basis = matrix_n(robot, first, tau, plain)
    if basis < 1e-12:
        return 0.0
    far(robot, first, reach(tau), plain)
    best = -1.0
    chosen = 0
    for trial in range(TURNS + 1):
        at = trial
        if trial == TURNS:
            at = chosen
        phi = 0.3 + 0.7 * float(at)
        c = cos(phi)
        sn = sin(phi)
        turned(plain, c, sn, n)
        minors(n, s)
        gap = complex_null_space(s, rank, columns, v)
        quality = companion(s, rank, lack, columns, v, m)
        if gap > 1e-3:
            quality = quality * 1e-9
        re[24] = c
        im[24] = sn
        if quality > best:
            best = quality
            chosen = at
        if quality > 1e-4 or trial == TURNS:
            best = quality
            break
    if best <= 0.0:
        return 0.0
    left = eigenvalues(m, 2 * rank, re, im)
    if left > 0:
        return 0.0
    return min(best, basis)


def configuration(
    robot: Array, first: int, uv: Array, c: float, s: float, size: float, q: Array
) -> int:
    """Joint variables of the ratios u:v; 0 when a prismatic joint is at infinity."""
    u = uv[0]
    uv[0] = c * u - s * uv[1]
    uv[1] = s * u + c * uv[1]
    for k in range(6):
        j = int(robot[first + 576 + k])
        if robot[6 * j + 5] < 0.5:
            q[j] = 2.0 * atan2(uv[2 * k + 1], uv[2 * k])
        else:
            if abs(uv[2 * k]) < 1e-4:
                return 0
            q[j] = 2.0 * size * uv[2 * k + 1] / uv[2 * k]
    return 1


def formulation(
    robot: Array, first: int, pose: Array, tau: Array, near: float, found: Array, info: Array,
    seeds: Array,
) -> int:  # fmt: skip
    """Add the answers of one formulation. 1 when it is sound: nothing was lost.

    near: how far from the real axis a root is tried. tau may be that of a pose nearby. seeds: where
    Newton's method stalled beside a family, see `seed`."""
    n = empty(64)
    s = empty(432)
    re = empty(25)
    im = empty(25)
    y = empty(72)
    places = empty(6)
    rest = empty(1)
    sound = roots_of(robot, first, tau, n, s, re, im)
    if sound == 0.0:
        return 0
    fine = 1
    if sound < ENOUGH:
        fine = 0
    roots = zeros(16)
    simple = zeros(16)
    size = reach(tau)
    lack = int(robot[first + 585])
    for k in range(2 * int(robot[first + 584])):
        off = im[k] / (1.0 + re[k] * re[k] + im[k] * im[k])
        if off < 0.0 or off > near:
            continue
        many = monomials(s, re[k], lack, y, rest)
        if lack > 0 and rest[0] > FAKE:
            continue
        answers = 0
        for r in range(many):
            place = answer(robot, first, pose, n, re, im, k, y, 12 * r, size, found, info, seeds)
            if place >= 0:
                fresh = 1
                for i in range(answers):
                    if int(places[i]) == place:
                        fresh = 0
                if fresh == 1:
                    places[answers] = float(place)
                    answers += 1
        weight = 1.0
        if im[k] > 0.0:
            weight = 2.0
        for i in range(answers):
            roots[int(places[i])] += weight / float(answers)
            if off < DOUBLE:
                simple[int(places[i])] += weight / float(answers)
        if (answers == 0 and off < 1e-9) or (lack > 0 and rest[0] > SURE):
            fine = 0
        if answers == 0 and lack == 0 and (many == 0 or off < DOUBLE):
            fine = 0
    for k in range(16):
        info[1 + 3 * k + 2] = max(info[1 + 3 * k + 2], roots[k])
        if simple[k] > 1.9 and info[2 + 3 * k] > REGULAR and lack == 0:
            fine = 0  # one of these roots belongs to an answer that is missing
    return fine


def answer(
    robot: Array,
    first: int,
    pose: Array,
    n: Array,
    re: Array,
    im: Array,
    k: int,
    y: Array,
    at: int,
    size: float,
    found: Array,
    info: Array,
    seeds: Array,
) -> int:
    """Make the candidate of root k and its monomials exact; its place among the answers, or -1."""
    uv = empty(12)
    q = empty(6)
    quality = empty(1)
    joints_of(n, re[k], y, at, uv)
    good = configuration(robot, first, uv, re[24], im[24], size, q)
    if good == 0:
        return -1
    residual = polish(robot, pose, q, quality)
    if residual > FOUND:
        if residual < STALLED and quality[0] < STALLED:
            seed(robot, q, seeds)
        return -1
    place = add_answer(robot, pose, q, residual, quality[0], found, info)
    return place


def seed(robot: Array, q: Array, seeds: Array) -> None:
    """Note a configuration that may be of a curve beside a family; seeds: how many, then rows."""
    count = int(seeds[0])
    if count == SEEDS:
        return
    for k in range(count):
        gap = 0.0
        for j in range(6):
            x = q[j] - seeds[1 + 6 * k + j]
            if robot[6 * j + 5] < 0.5:
                x = x - 2.0 * PI * floor(x / (2.0 * PI) + 0.5)
            gap = max(gap, abs(x))
        if gap < APART:
            return
    for j in range(6):
        seeds[1 + 6 * count + j] = q[j]
    seeds[0] = float(count + 1)


def of_families(robot: Array, pose: Array, seeds: Array, found: Array, info: Array) -> int:
    """Families counted once, answers beside them told apart (family.py). How many curves."""
    arm = zeros(SixArm)
    aim = empty(Frame)
    rows = empty(144)
    error = empty(16)
    lost = empty(16)
    times = empty(16)
    state = empty(3)
    arm.count = 6
    arm.size = 1.0  # lengths are in units of the size already
    arm.scale = 1.0
    arm.margin = 1e-9
    arm.accepted = FOUND
    arm.weight = 1.0
    arm.base.s[0] = 1.0
    arm.base.n[1] = 1.0
    arm.base.a[2] = 1.0
    arm.tool = arm.base
    for j in range(6):
        joint = arm.joints[j]
        joint.ca = robot[6 * j]
        joint.sa = robot[6 * j + 1]
        joint.d = robot[6 * j + 2]
        joint.theta = robot[6 * j + 3]
        joint.r = robot[6 * j + 4]
        joint.slides = robot[6 * j + 5] > 0.5
        joint.sb = robot[TILTS + 2 * j]
        joint.cb = robot[TILTS + 2 * j + 1]
    frame_of(pose, aim)
    extra = int(seeds[0])
    for k in range(6 * extra):
        rows[k] = seeds[1 + k]
    count = int(info[0])
    for k in range(count):
        error[k] = info[1 + 3 * k]
        lost[k] = 0.0
        if info[2 + 3 * k] < SINGULAR:
            lost[k] = 1.0
        times[k] = max(1.0, info[3 + 3 * k])
    state[0] = info[0]
    curves = families(arm, aim, rows, extra, 16, found, error, lost, times, state)
    info[0] = state[0]
    count = int(state[0])
    for k in range(count):
        info[1 + 3 * k] = error[k]
        info[2 + 3 * k] = 1.0 - lost[k]
        info[3 + 3 * k] = times[k]
    for k in range(count, 16):
        info[3 + 3 * k] = 0.0
    return curves


def parity(info: Array, lack: int) -> int:
    """Is the number of real roots of the answers even, as that of a real polynomial?

    Where S(x) lacks rank there are roots without a meaning: then the answers are counted."""
    count = int(info[0])
    total = 0.0
    for k in range(count):
        roots = info[1 + 3 * k + 2]
        if lack > 0:
            roots = 1.0
        total += max(1.0, roots)
    whole = int(total + 0.5)
    return 1 - whole % 2


def from_nearby(
    robot: Array, pose: Array, distance: float, tries: int, q: Array, info: Array, seeds: Array
) -> None:
    """Answers that start from those of poses nearby: where configurations are not isolated, or
    nearly so."""
    moved = empty(12)
    tau = empty(8)
    forms = int(robot[60])
    for k in range(tries):
        size = distance
        if k % 2 == 1:
            size = -distance
        turn = float(k // 2)
        wx = 0.4 * cos(2.1 * turn)
        wy = 0.6 * cos(1.7 * turn)
        wz = 0.7 * cos(0.9 * turn)
        for j in range(4):
            x = pose[j]
            y = pose[4 + j]
            z = pose[8 + j]
            moved[j] = x + size * (wy * z - wz * y)
            moved[4 + j] = y + size * (wz * x - wx * z)
            moved[8 + j] = z + size * (wx * y - wy * x)
        moved[3] += 0.5 * size * cos(1.3 * turn)
        moved[7] -= 0.3 * size * cos(0.8 * turn)
        moved[11] += 0.4 * size * sin(turn)
        dual_quaternion(moved, tau)
        if k // 2 < forms:
            first = HEAD + FORM * (k // 2)
            fine = formulation(robot, first, pose, tau, 0.03, q, info, seeds)
            info[51] += float(fine)


def searched(robot: Array, pose: Array, found: Array, info: Array) -> None:
    """Newton's method from configurations all over: where eigenvalues say nothing. Beside a family
    the best that is found has to do."""
    q = empty(6)
    best = empty(6)
    quality = empty(1)
    least = BARELY / max(1.0, robot[61])
    for k in range(SEARCHED):
        for j in range(6):
            x = float(k + 1) * sqrt(float(2 + 3 * j))
            q[j] = 2.0 * (x - floor(x)) - 1.0
            if robot[6 * j + 5] < 0.5:
                q[j] *= PI
        residual = polish(robot, pose, q, quality)
        if residual < FOUND:
            add_answer(robot, pose, q, residual, quality[0], found, info)
        elif residual < least:
            least = residual
            for j in range(6):
                best[j] = q[j]
        if info[0] > 3.5:
            break
    if info[0] < 0.5 and least < BARELY / max(1.0, robot[61]):
        add_answer(robot, pose, best, least, 0.0, found, info)


def twins(robot: Array, pose: Array, q: Array, info: Array) -> float:
    """Add the twins of answers that nearly coincide with others. The lowest quality."""
    count = int(info[0])
    lowest = 1.0
    for k in range(count):
        if info[2 + 3 * k] < SOFT:
            twin(robot, pose, k, q, info)
        lowest = min(lowest, info[2 + 3 * k])
    return lowest


def general_pose(T: Array, robot: Array, q: Array, info: Array) -> None:
    """All configurations of a pose T (4x4, row by row).

    q: 16 rows of 6, the first info[0] are answers. info: count; residual, quality and number of
    roots of every answer (3 x 16); info[49]: formulations used; info[50]: 1 when one was sound (if
    none was, answers of poses nearby have been tried as well)."""
    pose = empty(12)
    tau = empty(8)
    relative_pose(T, robot, pose)
    dual_quaternion(pose, tau)
    for k in range(64):
        info[k] = 0.0
    seeds = empty(145)  # 1 + 6 * SEEDS
    seeds[0] = 0.0
    forms = int(robot[60])
    for k in range(forms):
        first = HEAD + FORM * k
        fine = formulation(robot, first, pose, tau, robot[first + 582], q, info, seeds)
        info[49] = float(k + 1)
        lack = int(robot[first + 585])
        even = parity(info, lack)
        if fine == 1 and even == 1 and robot[first + 583] > 0.5:
            info[50] = 1.0
            break
    if info[0] < 0.5:
        fine = formulation(robot, HEAD, pose, tau, 0.05, q, info, seeds)
    if info[50] < 0.5:
        from_nearby(robot, pose, NEARBY, 4, q, info, seeds)
    soft = twins(robot, pose, q, info)
    curves = 0
    if soft < NEAR_FAMILY or seeds[0] > 0.5:
        curves = of_families(robot, pose, seeds, q, info)
    if curves > 0 or (info[50] < 0.5 and info[0] < 0.5):
        seeds[0] = 0.0
        from_nearby(robot, pose, 10.0 * NEARBY, 2 * forms, q, info, seeds)
        from_nearby(robot, pose, 100.0 * NEARBY, 2 * forms, q, info, seeds)
        soft = twins(robot, pose, q, info)
        curves = of_families(robot, pose, seeds, q, info)
    if info[50] < 0.5 and info[0] < 0.5:
        searched(robot, pose, q, info)
        soft = twins(robot, pose, q, info)
    if soft < SOFT:
        thinned(robot, pose, q, info)
    count = int(info[0])
    for k in range(count):
        for j in range(6):
            if robot[6 * j + 5] > 0.5:
                q[6 * k + j] *= robot[61]
