//! The codes that JavaScript sees as `error.code`. They are the words of `ts/errors.ts`.

use cpersona_embed::TableError;
use cpersona_fusion::FusionError;
use cpersona_index::IndexError;

#[derive(Debug, Clone, Copy)]
pub enum Code {
    InvalidArgument,
    IndexUnavailable,
    EmbeddingFailed,
    InvalidSetting,
    Internal,
}

impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::IndexUnavailable => "index_unavailable",
            Self::EmbeddingFailed => "embedding_failed",
            Self::InvalidSetting => "invalid_setting",
            Self::Internal => "internal",
        }
    }
}

pub type Failure = napi::Error<Code>;
pub type Result<T> = std::result::Result<T, Failure>;

/// A broken argument. The reason starts with the argument's name and a space, which `ts/native` takes apart.
pub fn invalid(field: &str, rule: &str) -> Failure {
    Failure::new(Code::InvalidArgument, format!("{field} {rule}"))
}

pub fn from_fusion(error: FusionError) -> Failure {
    Failure::new(Code::InvalidArgument, error.to_string())
}

pub fn from_table(error: TableError) -> Failure {
    Failure::new(Code::EmbeddingFailed, error.to_string())
}

/// The checks of `arguments` come first, so the index's own ones on shapes are a second net.
pub fn from_index(error: IndexError) -> Failure {
    match error {
        IndexError::WrongDimension { expected, .. } => {
            invalid("vectors", &format!("must hold {expected} numbers"))
        }
        IndexError::Invalid { what } => Failure::new(Code::InvalidArgument, what.to_owned()),
        IndexError::NotLocked => {
            Failure::new(Code::IndexUnavailable, "the vector index is not locked by this process".to_owned())
        }
        other => Failure::new(Code::IndexUnavailable, other.to_string()),
    }
}
