//! Making files and folders for their owner alone, whatever the process would allow others: an index holds what the
//! stored texts mean. Windows goes by the access list of the folder above.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Options that make a new file with mode 0600; one that exists keeps its mode.
pub(crate) fn file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder and those above it with mode 0700; what exists stays as it is.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
