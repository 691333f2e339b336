//! The instruction set in use. One choice for the process; indexes opened later follow it.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use cpersona_kernels::{Isa, Kernels};
use napi::Env;
use napi_derive::napi;

use crate::error::{Code, Failure, invalid, thrown};

static FORCED: Mutex<Option<Isa>> = Mutex::new(None);

/// The level that indexes are opened with: the forced one, or the best this CPU has.
pub(crate) fn current() -> Isa {
    let forced = *FORCED.lock().unwrap_or_else(PoisonError::into_inner);
    forced.unwrap_or_else(|| Kernels::best().isa())
}

/// `avx512`, `avx2`, `neon` or `scalar`.
#[napi(catch_unwind)]
pub fn simd_level() -> &'static str {
    current().name()
}

/// Sets the level for indexes opened from now on. Fails when this CPU lacks it.
#[napi(catch_unwind)]
pub fn force_simd(env: &Env, level: String) -> napi::Result<()> {
    thrown(env, || {
        let isa =
            Isa::from_str(&level).map_err(|_| invalid("simd", "must be avx512, avx2, neon or scalar"))?;
        if !isa.is_available() {
            let message = format!("simd level {isa} is not available on this CPU");
            return Err(Failure::new(Code::InvalidSetting, message));
        }
        *FORCED.lock().unwrap_or_else(PoisonError::into_inner) = Some(isa);
        Ok(())
    })
}
