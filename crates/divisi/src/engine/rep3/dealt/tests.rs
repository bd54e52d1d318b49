//! Tests of jobs with a dealer.

use super::super::super::job::{BlocksJob, Cipher};
use super::*;
use divisi_symmetric::aes::KeySize;

fn blocks(count: usize) -> Job {
    Job::Blocks(BlocksJob { cipher: Cipher::Aes(KeySize::Aes128), direction: Direction::Encrypt, count })
}

#[test]
fn strands_are_as_many_as_there_are_chunks_for() {
    let job = blocks(100_000);
    let strands = |threads, count| {
        let settings = EngineSettings { threads, ..EngineSettings::default() };
        Dealt::new(&job, &settings).unwrap().strands(count)
    };
    assert_eq!((strands(1, 100_000), strands(2, 100_000), strands(8, 1)), (1, 2, 1));
}

#[test]
fn what_is_dealt_comes_together_again() {
    let job = blocks(3);
    let dealt = Dealt::new(&job, &EngineSettings::default()).unwrap();
    let mut rows = Rows::default();
    (0..3u8).for_each(|i| rows.push(&[&[i; 15], &[7]]));
    let owns = dealt.deal(&rows);
    assert_eq!(owns.iter().map(|own| own.len()).collect::<Vec<_>>(), [96; 3]);
    let columns = parted(&owns[0])
        .first
        .iter()
        .zip(&parted(&owns[0]).second)
        .zip(&parted(&owns[1]).second)
        .map(|((a, b), c)| a ^ b ^ c)
        .collect::<Vec<u8>>();
    assert_eq!((&columns[..3], &columns[45..]), (&[0, 1, 2][..], &[7, 7, 7][..]));
    // outputs of no form
    assert!(dealt.collect(3, vec![Own::default(); 3]).is_err());
    assert!(dealt.collect(3, vec![Own::new(vec![0; 80]); 2]).is_err());
}
