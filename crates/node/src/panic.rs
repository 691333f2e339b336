//! Two entries that panic on purpose, so that a test can prove what a panic does to the host: nothing.

use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::error::Result;
use crate::task::{Guarded, Job, start};

/// Panics on the main thread.
#[napi(catch_unwind)]
pub fn panic_for_test() {
    panic!("on purpose, in a call");
}

/// Panics in a task.
#[napi(catch_unwind)]
pub fn panic_for_test_async() -> AsyncTask<Guarded<PanicJob>> {
    start(PanicJob)
}

/// A job that panics.
pub struct PanicJob;

impl Job for PanicJob {
    type Output = u32;
    type Js = u32;

    #[expect(clippy::panic_in_result_fn, reason = "panics are what this job is for")]
    fn run(&mut self) -> Result<u32> {
        panic!("on purpose, off the main thread");
    }
}
