//! Work off the main thread. A task owns its inputs, never touches the JavaScript heap while it computes, and
//! resolves to a tagged outcome: a task's rejection could carry only napi's own status, not our codes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::{AsyncTask, Object, ToNapiValue};
use napi::{Env, ScopedTask};

use crate::error::{Code, Failure, Result};

/// What a thread of the pool is asked to do.
pub trait Job: Send {
    /// What it computes.
    type Output: Send + 'static + Into<Self::Js>;
    /// What JavaScript gets of it.
    type Js: ToNapiValue;

    /// Computes, off the main thread.
    fn run(&mut self) -> Result<Self::Output>;
}

/// A job behind the one guard against panics: unwinding out of `compute` would abort the process.
pub struct Guarded<J>(J);

/// Puts a job into the queue of the thread pool.
pub fn start<J: Job>(job: J) -> AsyncTask<Guarded<J>> {
    AsyncTask::new(Guarded(job))
}

impl<'task, J: Job> ScopedTask<'task> for Guarded<J> {
    type Output = Result<J::Output>;
    type JsValue = Object<'task>;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        // The job is dropped unused after a panic, so nothing can see it half changed.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.0.run()));
        Ok(outcome.unwrap_or_else(|_| Err(Failure::new(Code::Internal, "native code panicked"))))
    }

    /// `{ result }` or `{ code, message, field? }`.
    fn resolve(&mut self, env: &'task Env, outcome: Self::Output) -> napi::Result<Object<'task>> {
        let mut tagged = Object::new(env)?;
        match outcome {
            Ok(output) => tagged.set("result", output.into())?,
            Err(failure) => failure.describe(&mut tagged)?,
        }
        Ok(tagged)
    }
}
