"""Universal Scene Description: articulations of UsdPhysics, read through usd-core."""
