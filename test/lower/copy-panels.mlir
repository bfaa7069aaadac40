// Matmuls of bf16 with many rows are marked, whichever operand gives them; others are not: those with few
// rows, of f32, of many matrices, and with panels that do not fit into scratch memory.  Never on a GPU.
// RUN: braid-opt %s --exec-copy-panels --split-input-file | FileCheck %s
// RUN: sed 's/^module {/module attributes {exec.target = #exec.target<"cuda">} {/' %s | braid-opt --exec-copy-panels --split-input-file | FileCheck %s --check-prefix=GPU
// GPU-NOT: exec.panels

// CHECK-LABEL: exec.program @many
// CHECK:       exec.matmul "mk,nk->mn"({{.*}}) {exec.panels}
// CHECK:       exec.matmul "nk,mk->mn"({{.*}}) {exec.panels}
// CHECK:       exec.matmul "km,kn->mn"({{.*}}) {exec.panels}
module {
exec.program @many arena 11534336 {
  exec.buffer @x at 0 bytes 1048576 live 0 to 2 category activations name "x" "input" role "x" : tensor<1024x512xbf16>
  exec.buffer @w at 1048576 bytes 524288 live 0 to 2 category activations name "w" "input" role "w" : tensor<512x512xbf16>
  exec.buffer @v at 1572864 bytes 65536 live 0 to 3 category activations name "v" "input" role "v" : tensor<1024x32xbf16>
  exec.buffer @y at 2097152 bytes 1048576 live 1 to 4 category activations name "y" "result" role "y" : tensor<1024x512xbf16>
  exec.buffer @z at 3145728 bytes 1048576 live 2 to 4 category activations name "z" "result" role "z" : tensor<1024x512xbf16>
  exec.buffer @g at 4194304 bytes 32768 live 3 to 4 category activations name "g" "result" role "g" : tensor<512x32xbf16>
  %x = exec.ref @x + 0 : !exec.ref<1024x512xbf16, [512, 1]>
  %w = exec.ref @w + 0 : !exec.ref<512x512xbf16, [512, 1]>
  %v = exec.ref @v + 0 : !exec.ref<1024x32xbf16, [32, 1]>
  %y = exec.ref @y + 0 : !exec.ref<1024x512xbf16, [512, 1]>
  %z = exec.ref @z + 0 : !exec.ref<1024x512xbf16, [512, 1]>
  %g = exec.ref @g + 0 : !exec.ref<512x32xbf16, [32, 1]>
  exec.matmul "mk,nk->mn"(%x, %w) outs(%y : !exec.ref<1024x512xbf16, [512, 1]>) : !exec.ref<1024x512xbf16, [512, 1]>, !exec.ref<512x512xbf16, [512, 1]>
  exec.matmul "nk,mk->mn"(%w, %x) outs(%z : !exec.ref<1024x512xbf16, [512, 1]>) : !exec.ref<512x512xbf16, [512, 1]>, !exec.ref<1024x512xbf16, [512, 1]>
  exec.matmul "km,kn->mn"(%y, %v) outs(%g : !exec.ref<512x32xbf16, [32, 1]>) : !exec.ref<1024x512xbf16, [512, 1]>, !exec.ref<1024x32xbf16, [32, 1]>
}
}

// -----

// CHECK-LABEL: exec.program @others
// CHECK-NOT:   exec.panels
module {
exec.program @others arena 134217728 {
  exec.buffer @few at 0 bytes 262144 live 0 to 1 category activations name "few" "input" role "few" : tensor<256x512xbf16>
  exec.buffer @w at 1048576 bytes 524288 live 0 to 1 category activations name "w" "input" role "w" : tensor<512x512xbf16>
  exec.buffer @y at 2097152 bytes 262144 live 1 to 5 category activations name "y" "result" role "y" : tensor<256x512xbf16>
  exec.buffer @f at 3145728 bytes 2097152 live 0 to 2 category activations name "f" "input" role "f" : tensor<1024x512xf32>
  exec.buffer @fy at 5242880 bytes 4194304 live 2 to 5 category activations name "fy" "result" role "fy" : tensor<1024x1024xf32>
  exec.buffer @b at 9437184 bytes 2097152 live 0 to 3 category activations name "b" "input" role "b" : tensor<2x1024x512xbf16>
  exec.buffer @by at 11534336 bytes 4194304 live 3 to 5 category activations name "by" "result" role "by" : tensor<2x1024x1024xbf16>
  exec.buffer @x at 15728640 bytes 2097152 live 0 to 4 category activations name "x" "input" role "x" : tensor<1024x1024xbf16>
  exec.buffer @wide at 17825792 bytes 16777216 live 0 to 4 category activations name "wide" "input" role "wide" : tensor<8192x1024xbf16>
  exec.buffer @z at 34603008 bytes 16777216 live 4 to 5 category activations name "z" "result" role "z" : tensor<1024x8192xbf16>
  %few = exec.ref @few + 0 : !exec.ref<256x512xbf16, [512, 1]>
  %w = exec.ref @w + 0 : !exec.ref<512x512xbf16, [512, 1]>
  %y = exec.ref @y + 0 : !exec.ref<256x512xbf16, [512, 1]>
  %f = exec.ref @f + 0 : !exec.ref<1024x512xf32, [512, 1]>
  %fy = exec.ref @fy + 0 : !exec.ref<1024x1024xf32, [1024, 1]>
  %b = exec.ref @b + 0 : !exec.ref<2x1024x512xbf16, [524288, 512, 1]>
  %by = exec.ref @by + 0 : !exec.ref<2x1024x1024xbf16, [1048576, 1024, 1]>
  %x = exec.ref @x + 0 : !exec.ref<1024x1024xbf16, [1024, 1]>
  %wide = exec.ref @wide + 0 : !exec.ref<8192x1024xbf16, [1024, 1]>
  %z = exec.ref @z + 0 : !exec.ref<1024x8192xbf16, [8192, 1]>
  exec.matmul "mk,nk->mn"(%few, %w) outs(%y : !exec.ref<256x512xbf16, [512, 1]>) : !exec.ref<256x512xbf16, [512, 1]>, !exec.ref<512x512xbf16, [512, 1]>
  exec.matmul "mk,nk->mn"(%f, %f) outs(%fy : !exec.ref<1024x1024xf32, [1024, 1]>) : !exec.ref<1024x512xf32, [512, 1]>, !exec.ref<1024x512xf32, [512, 1]>
  exec.matmul "bmk,bnk->bmn"(%b, %b) outs(%by : !exec.ref<2x1024x1024xbf16, [1048576, 1024, 1]>) : !exec.ref<2x1024x512xbf16, [524288, 512, 1]>, !exec.ref<2x1024x512xbf16, [524288, 512, 1]>
  exec.matmul "mk,nk->mn"(%x, %wide) outs(%z : !exec.ref<1024x8192xbf16, [8192, 1]>) : !exec.ref<1024x1024xbf16, [1024, 1]>, !exec.ref<8192x1024xbf16, [1024, 1]>
}
}
