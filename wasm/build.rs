//! Compiles the C codecs that the enabled features need.
//!
//! The C sources come from crates.io packages that bundle them (pinned by Cargo.lock through the feature `sources`).
//! They are copied to OUT_DIR, `patches/*.patch` are applied there, and clang compiles the result with `shim/` as libc.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One C library: the crate that bundles it, where in that crate it lies, and what to compile.
struct Library {
    name: &'static str,
    package: &'static str,
    root: &'static str,
    patches: &'static [&'static str],
    includes: &'static [&'static str],
    defines: &'static [(&'static str, &'static str)],
    folders: &'static [&'static str],
    files: &'static [&'static str],
}

const BROTLI: Library = Library {
    name: "brotli",
    package: "compu-brotli-sys",
    root: "brotli/c",
    patches: &["brotli.patch"],
    includes: &["include"],
    // clang for wasm32 has 64-bit registers although size_t has 32 bits.
    defines: &[("BROTLI_BUILD_64_BIT", "1")],
    folders: &["common"],
    files: &[],
};

const ZSTD: Library = Library {
    name: "zstd",
    package: "zstd-sys",
    root: "zstd/lib",
    patches: &["zstd.patch"],
    includes: &[".", "common"],
    defines: &[
        ("ZSTD_DISABLE_ASM", "1"),
        ("ZSTD_LEGACY_SUPPORT", "0"),
        ("ZSTD_TRACE", "0"),
        ("XXH_NAMESPACE", "ZSTD_"),
    ],
    folders: &["common"],
    files: &[],
};

const LIBDEFLATE: Library = Library {
    name: "libdeflate",
    package: "libdeflate-sys",
    root: "libdeflate",
    patches: &["libdeflate.patch"],
    includes: &["."],
    defines: &[],
    folders: &[],
    files: &[
        "lib/deflate_compress.c",
        "lib/gzip_compress.c",
        "lib/utils.c",
        "lib/zlib_compress.c",
    ],
};

fn main() {
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-changed=patches");
    println!("cargo:rerun-if-changed=build.rs");
    let feature = |name: &str| env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    let libraries = [
        (&BROTLI, feature("BROTLI_ENCODER"), "enc"),
        (&BROTLI, feature("BROTLI_DECODER"), "dec"),
        (&ZSTD, feature("ZSTD_ENCODER"), "compress"),
        (&ZSTD, feature("ZSTD_DECODER"), "decompress"),
        (&LIBDEFLATE, feature("DEFLATE_ENCODER"), ""),
    ];
    for (library, enabled, folder) in libraries {
        if enabled {
            compile(library, folder, feature("UNPATCHED"));
        }
    }
}

fn compile(library: &Library, folder: &str, unpatched: bool) {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let manifest_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let tree = out.join(library.name);
    if tree.exists() {
        fs::remove_dir_all(&tree).expect("remove the previous copy of the C sources");
    }
    copy_tree(
        &package_dir(library.package, &manifest_dir).join(library.root),
        &tree,
    );
    if !unpatched {
        for patch in library.patches {
            apply(&manifest_dir.join("patches").join(patch), &tree);
        }
    }
    // For size where that costs no speed: all but brotli's encoder lose 20 to 40% of their code.
    let opt_level = if folder == "enc" { "3" } else { "s" };
    let mut build = cc::Build::new();
    build
        .compiler("clang-19") // other compilers round two of 171 corpus files differently: the output is part of the contract
        .archiver("llvm-ar-19")
        .include(manifest_dir.join("shim"))
        .include(manifest_dir.join("patches"))
        .flag("-nostdlibinc")
        .flag("-msimd128")
        .flag("-mbulk-memory")
        .flag("-mnontrapping-fptoint")
        .flag("-ffp-contract=off")
        .define("NDEBUG", None)
        .opt_level_str(opt_level)
        .warnings(false);
    for include in library.includes {
        build.include(tree.join(include));
    }
    for (name, value) in library.defines {
        build.define(name, *value);
    }
    for sources in library
        .folders
        .iter()
        .copied()
        .chain([folder].into_iter().filter(|f| !f.is_empty()))
    {
        for file in c_files(&tree.join(sources)) {
            build.file(file);
        }
    }
    for file in library.files {
        build.file(tree.join(file));
    }
    build.compile(&format!(
        "{}_{}",
        library.name,
        if folder.is_empty() { "all" } else { folder }
    ));
}

/// The folder of `package` in cargo's registry, as `cargo metadata` tells it.
fn package_dir(package: &str, manifest_dir: &Path) -> PathBuf {
    let output = Command::new(env::var_os("CARGO").unwrap())
        .args([
            "metadata",
            "--format-version",
            "1",
            "--all-features",
            "--locked",
            "--manifest-path",
        ])
        .arg(manifest_dir.join("Cargo.toml"))
        .stderr(Stdio::inherit())
        .output()
        .expect("run cargo metadata");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata printed JSON");
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|p| p["name"] == package))
        .and_then(|p| p["manifest_path"].as_str())
        .unwrap_or_else(|| panic!("{package} is not among the dependencies"));
    Path::new(manifest).parent().unwrap().to_path_buf()
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("create a folder for the C sources");
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("read {}: {e}", from.display())) {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("copy a C source");
        }
    }
}

fn apply(patch: &Path, tree: &Path) {
    let status = Command::new("patch")
        .args(["--strip=1", "--silent", "--batch", "--fuzz=0"])
        .arg("--directory")
        .arg(tree)
        .arg("--input")
        .arg(patch)
        .status()
        .expect("run patch (Debian package: patch)");
    assert!(status.success(), "{} does not apply", patch.display());
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("read {}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    files
}
