//! Compares every function with numbers that were computed by another route.
#![allow(non_snake_case)]
use @NAME@::*;

fn compare<T: Copy + Into<f64>>(what: &str, state: usize, got: &[T], want: &[f64]) {
    let scale = want.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    for (k, (x, y)) in got.iter().zip(want).enumerate() {
        let value: f64 = (*x).into();
        assert!(
            (value - y).abs() <= @TOLERANCE@ * scale,
            "{what}[{k}], state {state}: {value} instead of {y}"
        );
    }
}

@TESTS@
