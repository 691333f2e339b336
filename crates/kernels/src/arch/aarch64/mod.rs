//! aarch64 levels.

mod neon;

pub(crate) use neon::Neon;
