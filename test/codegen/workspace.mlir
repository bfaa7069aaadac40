// Library calls get the scratch memory; a copy that counts as workspace, too, is none.
// RUN: braidc %s --emit=cpp | FileCheck %s
// CHECK: static const br_matmul_desc matmuls[] = {
// CHECK: .c = {.type = BR_F32, .row_stride = 4, .column_stride = 1},
// CHECK-NEXT: .workspace_offset = 256, .workspace_bytes = 4096}, // 0

exec.program @train arena 4480 {
  exec.buffer @workspace at 256 bytes 4096 live 0 to 0 category workspace name "workspace" scratch
  exec.buffer @x at 0 bytes 64 live -1 to 0 category inputs name "x" "input" role "x" : tensor<4x4xf32>
  exec.buffer @copy at 64 bytes 64 live -1 to 0 category workspace name "copy of w"
  exec.buffer @y at 128 bytes 64 live 0 to 1 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %w = exec.ref @copy + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  exec.matmul "bi,oi->bo"(%x, %w) outs(%y : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}
