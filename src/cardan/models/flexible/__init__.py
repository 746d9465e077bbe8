"""Flexible links, [BK13]: shape functions, their integrals, bodies, trees and loops."""
