// Inline assembly keeps its place: LLVM must not copy a barrier into both arms of a branch.
// RUN: %tilec %s --emit=llvm | FileCheck %s
// CHECK: call void asm sideeffect "bar.sync 0;", ""() #[[ASM:[0-9]+]]
// CHECK: attributes #[[ASM]] = { {{.*}}convergent
module {
  llvm.func @kernel(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    llvm.inline_asm has_side_effects "bar.sync 0;", "" : () -> ()
    llvm.return
  }
}
