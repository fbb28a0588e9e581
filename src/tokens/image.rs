//! Token costs of images: their size from the head of their data, and each provider's rule.

use super::inline_data::{self, Payload};

/// The provider whose rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageRule {
    /// OpenAI's tiles, as for GPT-4o.
    OpenAi,
    /// Anthropic's rule.
    Anthropic,
    /// Google's rule, as for Gemini 2.
    Gemini,
}

/// Width and height, in pixels.
type ImageSize = (u32, u32);

/// The assumed size of an image whose data is not available, such as one behind a URL.
const UNKNOWN: ImageSize = (1024, 1024);

/// Maximum bytes to decode in search of the size; this covers the metadata that cameras and editors write before it.
const HEAD: usize = 512 * 1024;

pub fn tokens(part: &[u8], rule: ImageRule) -> u64 {
    let low = inline_data::find(part, &["detail"]).is_some_and(|detail| detail == "low");
    if low && rule == ImageRule::OpenAi {
        return OPENAI_BASE;
    }
    let size = Payload::of(part).and_then(|payload| size(&payload.decoded(HEAD)));
    let (width, height) = size.unwrap_or(UNKNOWN);
    match rule {
        ImageRule::OpenAi => openai(width.into(), height.into()),
        ImageRule::Anthropic => anthropic(width.into(), height.into()),
        ImageRule::Gemini => gemini(width.into(), height.into()),
    }
}

/// Source: OpenAI, "Images and vision", GPT-4o: 85 and 170 for each tile.
const OPENAI_BASE: u64 = 85;
const OPENAI_TILE: u64 = 170;

/// Scaled down to fit 2048 by 2048, then until the shorter side is 768, and split into tiles of 512.
fn openai(width: u64, height: u64) -> u64 {
    let (mut width, mut height) = (width, height);
    let longer = width.max(height);
    if longer > 2048 {
        (width, height) = (width * 2048 / longer, height * 2048 / longer);
    }
    let shorter = width.min(height);
    if shorter > 768 {
        (width, height) = (width * 768 / shorter, height * 768 / shorter);
    }
    OPENAI_BASE + OPENAI_TILE * width.div_ceil(512).max(1) * height.div_ceil(512).max(1)
}

/// Scaled down until the longer side is 1568; one token per 750 pixels, at most about 1600. Source: Anthropic,
/// "Vision", "Calculate image costs".
fn anthropic(width: u64, height: u64) -> u64 {
    let (mut width, mut height) = (width, height);
    let longer = width.max(height);
    if longer > 1568 {
        (width, height) = (width * 1568 / longer, height * 1568 / longer);
    }
    (width * height).div_ceil(750).clamp(1, 1600)
}

/// 258 up to 384 by 384 pixels, else 258 for each tile of 768. Source: Google, "Understand and count tokens".
fn gemini(width: u64, height: u64) -> u64 {
    if width <= 384 && height <= 384 {
        return 258;
    }
    258 * width.div_ceil(768).max(1) * height.div_ceil(768).max(1)
}

/// The size in the head of an image: PNG, GIF, WebP or JPEG.
fn size(head: &[u8]) -> Option<ImageSize> {
    match head {
        [0x89, b'P', b'N', b'G', ..] => Some((big(head, 16, 4)?, big(head, 20, 4)?)),
        [b'G', b'I', b'F', b'8', ..] => Some((little(head, 6, 2)?, little(head, 8, 2)?)),
        [b'R', b'I', b'F', b'F', ..] => webp(head),
        [0xff, 0xd8, ..] => jpeg(head),
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + length)?;
    Some(
        bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u32::from(*byte)),
    )
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + length)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u32::from(*byte)),
    )
}

/// Source: RFC 9649, sections 2.5 to 2.7.
fn webp(head: &[u8]) -> Option<ImageSize> {
    match head.get(12..16)? {
        b"VP8 " => Some((little(head, 26, 2)? & 0x3fff, little(head, 28, 2)? & 0x3fff)),
        b"VP8L" => {
            let bits = little(head, 21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(head, 24, 3)? + 1, little(head, 27, 3)? + 1)),
        _ => None,
    }
}

/// Skips segments up to a frame header. Source: ITU T.81, annex B.
fn jpeg(head: &[u8]) -> Option<ImageSize> {
    let mut at = 2;
    loop {
        let [0xff, kind] = *head.get(at..at + 2)? else {
            return None;
        };
        match kind {
            // Fill bytes, and markers without a segment.
            0xff => at += 1,
            0x01 | 0xd0..=0xd7 => at += 2,
            0xc0..=0xcf if !matches!(kind, 0xc4 | 0xc8 | 0xcc) => {
                return Some((big(head, at + 7, 2)?, big(head, at + 5, 2)?));
            }
            _ => at += 2 + big(head, at + 2, 2)? as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_file_headers() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x07\x80\0\0\x04\x38";
        assert_eq!(size(png), Some((1920, 1080)));
        assert_eq!(size(b"GIF89a\x40\x01\xf0\0"), Some((320, 240)));
        assert_eq!(
            size(b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\0"),
            Some((320, 240))
        );
        assert_eq!(
            size(b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x3f\xc1\x3b\0"),
            Some((320, 240))
        );
        assert_eq!(
            size(b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x3f\x01\0\xef\0\0"),
            Some((320, 240))
        );
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x02\xff\xc2\0\x0b\x08\0\xf0\x01\x40";
        assert_eq!(size(jpeg), Some((320, 240)));
        for end in 0..jpeg.len() {
            assert_eq!(size(&jpeg[..end]), None);
        }
        assert_eq!(size(b"\xff\xd8\xff\xe0\0\0\0"), None);
    }

    #[test]
    fn costs_match_the_examples_of_the_providers() {
        for ((width, height), tokens) in [
            ((1024, 1024), 765),
            ((2048, 4096), 1105),
            ((1920, 1080), 1105),
            ((1, 1), 255),
        ] {
            assert_eq!(openai(width, height), tokens, "{width}x{height}");
        }
        for ((width, height), tokens) in [
            ((200, 200), 54),
            ((1000, 1000), 1334),
            ((1092, 1092), 1590),
            ((9000, 9000), 1600),
        ] {
            assert_eq!(anthropic(width, height), tokens, "{width}x{height}");
        }
        for ((width, height), tokens) in [
            ((384, 384), 258),
            ((385, 10), 258),
            ((1024, 768), 516),
            ((960, 800), 1032),
        ] {
            assert_eq!(gemini(width, height), tokens, "{width}x{height}");
        }
        assert_eq!((openai(0, 0), anthropic(0, 0), gemini(0, 4000)), (255, 1, 1548));
        assert_eq!(openai(u32::MAX.into(), u32::MAX.into()), 765);
    }

    #[test]
    fn the_length_of_the_data_does_not_count() {
        let head = "iVBORw0KGgoAAAANSUhEUgAAAMgAAADI"; // PNG, 200 by 200
        let part = |more: usize, detail: &str| {
            let data = format!("{head}{}", "A".repeat(more));
            format!(
                r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}","detail":"{detail}"}}}}"#
            )
        };
        for more in [0, 4, 1_000_000] {
            assert_eq!(tokens(part(more, "high").as_bytes(), ImageRule::OpenAi), 255);
            assert_eq!(tokens(part(more, "low").as_bytes(), ImageRule::OpenAi), 85);
            assert_eq!(tokens(part(more, "low").as_bytes(), ImageRule::Anthropic), 54);
        }
        let anthropic = format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{head}"}}}}"#
        );
        assert_eq!(tokens(anthropic.as_bytes(), ImageRule::Anthropic), 54);
        let elsewhere = br#"{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}"#;
        assert_eq!(tokens(elsewhere, ImageRule::OpenAi), 765);
    }
}
