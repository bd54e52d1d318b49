//! The laws of a field as a test suite: [`field_laws!`](crate::field_laws) tests any [`Field`](crate::Field)
//! on random elements. The crate that uses it needs `proptest` as a development dependency.

/// Tests the laws of a field in the module where it is called.
///
/// ```
/// mod gf8 {
///     divisi_field::field_laws!(divisi_field::Gf8);
/// }
/// ```
#[macro_export]
macro_rules! field_laws {
    ($field:ty) => {
        mod laws {
            #![allow(unused_imports)]
            use super::*;
            use ::proptest::prelude::*;
            use $crate::Field;

            /// Asserts that a law holds of random elements: one function for all laws, so that the runner
            /// of tests is compiled once for a field.
            fn holds(law: fn($field, $field, $field) -> Result<(), TestCaseError>) {
                let element = || any::<u128>().prop_map(<$field as Field>::from_low_bits);
                let config = ProptestConfig::with_source_file(file!());
                let mut runner = ::proptest::test_runner::TestRunner::new(config);
                let end = runner.run(&(element(), element(), element()), |(x, y, z)| law(x, y, z));
                assert!(end.is_ok(), "{end:?}\n{runner}");
            }

            #[test]
            fn addition_is_a_group_of_exponent_two() {
                holds(|x, y, z| {
                    prop_assert_eq!((x + y) + z, x + (y + z));
                    prop_assert_eq!(x + y, y + x);
                    prop_assert_eq!(x + <$field>::ZERO, x);
                    prop_assert_eq!(x + x, <$field>::ZERO);
                    prop_assert_eq!(x - y, x + y);
                    Ok(())
                });
            }

            #[test]
            fn multiplication_is_commutative_and_associative() {
                holds(|x, y, z| {
                    prop_assert_eq!((x * y) * z, x * (y * z));
                    prop_assert_eq!(x * y, y * x);
                    prop_assert_eq!(x * <$field>::ONE, x);
                    prop_assert_eq!(x * <$field>::ZERO, <$field>::ZERO);
                    Ok(())
                });
            }

            #[test]
            fn multiplication_distributes() {
                holds(|x, y, z| {
                    prop_assert_eq!(x * (y + z), x * y + x * z);
                    Ok(())
                });
            }

            #[test]
            fn every_element_but_zero_has_an_inverse() {
                holds(|x, _, _| {
                    let product = x * x.inverse();
                    prop_assert_eq!(product == <$field>::ONE, x != <$field>::ZERO);
                    prop_assert_eq!(product == <$field>::ZERO, x == <$field>::ZERO);
                    Ok(())
                });
            }

            #[test]
            fn squaring_is_additive_and_of_order_bits() {
                holds(|x, y, _| {
                    prop_assert_eq!(x.square(), x * x);
                    prop_assert_eq!((x + y).square(), x.square() + y.square());
                    prop_assert_eq!((0..<$field as Field>::BITS).fold(x, |x, _| x.square()), x);
                    Ok(())
                });
            }

            #[test]
            fn encodings_round_trip() {
                holds(|x, _, _| {
                    let bytes = x.to_le_bytes();
                    prop_assert_eq!(bytes.as_ref().len(), <$field as Field>::BYTES);
                    prop_assert_eq!(<$field as Field>::from_le_bytes(bytes.as_ref()), Some(x));
                    prop_assert_eq!(<$field as Field>::from_low_bits(x.to_bits()), x);
                    let shorter = &bytes.as_ref()[1..];
                    prop_assert_eq!(<$field as Field>::from_le_bytes(shorter), None);
                    let longer = [bytes.as_ref(), &[0]].concat();
                    prop_assert_eq!(<$field as Field>::from_le_bytes(&longer), None);
                    Ok(())
                });
            }

            #[test]
            fn padding_bits_are_rejected() {
                let [used, encoded] = [<$field as Field>::BITS, 8 * <$field as Field>::BYTES];
                for bit in used..encoded {
                    let mut bytes = <$field>::ONE.to_le_bytes();
                    bytes.as_mut()[bit / 8] |= 1 << (bit % 8);
                    assert_eq!(<$field as Field>::from_le_bytes(bytes.as_ref()), None);
                }
            }

            #[test]
            fn the_generator_x_has_the_degree_of_the_field() {
                let powers = (0..<$field as Field>::BITS).map(|i| <$field as Field>::from_low_bits(1 << i));
                let x = <$field as Field>::from_low_bits(2);
                let mut power = <$field>::ONE;
                for (i, expected) in powers.enumerate() {
                    assert_eq!(power, expected, "power {i}");
                    power *= x;
                }
            }
        }
    };
}
