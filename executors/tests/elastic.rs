//! What only elastic pools do: growing, shrinking, being full. What they have in common with other pools is in
//! `conformance.rs`.
#![cfg(feature = "elastic-exec")]

mod support;

#[path = "elastic"]
mod topics {
    mod blocking;
    mod building;
    mod ending;
    mod growing;
    mod leaving;
    mod order;
    mod placing;
    mod refused;
    mod running;
    mod saturation;
    mod tools;
}
