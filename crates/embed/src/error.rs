//! Why a table can't be used. Messages name the broken rule, not the file.

use std::io;

use thiserror::Error;

/// Why a token table cannot be used.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file can't be opened or mapped.
    #[error("the static token table cannot be read ({})", .0.kind())]
    Unreadable(#[source] io::Error),
    /// The bytes are not a table this version can read.
    #[error("the static token table is damaged: {0}")]
    Damaged(&'static str),
}
