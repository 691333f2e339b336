// The platforms that binaries are built for, once: Rust target, npm triple, and what npm matches on.

const BINARY = "cpersona-native";

export const TARGETS = [
  { rust: "x86_64-unknown-linux-gnu", triple: "linux-x64-gnu", os: "linux", cpu: "x64", libc: "glibc" },
  { rust: "x86_64-unknown-linux-musl", triple: "linux-x64-musl", os: "linux", cpu: "x64", libc: "musl" },
  { rust: "aarch64-unknown-linux-gnu", triple: "linux-arm64-gnu", os: "linux", cpu: "arm64", libc: "glibc" },
  { rust: "aarch64-unknown-linux-musl", triple: "linux-arm64-musl", os: "linux", cpu: "arm64", libc: "musl" },
  { rust: "x86_64-apple-darwin", triple: "darwin-x64", os: "darwin", cpu: "x64" },
  { rust: "aarch64-apple-darwin", triple: "darwin-arm64", os: "darwin", cpu: "arm64" },
  { rust: "x86_64-pc-windows-msvc", triple: "win32-x64-msvc", os: "win32", cpu: "x64" },
];

/** File name of the addon, in `crates/node` as in its npm package. */
export function addonFile(triple) {
  return `${BINARY}.${triple}.node`;
}

/** The entry for a Rust target, as `rustc -vV` or `--target` names it. */
export function targetOf(rust) {
  return TARGETS.find((target) => target.rust === rust);
}
