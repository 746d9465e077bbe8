"""The kernel of the general method: a pose in, all configurations out."""

from __future__ import annotations

from ...kernel.language import (
    Array,
    Vector,
    atan2,
    cos,
    cross,
    empty,
    floor,
    integers,
    sin,
    sqrt,
    zeros,
)
from ...kernel.linalg import Rest, complex_null_space, eigenvalues
from ..approach import Frame, composed, frame_of
from .family import families
from .kernels import companion, far, matrix_n, minors, turned
from .polish import FOUND, PI, SINGULAR, SOFT, add_answer, polish, thinned, twin
from .records import (
    MOST,
    SEEDS,
    Answer,
    Answers,
    Form,
    Head,
    Ratios,
    Robot,
    Seeds,
    SixteenSolutions,
    Turn,
)
from .roots import FAKE, joints_of, monomials

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
APART = 0.02  # how far they are from each other


def relative_pose(T: Array, robot: Head, pose: Frame) -> None:
    """base^-1 T tool^-1 in units of the robot."""
    aim = empty(Frame)
    half = empty(Frame)
    frame_of(T, aim)
    aim.p = (1.0 / robot.unit) * aim.p
    composed(robot.before, aim, half)
    composed(half, robot.after, pose)


def dual_quaternion(pose: Frame, tau: Array) -> None:
    """tau of a pose: the row of 4 q q^T with the largest diagonal; then half P q."""
    a = pose.s[0]
    b = pose.n[1]
    c = pose.a[2]
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
    x = pose.n[2] - pose.a[1]
    y = pose.a[0] - pose.s[2]
    z = pose.s[1] - pose.n[0]
    tau[0] = 1.0 + best
    tau[1] = x
    tau[2] = y
    tau[3] = z
    if which == 1:
        tau[0] = x
        tau[1] = 1.0 + best
        tau[2] = pose.n[0] + pose.s[1]
        tau[3] = pose.a[0] + pose.s[2]
    if which == 2:
        tau[0] = y
        tau[1] = pose.n[0] + pose.s[1]
        tau[2] = 1.0 + best
        tau[3] = pose.a[1] + pose.n[2]
    if which == 3:
        tau[0] = z
        tau[1] = pose.a[0] + pose.s[2]
        tau[2] = pose.a[1] + pose.n[2]
        tau[3] = 1.0 + best
    size = sqrt(tau[0] * tau[0] + tau[1] * tau[1] + tau[2] * tau[2] + tau[3] * tau[3])
    for k in range(4):
        tau[k] /= size
    x = 0.5 * pose.p[0]
    y = 0.5 * pose.p[1]
    z = 0.5 * pose.p[2]
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
    robot: Robot, form: Form, tau: Array, n: Array, s: Array, re: Array, im: Array, turn: Turn
) -> float:
    """The roots of a formulation, and the turn of joint h. Its soundness (0: none)."""
    columns = integers(12)
    v = empty(288)
    m = empty(576)
    plain = empty(64)
    rank = form.way.rank
    lack = form.way.lack
    basis = matrix_n(robot, form, tau, plain)
    if basis < 1e-12:
        return 0.0
    far(robot, form.way, reach(tau), plain)
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
        turn.cosine = c
        turn.sine = sn
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


def configuration(robot: Robot, form: Form, uv: Ratios, turn: Turn, size: float, q: Array) -> bool:
    """Joint variables of the ratios u:v; False when a prismatic joint is at infinity."""
    first = uv.rows[0]
    u = first.u
    first.u = turn.cosine * u - turn.sine * first.v
    first.v = turn.sine * u + turn.cosine * first.v
    for k in range(6):
        j = form.way.joints[k]
        if not robot.joints[j].slides:
            q[j] = 2.0 * atan2(uv.rows[k].v, uv.rows[k].u)
        else:
            if abs(uv.rows[k].u) < 1e-4:
                return False
            q[j] = 2.0 * size * uv.rows[k].v / uv.rows[k].u
    return True


def formulation(
    robot: Robot, form: Form, pose: Frame, tau: Array, near: float, found: Array, answers: Answers,
    seeds: Seeds,
) -> bool:  # fmt: skip
    """Add the answers of one formulation. True when it is sound: nothing was lost.

    near: how far from the real axis a root is tried. tau may be that of a pose nearby. seeds: where
    Newton's method stalled beside a family, see `seed`."""
    n = empty(64)
    s = empty(432)
    re = empty(24)
    im = empty(24)
    turn = empty(Turn)
    y = empty(72)
    places = integers(6)
    rest = empty(Rest)
    sound = roots_of(robot, form, tau, n, s, re, im, turn)
    if sound == 0.0:
        return False
    fine = True
    if sound < ENOUGH:
        fine = False
    roots = zeros(16)
    simple = zeros(16)
    size = reach(tau)
    lack = form.way.lack
    for k in range(2 * form.way.rank):
        off = im[k] / (1.0 + re[k] * re[k] + im[k] * im[k])
        if off < 0.0 or off > near:
            continue
        many = monomials(s, re[k], lack, y, rest)
        if lack > 0 and rest.pivot > FAKE:
            continue
        several = 0
        for r in range(many):
            place = answer(
                robot, form, pose, n, re[k], turn, y, 12 * r, size, found, answers, seeds
            )
            if place >= 0:
                fresh = True
                for i in range(several):
                    if places[i] == place:
                        fresh = False
                if fresh:
                    places[several] = place
                    several += 1
        weight = 1.0
        if im[k] > 0.0:
            weight = 2.0
        for i in range(several):
            roots[places[i]] += weight / float(several)
            if off < DOUBLE:
                simple[places[i]] += weight / float(several)
        if (several == 0 and off < 1e-9) or (lack > 0 and rest.pivot > SURE):
            fine = False
        if several == 0 and lack == 0 and (many == 0 or off < DOUBLE):
            fine = False
    for k in range(16):
        answers.rows[k].roots = max(answers.rows[k].roots, roots[k])
        if simple[k] > 1.9 and answers.rows[k].quality > REGULAR and lack == 0:
            fine = False  # one of these roots belongs to an answer that is missing
    return fine


def answer(
    robot: Robot, form: Form, pose: Frame, n: Array, x: float, turn: Turn, y: Array, at: int,
    size: float, found: Array, answers: Answers, seeds: Seeds,
) -> int:  # fmt: skip
    """Make the candidate of a root x and its monomials exact. Its place among the answers, or
    -1."""
    uv = empty(Ratios)
    q = empty(6)
    exact = empty(Answer)
    joints_of(n, x, y, at, uv)
    good = configuration(robot, form, uv, turn, size, q)
    if not good:
        return -1
    residual = polish(robot, pose, q, exact)
    if residual > FOUND:
        if residual < STALLED and exact.quality < STALLED:
            seed(robot, q, seeds)
        return -1
    place = add_answer(robot, pose, q, residual, exact.quality, found, answers)
    return place


def seed(robot: Robot, q: Array, seeds: Seeds) -> None:
    """Note a configuration that may be of a curve beside a family."""
    if seeds.count == SEEDS:
        return
    for k in range(seeds.count):
        gap = 0.0
        for j in range(6):
            x = q[j] - seeds.rows[6 * k + j]
            if not robot.joints[j].slides:
                x = x - 2.0 * PI * floor(x / (2.0 * PI) + 0.5)
            gap = max(gap, abs(x))
        if gap < APART:
            return
    for j in range(6):
        seeds.rows[6 * seeds.count + j] = q[j]
    seeds.count += 1


def of_families(robot: Robot, pose: Frame, seeds: Seeds, found: Array, answers: Answers) -> int:
    """Families counted once, answers beside them told apart (family.py). How many curves."""
    notes = empty(SixteenSolutions)
    notes.count = answers.count
    for k in range(answers.count):
        notes.rows[k].residual = answers.rows[k].residual
        notes.rows[k].singular = answers.rows[k].quality < SINGULAR
        notes.rows[k].times = max(1.0, answers.rows[k].roots)
    curves = families(robot, pose, seeds.rows, seeds.count, MOST, found, notes)
    answers.count = notes.count
    for k in range(notes.count):
        answers.rows[k].residual = notes.rows[k].residual
        answers.rows[k].quality = 0.0 if notes.rows[k].singular else 1.0
        answers.rows[k].roots = notes.rows[k].times
    for k in range(notes.count, MOST):
        answers.rows[k].roots = 0.0
    return curves


def parity(answers: Answers, lack: int) -> bool:
    """Is the number of real roots of the answers even, as that of a real polynomial?

    Where S(x) lacks rank there are roots without a meaning: then the answers are counted."""
    count = answers.count
    total = 0.0
    for k in range(count):
        roots = answers.rows[k].roots
        if lack > 0:
            roots = 1.0
        total += max(1.0, roots)
    whole = int(total + 0.5)
    return whole % 2 == 0


def from_nearby(
    robot: Robot, pose: Frame, distance: float, tries: int, q: Array, answers: Answers,
    seeds: Seeds,
) -> None:  # fmt: skip
    """Answers that start from those of poses nearby: where configurations are not isolated, or
    nearly so."""
    moved = empty(Frame)
    w = empty(Vector)
    tau = empty(8)
    for k in range(tries):
        size = distance
        if k % 2 == 1:
            size = -distance
        turn = float(k // 2)
        w[0] = size * 0.4 * cos(2.1 * turn)
        w[1] = size * 0.6 * cos(1.7 * turn)
        w[2] = size * 0.7 * cos(0.9 * turn)
        moved.s = pose.s + cross(w, pose.s)
        moved.n = pose.n + cross(w, pose.n)
        moved.a = pose.a + cross(w, pose.a)
        moved.p = pose.p + cross(w, pose.p)
        moved.p[0] += 0.5 * size * cos(1.3 * turn)
        moved.p[1] -= 0.3 * size * cos(0.8 * turn)
        moved.p[2] += 0.4 * size * sin(turn)
        dual_quaternion(moved, tau)
        if k // 2 < robot.ways:
            form = robot.forms[k // 2]
            fine = formulation(robot, form, pose, tau, 0.03, q, answers, seeds)
            answers.nearby += int(fine)


def searched(robot: Robot, pose: Frame, found: Array, answers: Answers) -> None:
    """Newton's method from configurations all over: where eigenvalues say nothing. Beside a family
    the best that is found has to do."""
    q = empty(6)
    best = empty(6)
    exact = empty(Answer)
    least = BARELY / max(1.0, robot.unit)
    for k in range(SEARCHED):
        for j in range(6):
            x = float(k + 1) * sqrt(float(2 + 3 * j))
            q[j] = 2.0 * (x - floor(x)) - 1.0
            if not robot.joints[j].slides:
                q[j] *= PI
        residual = polish(robot, pose, q, exact)
        if residual < FOUND:
            add_answer(robot, pose, q, residual, exact.quality, found, answers)
        elif residual < least:
            least = residual
            for j in range(6):
                best[j] = q[j]
        if answers.count > 3:
            break
    if answers.count == 0 and least < BARELY / max(1.0, robot.unit):
        add_answer(robot, pose, best, least, 0.0, found, answers)


def twins(robot: Robot, pose: Frame, q: Array, answers: Answers) -> float:
    """Add the twins of answers that nearly coincide with others. The lowest quality."""
    count = answers.count
    lowest = 1.0
    for k in range(count):
        if answers.rows[k].quality < SOFT:
            twin(robot, pose, k, q, answers)
        lowest = min(lowest, answers.rows[k].quality)
    return lowest


def no_answers(answers: Answers) -> None:
    """Empty the list."""
    answers.count = 0
    answers.used = 0
    answers.sound = False
    answers.nearby = 0
    for k in range(MOST):
        answers.rows[k].residual = 0.0
        answers.rows[k].quality = 0.0
        answers.rows[k].roots = 0.0
    for k in range(12):
        answers.rest[k] = 0.0


def general_pose(T: Array, robot: Robot, q: Array, info: Answers) -> None:
    """All configurations of a pose T (4x4, row by row): q, 16 rows of 6, the first info.count are
    answers. If no formulation is sound, answers of poses nearby are tried as well."""
    pose = empty(Frame)
    tau = empty(8)
    relative_pose(T, robot, pose)
    dual_quaternion(pose, tau)
    no_answers(info)
    seeds = empty(Seeds)
    seeds.count = 0
    least = robot.forms[0].way.lack
    doubtful = False  # on a family a formulation that lacks rank anyway may take it for its own
    for k in range(robot.ways):
        form = robot.forms[k]
        fine = formulation(robot, form, pose, tau, form.way.near, q, info, seeds)
        info.used = k + 1
        even = parity(info, form.way.lack)
        if fine and even and form.way.trusted:
            info.sound = True
            doubtful = form.way.lack > least
            break
    if info.count == 0:
        fine = formulation(robot, robot.forms[0], pose, tau, 0.05, q, info, seeds)
    if doubtful or not info.sound:
        from_nearby(robot, pose, NEARBY, 4, q, info, seeds)
    soft = twins(robot, pose, q, info)
    curves = 0
    if soft < NEAR_FAMILY or seeds.count > 0:
        curves = of_families(robot, pose, seeds, q, info)
    if curves > 0 or (info.nearby == 0 and not info.sound):
        seeds.count = 0
        from_nearby(robot, pose, 10.0 * NEARBY, 2 * robot.ways, q, info, seeds)
        from_nearby(robot, pose, 100.0 * NEARBY, 2 * robot.ways, q, info, seeds)
        soft = twins(robot, pose, q, info)
        curves = of_families(robot, pose, seeds, q, info)
    if info.count == 0 and not info.sound:
        searched(robot, pose, q, info)
        soft = twins(robot, pose, q, info)
    if soft < SOFT:
        thinned(robot, pose, q, info)
    for k in range(info.count):
        for j in range(6):
            if robot.joints[j].slides:
                q[6 * k + j] *= robot.unit
