//! Step 1 of the table's algorithm: one spelling for each text. Words are marked by U+2581 in front.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfkc_quick};

/// Stands for a run of white space.
const MARK: char = '\u{2581}';
pub(crate) const MARK_BYTES: [u8; 3] = [0xE2, 0x96, 0x81];

/// NFKC, then lowercase by Unicode's full mapping, then each run of white space one U+2581, none at the ends
/// and one in front. Blank text gives the empty string.
pub fn normalise(text: &str) -> String {
    let composed = if is_nfkc_quick(text.chars()) == unicode_normalization::IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    };
    let lower = composed.to_lowercase();
    let mut marked = String::with_capacity(lower.len() + MARK.len_utf8() * 8);
    marked.push(MARK);
    let mut in_space = false;
    for c in lower.chars() {
        let space = is_space(c);
        if !space {
            marked.push(c);
        } else if !in_space {
            marked.push(MARK);
        }
        in_space = space;
    }
    let words = marked.trim_matches(MARK);
    if words.is_empty() {
        return String::new();
    }
    // A mark written in the text counts as white space at the ends, as in the reference.
    let (start, end) = (words.as_ptr() as usize - marked.as_ptr() as usize, words.len());
    marked.truncate(start + end);
    marked.drain(..start - MARK.len_utf8());
    marked
}

/// Unicode `White_Space` but U+00A0, which NFKC has already made a space.
fn is_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn marks_words_and_drops_the_ends() {
        assert_eq!(normalise("  Hello,\t\nWorld "), "▁hello,▁world");
        assert_eq!(normalise("a"), "▁a");
    }

    #[test]
    fn blank_text_is_empty() {
        for blank in ["", "   ", "\u{3000}\n", "▁", "\u{a0}\u{85}"] {
            assert_eq!(normalise(blank), "");
        }
    }

    #[test]
    fn a_written_mark_stays_inside_and_goes_at_the_ends() {
        assert_eq!(normalise("▁ a ▁ b▁"), "▁a▁▁▁b");
    }

    #[test]
    fn widths_and_case_are_folded() {
        assert_eq!(normalise("ＦＵＬＬ　ｗｉｄｔｈ ﾊﾝｶｸ"), "▁full▁width▁ハンカク");
        assert_eq!(normalise("ΟΔΟΣ İ"), "▁οδος▁i\u{307}");
    }
}
