//! How a failure reaches JavaScript: an `Error` with the properties `code` and, for a broken argument, `field`.
//! The codes are the words of `ts/errors.ts`.

use std::borrow::Cow;

use cpersona_embed::TableError;
use cpersona_fusion::FusionError;
use cpersona_index::IndexError;
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, JsValue};

/// What kind of failure it is.
#[derive(Debug, Clone, Copy)]
pub enum Code {
    /// An argument broke its rule; nothing was done.
    InvalidArgument,
    /// The index is closed, not locked, damaged, or the system refused.
    IndexUnavailable,
    /// The token table cannot be read.
    EmbeddingFailed,
    /// A setting asks for what this machine does not have.
    InvalidSetting,
    /// A bug of ours.
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

/// Why a call failed.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    /// Name of the broken argument, as the TypeScript contract has it.
    field: Option<Cow<'static, str>>,
    message: String,
}

/// The result of everything behind an entry.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure that no single argument is to blame for.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, field: None, message: message.into() }
    }

    /// Writes `code`, `message` and, where there is one, `field` into an object.
    pub(crate) fn describe(&self, object: &mut Object<'_>) -> napi::Result<()> {
        object.set("code", self.code.as_ref())?;
        object.set("message", self.message.as_str())?;
        if let Some(field) = &self.field {
            object.set("field", field.as_ref())?;
        }
        Ok(())
    }

    /// The JavaScript error of this failure; napi's own where one cannot be made.
    fn into_thrown(self, env: &Env) -> napi::Error {
        let error =
            env.create_error(napi::Error::from_reason(self.message.as_str())).and_then(|mut error| {
                self.describe(&mut error)?;
                Ok(napi::Error::from(error.to_unknown()))
            });
        error.unwrap_or_else(|broken| broken)
    }
}

/// Runs the body of a synchronous entry; a failure is thrown.
pub fn thrown<T: ToNapiValue>(env: &Env, body: impl FnOnce() -> Result<T>) -> napi::Result<T> {
    body().map_err(|failure| failure.into_thrown(env))
}

/// A broken argument.
pub fn invalid(field: impl Into<Cow<'static, str>>, rule: &str) -> Failure {
    let field = field.into();
    let message = format!("{field} {rule}");
    Failure { code: Code::InvalidArgument, field: Some(field), message }
}

/// A fusion fails only by its arguments.
pub fn from_fusion(error: FusionError) -> Failure {
    Failure {
        code: Code::InvalidArgument,
        field: Some(Cow::Borrowed(error.field())),
        message: error.to_string(),
    }
}

/// A token table that cannot be used.
pub fn from_table(error: TableError) -> Failure {
    Failure::new(Code::EmbeddingFailed, error.to_string())
}

/// The checks of `arguments` come first, so the index's own ones on shapes are a second net.
pub fn from_index(error: IndexError) -> Failure {
    match error {
        IndexError::WrongDimension { expected, .. } => {
            invalid("vectors", &format!("must hold {expected} numbers"))
        }
        IndexError::Invalid { what } => Failure::new(Code::InvalidArgument, what),
        IndexError::NotLocked => {
            Failure::new(Code::IndexUnavailable, "the vector index is not locked by this process")
        }
        other => Failure::new(Code::IndexUnavailable, other.to_string()),
    }
}
