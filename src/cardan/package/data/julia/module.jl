"Models of the robot @ROBOT@. SI units, radians."
module @TITLE@

export @PUBLIC@

@INCLUDED@

end
