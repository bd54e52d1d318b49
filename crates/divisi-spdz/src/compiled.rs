//! Functions that are compiled in this crate, once for each field, and not again in every dependent crate.
//!
//! The compiler instantiates a generic function wherever it is used with a type, unless an upstream crate has
//! instantiated it for that type and it is `#[inline(never)]`. So the entry points of this crate have that
//! attribute, as have the functions that many of them share, and this module names them for each field.

use crate::engine::{AuthBit, AuthByte, Openings, Spdz, Tiny, TinyBit, TinyBits, TinyByte};
use crate::part::{Host, Word32};
use crate::party::Party;
use crate::prep::{Bucketed, Mascot, Preparation};
use crate::share::Auth;
use crate::source::Source;
use divisi_core::{Boolean, Bytes, Compares, ComparesBytes, Convert, Debt, Lanes, Lookups, Opens};
use divisi_field::{Gf2, Gf8, Gf40, Gf42, Gf48, Gf72};

/// The addresses of the functions: nobody needs them, but functions that are named here are compiled.
#[doc(hidden)]
#[must_use]
pub fn compiled() -> [Vec<*const ()>; 4] {
    [of::<Gf40>(), of::<Gf42>(), of::<Gf48>(), of::<Gf72>()]
}

fn of<F: Host>() -> Vec<*const ()> {
    [sources::<F>(), engine::<F>(), tiny::<F>(), values::<F>()].concat()
}

fn sources<F: Host>() -> Vec<*const ()> {
    vec![
        Preparation::start::<F> as *const (),
        Bucketed::<F>::start as *const (),
        <Bucketed<F> as Source<F>>::bits as *const (),
        <Bucketed<F> as Source<F>>::known as *const (),
        <Bucketed<F> as Source<F>>::units as *const (),
        <Bucketed<F> as Source<F>>::byte_triples as *const (),
        <Bucketed<F> as Source<F>>::six_triples as *const (),
        <Bucketed<F> as Source<F>>::bit_triples as *const (),
        Mascot::<F>::start as *const (),
        <Mascot<F> as Source<F>>::bits as *const (),
        <Mascot<F> as Source<F>>::known as *const (),
        <Mascot<F> as Source<F>>::units as *const (),
        <Mascot<F> as Source<F>>::byte_triples as *const (),
        <Mascot<F> as Source<F>>::six_triples as *const (),
        <Mascot<F> as Source<F>>::bit_triples as *const (),
    ]
}

fn engine<F: Host>() -> Vec<*const ()> {
    vec![
        Spdz::<F>::new as *const (),
        <Openings<F> as Debt>::pay as *const (),
        Spdz::<F>::input as *const (),
        Spdz::<F>::input_mask as *const (),
        Spdz::<F>::masked_input as *const (),
        Spdz::<F>::input_bits as *const (),
        Spdz::<F>::bit_mask as *const (),
        Spdz::<F>::masked_bits as *const (),
        Spdz::<F>::output_to as *const (),
        Spdz::<F>::output_bits_to as *const (),
        Spdz::<F>::preprocess as *const (),
        Spdz::<F>::preprocess_ands as *const (),
        Spdz::<F>::preprocess_lookups as *const (),
        Spdz::<F>::preprocess_products as *const (),
        Spdz::<F>::preprocess_sboxes as *const (),
        Spdz::<F>::prepare_lookups as *const (),
        Spdz::<F>::preprocess_bits as *const (),
        Spdz::<F>::preprocess_known as *const (),
        Spdz::<F>::preprocess_values as *const (),
        Spdz::<F>::input_values as *const (),
        Spdz::<F>::look_up_value as *const (),
        Spdz::<F>::output_values as *const (),
        Spdz::<F>::load as *const (),
        Spdz::<F>::load_lookups as *const (),
        <Spdz<F> as Bytes>::public as *const (),
        <Spdz<F> as Bytes>::add as *const (),
        <Spdz<F> as Bytes>::add_public as *const (),
        <Spdz<F> as Bytes>::linear::<4> as *const (),
        <Spdz<F> as Bytes>::sbox as *const (),
        <Spdz<F> as Bytes>::prepare as *const (),
        <Spdz<F> as Bytes>::join_bytes as *const (),
        <Spdz<F> as Lookups>::constant_bit as *const (),
        <Spdz<F> as Lookups>::add_bit as *const (),
        <Spdz<F> as Lookups>::look_up as *const (),
        <Spdz<F> as Lookups>::foresee as *const (),
        <Spdz<F> as Boolean>::public_bit as *const (),
        <Spdz<F> as Boolean>::join_bits as *const (),
        <Spdz<F> as Boolean>::run as *const (),
        <Spdz<F> as Convert<AuthByte<F>, [AuthBit<F>; 8]>>::convert as *const (),
        <Spdz<F> as Convert<[AuthBit<F>; 8], AuthByte<F>>>::convert as *const (),
        <Spdz<F> as Opens<Vec<AuthByte<F>>>>::open as *const (),
        <Spdz<F> as Opens<Vec<AuthBit<F>>>>::open as *const (),
        <Spdz<F> as Compares<AuthByte<F>>>::vanish as *const (),
        <Spdz<F> as ComparesBytes>::vanish_blocks as *const (),
    ]
}

fn tiny<F: Host>() -> Vec<*const ()> {
    vec![
        Tiny::<F>::new as *const (),
        Tiny::<F>::enter as *const (),
        Tiny::<F>::open_indices as *const (),
        Tiny::<F>::output as *const (),
        Tiny::<F>::into_engine as *const (),
        <Tiny<F> as Bytes>::public as *const (),
        <Tiny<F> as Bytes>::add as *const (),
        <Tiny<F> as Bytes>::add_public as *const (),
        <Tiny<F> as Bytes>::linear::<4> as *const (),
        <Tiny<F> as Bytes>::sbox as *const (),
        <Tiny<F> as Bytes>::prepare as *const (),
        <TinyByte<F> as Lanes>::gather as *const (),
        TinyBits::<F>::new as *const (),
        TinyBits::<F>::enter as *const (),
        TinyBits::<F>::open_indices as *const (),
        TinyBits::<F>::output as *const (),
        TinyBits::<F>::into_engine as *const (),
        <TinyBits<F> as Lookups>::constant_bit as *const (),
        <TinyBits<F> as Lookups>::add_bit as *const (),
        <TinyBits<F> as Lookups>::look_up as *const (),
        <TinyBits<F> as Lookups>::foresee as *const (),
        <TinyBit<F> as Lanes>::gather as *const (),
    ]
}

fn values<F: Host>() -> Vec<*const ()> {
    vec![
        Party::<F>::check as *const (),
        Party::<F>::open::<Gf2> as *const (),
        Party::<F>::open::<Gf8> as *const (),
        Party::<F>::open::<Word32> as *const (),
        <Auth<Gf2, F> as Lanes>::gather as *const (),
        <Auth<Gf8, F> as Lanes>::gather as *const (),
    ]
}
