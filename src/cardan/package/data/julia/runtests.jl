# Compares every function with numbers that were computed by another route.
using Test
using @TITLE@

function differs(what, state, got, want)
    scale = max(1.0, maximum(abs.(want)))
    faults = count(.!(abs.(got .- want) .<= @TOLERANCE@ * scale))
    faults == 0 || println(what, ", state ", state, ": ", got, " instead of ", want)
    return faults
end

@TESTS@
