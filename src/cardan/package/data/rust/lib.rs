//! Models of the robot @TITLE@. SI units, radians; matrices are flat, row by row.
#![cfg_attr(not(feature = "std"), no_std)]
#![allow(ambiguous_glob_reexports, unused_imports)]

@BODY@
