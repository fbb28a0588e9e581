//! Checksums and measures that distinguish a secret from similar text.

use sha2::{Digest, Sha256};

/// Shannon entropy in bits per character.
pub fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = text.len() as f64;
    let bits = |count: &u32| {
        let share = f64::from(*count) / length;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}

/// Number of character classes in a text: lower case, upper case, digits, others.
pub fn classes(text: &str) -> usize {
    let of = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let mut seen = [false; 4];
    text.bytes().for_each(|byte| seen[of(byte)] = true);
    seen.into_iter().filter(|seen| *seen).count()
}

/// CRC-32 (ISO 3309), bit by bit because the inputs are short.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xEDB8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Whether the last six characters after the prefix are the CRC-32 of the thirty before them, in base 62
/// (GitHub: "Behind GitHub's new authentication token formats", 2021; npm uses the same).
pub fn is_github_checksum(token: &str) -> bool {
    let Some((_, body)) = token.split_once('_') else {
        return false;
    };
    if body.len() != 36 || !body.is_ascii() {
        return false;
    }
    let (random, sum) = body.split_at(30);
    let mut crc = crc32(random.as_bytes());
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(crc % 62) as usize];
        crc /= 62;
    }
    sum.as_bytes() == digits
}

/// Checks the Luhn digit of the digits in a text.
pub fn is_luhn(text: &str) -> bool {
    let digits = text.bytes().rev().filter(u8::is_ascii_digit);
    let sum: u32 = digits
        .enumerate()
        .map(|(nth, digit)| {
            let digit = u32::from(digit - b'0') * (1 + (nth as u32 & 1));
            if digit > 9 { digit - 9 } else { digit }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Checks the digits of an IBAN (ISO 13616): modulo 97 with the first four characters moved to the end.
pub fn is_iban(text: &str) -> bool {
    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    if bytes.len() < 15 {
        return false;
    }
    let mut rest = 0u32;
    for byte in bytes[4..].iter().chain(&bytes[..4]) {
        rest = match byte {
            b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
            b'A'..=b'Z' => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
            _ => return false,
        };
    }
    rest == 1
}

const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Whether a text is a private key in wallet import format: base58check of version 0x80 and 32 bytes, plus one byte
/// if the public key is compressed.
pub fn is_wif(text: &str) -> bool {
    let mut number = [0u8; 38];
    for c in text.bytes() {
        let Some(digit) = BASE58.iter().position(|known| *known == c) else {
            return false;
        };
        let mut carry = digit as u32;
        for byte in number.iter_mut().rev() {
            carry += u32::from(*byte) * 58;
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            return false;
        }
    }
    let bytes = match text.len() {
        52 => &number[..],
        51 => &number[1..],
        _ => return false,
    };
    let (body, sum) = bytes.split_at(bytes.len() - 4);
    body[0] == 0x80 && Sha256::digest(Sha256::digest(body))[..4] == *sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_vectors_are_accepted() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert!(is_luhn("4111 1111 1111 1111") && !is_luhn("4111 1111 1111 1112"));
        assert!(is_iban("GB82 WEST 1234 5698 7654 32") && !is_iban("GB82 WEST 1234 5698 7654 33"));
        // Bitcoin wiki, "Wallet import format".
        assert!(is_wif("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"));
        assert!(!is_wif("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTK"));
        assert!(entropy("aaaa") < 0.1 && entropy("abcd") > 1.9);
        assert_eq!(classes("aB3!"), 4);
    }
}
