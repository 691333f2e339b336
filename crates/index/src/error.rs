//! What can go wrong, by who can do something about it. Messages name files of the index, never content.

use std::io;

/// Why a call on the index failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The stored files contradict each other or their checksums: empty the index and fill it again.
    #[error("index file {file} is damaged: {what}; reset the index and fill it again")]
    Damaged {
        /// File name inside the index folder.
        file: String,
        /// What was found.
        what: String,
    },
    /// The call writes and this handle does not hold the writer's lock.
    #[error("the writer's lock is not held")]
    NotLocked,
    /// A vector, or an array of them, has another length than the index's dimension asks for.
    #[error("expected {expected} numbers, got {found}")]
    WrongDimension {
        /// Elements that the dimension asks for.
        expected: usize,
        /// Elements that were given.
        found: usize,
    },
    /// An argument that no state of the index could accept.
    #[error("invalid argument: {what}")]
    Invalid {
        /// Which argument, and why.
        what: &'static str,
    },
    /// The operating system refused: no space, no permission, too many open files.
    #[error("{action} {file}: {source}")]
    Io {
        /// File name inside the index folder.
        file: String,
        /// What was being done, as a verb.
        action: &'static str,
        /// The system's own reason.
        source: io::Error,
    },
}

impl IndexError {
    /// A fixed name for each kind, for callers on the other side of a language border.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => "damaged",
            Self::NotLocked => "not_locked",
            Self::WrongDimension { .. } => "wrong_dimension",
            Self::Invalid { .. } => "invalid",
            Self::Io { .. } => "io",
        }
    }

    pub(crate) fn damaged(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Damaged { file: file.into(), what: what.into() }
    }

    /// For `map_err`: an error of the system while doing `action` to `file`.
    pub(crate) fn io(file: &str, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io { file, action, source }
    }
}
