"""Planar beams in Exudyn: absolute nodal coordinates, many elements; an independent formulation.

Nothing is shared with Cardan: no floating frame, no modes; exact for large turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Law = Callable[[float], tuple[float, float]]  # t -> position, velocity


class Plane:
    """A planar mechanism of beams, points and loads."""

    def __init__(self) -> None:
        import exudyn
        import exudyn.itemInterface as items

        self.exu, self.items = exudyn, items
        self.system = exudyn.SystemContainer()
        self.mbs = self.system.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround(referencePosition=[0, 0, 0]))
        self.sensors: list[int] = []

    def beam(
        self, start: Any, end: Any, elements: int, *, mass: float, EA: float, EI: float,
        rotary: float, gravity: Any = (0, 0),
    ) -> list[int]:  # fmt: skip
        """Nodes of a straight beam; mass and rotary inertia per length."""
        from exudyn.beams import GenerateStraightLineANCFCable2D

        length = float(np.linalg.norm(np.subtract(end, start))) / elements
        template = self.items.Cable2D(
            physicsMassPerLength=mass, physicsBendingStiffness=EI, physicsAxialStiffness=EA,
            physicsBendingDamping=0, useReducedOrderIntegration=0,
            physicsReferenceAxialStrain=0, physicsReferenceCurvature=0, physicsLength=length,
        )  # fmt: skip
        found = GenerateStraightLineANCFCable2D(
            mbs=self.mbs, positionOfNode0=[*start, 0], positionOfNode1=[*end, 0],
            numberOfElements=elements, cableTemplate=template,
            massProportionalLoad=[*gravity, 0], fixedConstraintsNode0=[0, 0, 0, 0],
            fixedConstraintsNode1=[0, 0, 0, 0],
        )  # fmt: skip
        nodes: list[int] = found[0]
        return nodes

    def point(self, at: Any, mass: float, gravity: Any = (0, 0)) -> int:
        items, mbs = self.items, self.mbs
        node = mbs.AddNode(items.NodePoint2D(referenceCoordinates=list(at)))
        mbs.AddObject(items.ObjectMassPoint2D(physicsMass=mass, nodeNumber=node))
        marker = mbs.AddMarker(items.MarkerNodePosition(nodeNumber=node))
        if any(gravity):
            force = [mass * gravity[0], mass * gravity[1], 0]
            mbs.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=force))
        return int(node)

    def pin(self, one: int, other: int) -> None:
        """Two nodes at the same place."""
        items, mbs = self.items, self.mbs
        markers = [mbs.AddMarker(items.MarkerNodePosition(nodeNumber=n)) for n in (one, other)]
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))

    def hold(self, node: int, coordinate: int, law: Law | None = None) -> None:
        """Coordinate of a node (0, 1 position; 2, 3 slope) fixed, or moved by a law."""
        items, mbs = self.items, self.mbs
        base = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=self._still(), coordinate=0))
        own = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))
        extra: dict[str, Any] = {}
        if law is not None:
            extra["offsetUserFunction"] = lambda mbs, t, item, offset: law(t)[0]
            extra["offsetUserFunction_t"] = lambda mbs, t, item, offset: law(t)[1]
        mbs.AddObject(items.CoordinateConstraint(markerNumbers=[base, own], **extra))

    def _still(self) -> int:
        return int(self.mbs.AddNode(self.items.NodePointGround(referenceCoordinates=[0, 0, 0])))

    def watch(self, node: int, *kinds: str) -> None:
        """Record outputs of a node at every step."""
        for kind in kinds:
            variable = getattr(self.exu.OutputVariableType, kind)
            self.sensors.append(self.mbs.AddSensor(self.items.SensorNode(
                nodeNumber=node, storeInternal=True, outputVariableType=variable,
            )))  # fmt: skip

    def run(
        self, duration: float, steps: int, samples: int, damping: float = 0.9
    ) -> list[np.ndarray]:
        """Integrate; the rows (t, values ...) of every sensor."""
        self.mbs.Assemble()
        settings = self.exu.SimulationSettings()
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.generalizedAlpha.spectralRadius = damping
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.newton.useModifiedNewton = False
        settings.linearSolverType = self.exu.LinearSolverType.EigenSparse
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = duration / samples
        settings.timeIntegration.newton.relativeTolerance = 1e-5
        settings.timeIntegration.newton.absoluteTolerance = 1e-7
        self.mbs.SolveDynamic(settings)
        return [self.mbs.GetSensorStoredData(k) for k in self.sensors]
