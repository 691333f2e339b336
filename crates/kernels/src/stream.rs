//! Reads memory and does nothing else: what any scan is measured against.

/// Stretches that are read side by side: one alone leaves part of the memory's speed unused.
const STREAMS: usize = 8;
/// Bytes taken from each stretch at a time.
const STEP: usize = 64;

/// XOR of all whole 32-bit words of `bytes`, by so many threads; bytes behind the last whole word are left out.
#[must_use]
pub fn xor_words(bytes: &[u8], threads: usize) -> u32 {
    let part = bytes.len().max(1).div_ceil(threads.max(1)).next_multiple_of(STREAMS * STEP);
    std::thread::scope(|scope| {
        let mut parts = bytes.chunks(part);
        let first = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|part| scope.spawn(|| xor_streams(part))).collect();
        let own = xor_streams(first);
        others.into_iter().fold(own, |sum, other| match other.join() {
            Ok(word) => sum ^ word,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

fn xor_streams(bytes: &[u8]) -> u32 {
    let length = bytes.len() / STREAMS / STEP * STEP;
    let (even, rest) = bytes.split_at(length * STREAMS);
    let mut lanes = [0_u64; STEP / 8];
    for at in (0..length).step_by(STEP) {
        for stream in 0..STREAMS {
            let words = even[stream * length + at..][..STEP].as_chunks::<8>().0;
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane ^= u64::from_ne_bytes(*word);
            }
        }
    }
    let all = lanes.iter().fold(0, |sum, lane| sum ^ lane);
    let tail = rest.as_chunks::<4>().0.iter().fold(0, |sum, word| sum ^ u32::from_ne_bytes(*word));
    tail ^ (all as u32) ^ ((all >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_whole_word_counts_once() {
        let bytes: Vec<u8> = (0..5003_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for length in [0, 3, 4, 511, 512, 513, 4099, 5003] {
            let words = bytes[..length].as_chunks::<4>().0;
            let expected = words.iter().fold(0, |sum, word| sum ^ u32::from_ne_bytes(*word));
            for threads in [0, 1, 3, 64] {
                assert_eq!(
                    xor_words(&bytes[..length], threads),
                    expected,
                    "{length} bytes, {threads} threads"
                );
            }
        }
    }
}
