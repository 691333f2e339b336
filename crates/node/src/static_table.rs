//! The static token table over typed arrays.

use std::path::Path;

use cpersona_embed::StaticTable;
use napi::Env;
use napi::bindgen_prelude::{Float32Array, Uint32Array};
use napi_derive::napi;

use crate::error::{from_table, invalid, thrown};

/// One open table.
#[napi]
pub struct NativeStaticTable {
    table: StaticTable,
}

#[napi]
impl NativeStaticTable {
    /// Maps a table file.
    #[napi(factory, catch_unwind)]
    pub fn open(env: &Env, path: String) -> napi::Result<Self> {
        thrown(env, || {
            let table = StaticTable::open(Path::new(&path)).map_err(from_table)?;
            Ok(Self { table })
        })
    }

    /// Length of a vector.
    #[napi(catch_unwind)]
    pub fn dimension(&self) -> u32 {
        self.table.dimension() as u32
    }

    /// The unit direction that every text shares.
    #[napi(catch_unwind)]
    pub fn centre(&self) -> Float32Array {
        self.table.centre().to_vec().into()
    }

    /// Piece ids of a text.
    #[napi(catch_unwind)]
    pub fn encode(&self, text: String) -> Uint32Array {
        self.table.encode(&text).into()
    }

    /// Unit vectors of texts, row after row.
    #[napi(catch_unwind)]
    pub fn embed(&self, env: &Env, texts: Vec<String>) -> napi::Result<Float32Array> {
        thrown(env, || {
            let dimension = self.table.dimension();
            let length =
                texts.len().checked_mul(dimension).ok_or_else(|| invalid("texts", "are too many"))?;
            let mut vectors = vec![0.0f32; length];
            for (text, row) in texts.iter().zip(vectors.chunks_exact_mut(dimension)) {
                self.table.embed_into(text, row);
            }
            Ok(vectors.into())
        })
    }
}
