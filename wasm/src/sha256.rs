//! SHA-256 (FIPS 180-4), which names dictionaries. Rounds are unrolled by eight: by 64, as usual, they are 7 KB more.

const INITIAL: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

const BLOCK: usize = 64;

pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut state = INITIAL;
    let blocks = bytes.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    for block in blocks {
        add(&mut state, block);
    }
    let mut last = [0; 2 * BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let length = if rest.len() + 9 <= BLOCK {
        BLOCK
    } else {
        2 * BLOCK
    };
    last[length - 8..length].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in last[..length].chunks_exact(BLOCK) {
        add(&mut state, block);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// Adds a block to the state.
fn add(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for i in 16..64 {
        let (early, late) = (words[i - 15], words[i - 2]);
        let first = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
        let second = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
        words[i] = words[i - 16]
            .wrapping_add(first)
            .wrapping_add(words[i - 7])
            .wrapping_add(second);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    macro_rules! round {
        ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident $i:expr) => {
            let first = $e.rotate_right(6) ^ $e.rotate_right(11) ^ $e.rotate_right(25);
            let sum = $h
                .wrapping_add(first)
                .wrapping_add($g ^ ($e & ($f ^ $g)))
                .wrapping_add(ROUNDS[$i])
                .wrapping_add(words[$i]);
            let second = $a.rotate_right(2) ^ $a.rotate_right(13) ^ $a.rotate_right(22);
            $d = $d.wrapping_add(sum);
            $h = sum
                .wrapping_add(second)
                .wrapping_add(($a & $b) | ($c & ($a | $b)));
        };
    }
    for i in (0..64).step_by(8) {
        round!(a b c d e f g h i);
        round!(h a b c d e f g i + 1);
        round!(g h a b c d e f i + 2);
        round!(f g h a b c d e i + 3);
        round!(e f g h a b c d i + 4);
        round!(d e f g h a b c i + 5);
        round!(c d e f g h a b i + 6);
        round!(b c d e f g h a i + 7);
    }
    for (word, sum) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(sum);
    }
}
