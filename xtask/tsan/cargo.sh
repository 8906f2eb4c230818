#!/usr/bin/env bash
# cargo, for programs that ThreadSanitizer watches: with a standard library that it watches, too.
#
# A toolchain's own is not instrumented: what its locks, channels and threads order would not be
# seen, and reported as races. But its objects also hold their LLVM bitcode, for optimisation at
# link time, and the toolchain's own linker runs any pass of LLVM over bitcode.
set -euo pipefail

here=$(dirname "$0")
sysroot=$CARGO_TARGET_DIR/sysroot
from=$(rustc --print target-libdir)
to=$(rustc --print target-libdir --sysroot "$sysroot")
rm -rf "$sysroot"
mkdir -p "$to"
ln -s "$from"/* "$to"
for library in "$to"/lib{core,alloc,std,test}-*.rlib; do
    cp --remove-destination "$from/$(basename "$library")" "$library"
    for object in $(ar t "$library" | grep '\.o$'); do
        ar p "$library" "$object" >"$sysroot/plain"
        "$from/../bin/rust-objcopy" --dump-section ".llvmbc=$sysroot/bitcode" \
            "$sysroot/plain" /dev/null
        "$from/../bin/rust-lld" -flavor gnu --relocatable \
            --lto-newpm-passes='forceattrs,tsan-module,function(tsan)' \
            -mllvm -force-attribute=sanitize_thread "$sysroot/bitcode" -o "$sysroot/$object"
        ar r "$library" "$sysroot/$object"
    done
done

# cargo does not see a change of this file: remove what is built.
rustc --edition=2024 --crate-type=lib --emit=obj -O -Ccodegen-units=1 -Cpanic=abort \
    "$here/fence.rs" -o "$sysroot/fence.o"
flags=(
    -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer "--sysroot=$sysroot"
    "-Clink-arg=$sysroot/fence.o"
    -Clink-arg=-Wl,--wrap=__tsan_atomic64_fetch_sub
    -Clink-arg=-Wl,--wrap=__tsan_atomic_thread_fence
)

# A sanitizer that does not find this race would find no other.
rustc --edition=2024 "${flags[@]}" "$here/race.rs" -o "$sysroot/race"
output=$("$sysroot/race" 2>&1 || true)
if [[ $output != *"ThreadSanitizer: data race"* ]]; then
    echo "race.rs races, and this is not reported: $output"
    exit 1
fi

export RUSTFLAGS="${flags[*]}"
exec cargo "$@"
