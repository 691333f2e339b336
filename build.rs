//! Build script of the addon crate (`crates/node`): the linker settings that a Node addon needs.

fn main() {
    napi_build::setup();
}
